import { resolve } from "node:path";
import type { Transport } from "@modelcontextprotocol/client";
import { Egress, egressFetch, namesPrivate } from "venturi/plugin";
import type { McpOptions } from "./options.ts";

/** A new transport to the server. The libraries are loaded on first use. */
export async function openTransport(options: McpOptions, folder: string): Promise<Transport> {
  if (options.url !== undefined) {
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    const url = new URL(options.url);
    const { fetch, close } = egressFetch(egressOf(options, url));
    const requestInit = { headers: options.headers, redirect: "error" as const }; // headers may hold credentials
    const transport = new StreamableHTTPClientTransport(url, { requestInit, fetch }) as Transport; // its sessionId is optional in another way
    const closeTransport = transport.close.bind(transport);
    transport.close = async () => {
      await closeTransport();
      await close();
    };
    return transport;
  }
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  // The library probes its own class on a second process. It takes a subclass as it is, and probes on the one process.
  class SingleProcess extends StdioClientTransport {}
  return new SingleProcess({
    command: options.command ?? "",
    args: options.args,
    // The library adds PATH, HOME and the like, and nothing else from this process's environment.
    env: { ...passed(options), ...options.env },
    cwd: options.cwd === undefined ? folder : resolve(folder, options.cwd),
    stderr: "ignore",
  });
}

/** The server's host unless the config has a list; a private address only where the config names one. */
const egressOf = (options: McpOptions, url: URL): Egress =>
  new Egress({
    hosts: options.hosts ?? [url.host],
    allowPrivate: [...namesPrivate(url), ...options.allowPrivate],
    nameServers: options.nameServers,
  });

/** Values the config passes to the server; redacted from results. */
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
