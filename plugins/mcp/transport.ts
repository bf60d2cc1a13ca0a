import { resolve } from "node:path";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { McpOptions } from "./index.ts";

/** A fresh transport to the server. The libraries are loaded when the first one is needed. */
export async function openTransport(options: McpOptions, folder: string): Promise<Transport> {
  if (options.url !== undefined) {
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const requestInit = { headers: options.headers, redirect: "error" as const }; // headers may hold credentials
    return new StreamableHTTPClientTransport(new URL(options.url), { requestInit }) as Transport; // its sessionId is optional in another way
  }
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  return new StdioClientTransport({
    command: options.command ?? "",
    args: options.args,
    // The library adds PATH, HOME and the like, and nothing else of this process's environment.
    env: { ...passed(options), ...options.env },
    cwd: options.cwd === undefined ? folder : resolve(folder, options.cwd),
    stderr: "ignore",
  });
}

/** What the config handed to the server; none of it comes back in a result. */
export const secretsOf = (options: McpOptions): Record<string, string> => ({
  ...passed(options),
  ...options.env,
  ...options.headers,
  ...bearer(options.headers),
});

/** `Bearer abc` is a secret, and so is `abc` alone. */
const bearer = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [`${name} `, value.replace(/^\w+\s+/, "")]));

function passed(options: McpOptions): Record<string, string> {
  const values: Record<string, string> = {};
  for (const name of options.passEnv) {
    const value = process.env[name];
    if (value !== undefined) values[name] = value;
  }
  return values;
}
