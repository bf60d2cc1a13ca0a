import { createInterface } from "node:readline";
import type { Command } from "commander";
import { MountedService } from "../host/mount.ts";
import { openHost } from "../host/open.ts";
import { example, globalsOrBox } from "./globals.ts";
import { StdioBridge } from "./mcp-bridge.ts";
import { quietly } from "./quiet.ts";
import { showData } from "./screen.ts";

interface Options {
  readonly url?: string;
}

/** `venturi mcp`: offers the agents as tools to a program that starts this one, over stdin and stdout. */
export function configure(command: Command): void {
  command
    .option(
      "--url <url>",
      "use the agents of a running service, such as http://127.0.0.1:7070/mcp; the key is read from VENTURI_KEY",
    )
    .addHelpText("after", example("venturi mcp", "VENTURI_KEY=… venturi mcp --url https://agents.example.com/mcp"))
    .action(async ({ url }: Options) => {
      if (url !== undefined) return await serve(remote(url), url);
      const { config, set } = globalsOrBox(command);
      const host = await openHost({ configFile: config, set: [...quietly(set), "channels.mcp.prefix=/mcp"] });
      // Whoever starts this program is its user, as for every other command.
      const mounted = new MountedService(host, () => ({ id: "local", tenant: "default" }));
      try {
        await serve((request) => mounted.fetch(request, ""), "http://127.0.0.1/mcp");
      } finally {
        await mounted.close();
        await host.close();
      }
    });
}

type Send = (request: Request) => Promise<Response>;

function remote(url: string): Send {
  const key = process.env.VENTURI_KEY;
  return (request) => {
    const headers = new Headers(request.headers);
    if (key !== undefined) headers.set("authorization", `Bearer ${key}`);
    return fetch(url, {
      method: "POST",
      headers,
      body: request.body,
      duplex: "half",
      signal: request.signal,
    } as RequestInit);
  };
}

async function serve(send: Send, url: string): Promise<void> {
  const bridge = new StdioBridge(send, { url, write: (line) => showData(process.stdout, `${line}\n`) });
  for await (const line of createInterface({ input: process.stdin })) bridge.take(line);
  await bridge.end(5_000);
}
