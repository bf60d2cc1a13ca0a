import type { Tool as RemoteTool } from "@modelcontextprotocol/client";
import { redactor } from "venturi/internal";
import { definePlugin, type PluginContext, type Tool, type ToolSource } from "venturi/plugin";
import { Connection } from "./connection.ts";
import { clientCredentials } from "./oauth/client-credentials.ts";
import { UserAccess } from "./oauth/user-access.ts";
import { McpOptions } from "./options.ts";
import { Vetted } from "./pin.ts";
import { type Access, toTools } from "./tools.ts";
import { secretsOf } from "./transport.ts";

export default definePlugin({
  name: "mcp",
  kind: "tool",
  description: "The tools of a Model Context Protocol server, over stdio or streamable HTTP",
  options: McpOptions,
  async create(options, context): Promise<ToolSource & { close(): Promise<void> }> {
    const redact = redactor(secretsOf(options));
    const server = await serverOf(options, context, redact);
    let tools: readonly Tool[] = server.instead?.() ?? [];
    const listeners: (() => void)[] = [];
    const vetted = new Vetted(options.pin, context);
    const prefix = options.prefix ?? `${context.name}_`;
    server.onTools = (remote) => {
      const { tools: wanted } = options;
      const offered = wanted === undefined ? remote : remote.filter(({ name }) => wanted.includes(name));
      const offer = { options, prefix, vetted, access: server, server: context.name, redact };
      tools = toTools(vetted.admit(offered), offer);
      for (const listener of listeners) listener();
    };
    await server.start();
    return {
      list: () => tools,
      onChange: (callback) => void listeners.push(callback),
      close: () => server.close(),
    };
  },
});

interface Server extends Access {
  onTools: (tools: readonly RemoteTool[]) => void;
  /** What is offered while the server's tools are not known. */
  instead?(): readonly Tool[];
  start(): Promise<void>;
  close(): Promise<void>;
}

/** One connection for all, or one for each user who has signed in. */
async function serverOf(
  options: McpOptions,
  context: PluginContext,
  redact: (text: string) => string,
): Promise<Server> {
  if (options.auth?.grant === "code") return new UserAccess(options, context);
  return new Connection(options, context, { redact, credentials: await clientCredentials(options) });
}
