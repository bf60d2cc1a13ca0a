import type { Tool as RemoteTool } from "@modelcontextprotocol/client";
import { didYouMean, redactor } from "venturi/internal";
import { definePlugin, Journal, type PluginContext, type Tool, type ToolSource, VenturiError } from "venturi/plugin";
import { Connection } from "./connection.ts";
import { type ContextOffer, contextTools } from "./context-tools.ts";
import { clientCredentials } from "./oauth/client-credentials.ts";
import { UserAccess } from "./oauth/user-access.ts";
import { McpOptions } from "./options.ts";
import { Vetted } from "./pin.ts";
import { type Access, explained, toTools } from "./tools.ts";
import { secretsOf } from "./transport.ts";

export default definePlugin({
  name: "mcp",
  kind: "tool",
  description: "The tools of a Model Context Protocol server, over stdio or streamable HTTP",
  options: McpOptions,
  check: ({ sampling }, { agents }) =>
    sampling === undefined || agents.includes(sampling.agent)
      ? []
      : [
          {
            path: ["sampling", "agent"],
            message: `"${sampling.agent}" is not among the agents${didYouMean(sampling.agent, agents)}`,
          },
        ],
  async create(options, context): Promise<ToolSource & { close(): Promise<void> }> {
    const redact = redactor(secretsOf(options));
    const server = await serverOf(options, context, redact);
    let tools: readonly Tool[] = server.instead?.() ?? [];
    const listeners: (() => void)[] = [];
    const vetted = new Vetted(options.pin, context);
    const values = options.tasks ? () => context.resolve(Journal).keyValues : undefined;
    const prefix = options.prefix ?? `${context.name}_`;
    server.onTools = (remote) => {
      const { tools: wanted } = options;
      const offered = wanted === undefined ? remote : remote.filter(({ name }) => wanted.includes(name));
      const offer = {
        options,
        prefix,
        vetted,
        access: server,
        server: context.name,
        runs: context.runs,
        values,
        redact,
      };
      const own = toTools(vetted.admit(offered), offer, (tool, name) =>
        context.log.warn("a tool of an MCP server is left out: another one has its name", {
          server: context.name,
          tool,
          name,
        }),
      );
      const use: ContextOffer["use"] = (call, work) => explained(offer, call, work);
      const more = contextTools({ options, prefix, use, redact });
      tools = [...own, ...more.filter(({ name }) => !own.some((each) => each.name === name))];
      for (const listener of listeners) listener();
    };
    if (options.tasks && context.resolve(Journal).keyValues === undefined) {
      throw new VenturiError("tool.create", "config_invalid", "tasks: this journal has no place to note them");
    }
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
