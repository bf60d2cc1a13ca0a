import type { Client, Tool as RemoteTool } from "@modelcontextprotocol/client";
import type { PluginContext, Tool, ToolContext } from "venturi/plugin";
import { serverAttributes } from "../connection.ts";
import { Negotiation } from "../negotiation.ts";
import type { McpOptions } from "../options.ts";
import { Users } from "./users.ts";

/** A server used on behalf of users. Its tools are unknown until somebody has signed in; until then there is one tool, for signing in. */
export class UserAccess {
  onTools: (tools: readonly RemoteTool[]) => void = () => {};
  readonly #options: McpOptions;
  readonly #context: PluginContext;
  readonly #users: Users;
  #isListed = false;

  constructor(options: McpOptions, context: PluginContext) {
    this.#options = options;
    this.#context = context;
    this.#users = new Users(options, context, new Negotiation(options, context.folder, () => {}));
  }

  async start(): Promise<void> {}

  get spanAttributes(): Readonly<Record<string, string | number>> {
    return { "mcp.method.name": "tools/call", ...serverAttributes(this.#options.url) };
  }

  async use<T>(context: ToolContext, work: (client: Client) => Promise<T>): Promise<T> {
    return await this.#users.use(context, async (client) => {
      await this.#list(client);
      return await work(client);
    });
  }

  instead(): readonly Tool[] {
    const { name } = this.#context;
    const sign: Tool = {
      name: `${this.#options.prefix ?? `${name}_`}connect`.slice(0, 64),
      description: `Signs the user in to "${name}". Its tools can be called afterwards.`,
      parameters: { type: "object", properties: {}, additionalProperties: false },
      effect: "idempotent",
      resumable: true,
      call: (_, context) =>
        this.use(context, async (client) => {
          const { tools } = await client.listTools();
          return `Signed in. The tools are: ${tools.map((tool) => tool.name).join(", ")}`;
        }),
    };
    return [sign];
  }

  async close(): Promise<void> {
    await this.#users.close();
  }

  async #list(client: Client): Promise<void> {
    if (this.#isListed) return;
    const { tools } = await client.listTools(undefined, {
      timeout: this.#options.connectTimeout,
      cacheMode: "refresh",
    });
    this.#isListed = true;
    this.onTools(tools);
  }
}
