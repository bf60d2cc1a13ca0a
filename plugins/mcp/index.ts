import { Duration, definePlugin, redactor, type Tool, type ToolSource, toolOptions } from "venturi/plugin";
import { z } from "zod";
import { Connection } from "./connection.ts";
import { toTools } from "./tools.ts";
import { secretsOf } from "./transport.ts";

export const McpOptions = z
  .strictObject({
    ...toolOptions,
    command: z.string().optional().describe("program of a stdio server"),
    args: z.array(z.string()).default([]),
    env: z.record(z.string(), z.string()).default({}).describe("variables the server gets"),
    passEnv: z.array(z.string()).default([]).describe("variables of the service that the server gets too"),
    cwd: z.string().optional().describe("folder the server runs in; relative to the config's folder"),
    url: z.url().optional().describe("address of a streamable HTTP server"),
    headers: z.record(z.string(), z.string()).default({}),
    tools: z.array(z.string()).optional().describe("the server's tools to offer; all of them when absent"),
    effects: z
      .record(z.string(), z.enum(["pure", "idempotent", "effectful"]))
      .default({})
      .describe("effect by tool, where the server's own hints are not to be believed"),
    connectTimeout: Duration.default(15_000),
    backoff: z.strictObject({ first: Duration.default(500), most: Duration.default(30_000) }).prefault({}),
    optional: z.boolean().default(false).describe("start without the server and go on trying"),
  })
  .refine((options) => (options.command === undefined) !== (options.url === undefined), {
    error: "give either command (a stdio server) or url (a streamable HTTP server)",
  });
export type McpOptions = z.output<typeof McpOptions>;

export default definePlugin({
  name: "mcp",
  kind: "tool",
  description: "The tools of a Model Context Protocol server, over stdio or streamable HTTP",
  options: McpOptions,
  async create(options, context): Promise<ToolSource & { close(): Promise<void> }> {
    const redact = redactor(secretsOf(options));
    const connection = new Connection(options, context, redact);
    let tools: readonly Tool[] = [];
    const listeners: (() => void)[] = [];
    connection.onTools = (remote) => {
      tools = toTools(remote, { options, prefix: context.name, connection, redact });
      for (const listener of listeners) listener();
    };
    await connection.start();
    return {
      list: () => tools,
      onChange: (callback) => void listeners.push(callback),
      close: () => connection.close(),
    };
  },
});
