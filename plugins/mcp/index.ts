import { definePlugin, redactor, type Tool, type ToolSource } from "venturi/plugin";
import { Connection } from "./connection.ts";
import { McpOptions } from "./options.ts";
import { Vetted } from "./pin.ts";
import { toTools } from "./tools.ts";
import { secretsOf } from "./transport.ts";

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
    const vetted = new Vetted(options.pin, context);
    const prefix = options.prefix ?? `${context.name}_`;
    connection.onTools = (remote) => {
      const { tools: wanted } = options;
      const offered = wanted === undefined ? remote : remote.filter(({ name }) => wanted.includes(name));
      tools = toTools(vetted.admit(offered), { options, prefix, vetted, connection, redact });
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
