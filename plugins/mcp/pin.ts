import { createHash } from "node:crypto";
import type { Tool as RemoteTool } from "@modelcontextprotocol/client";
import { type PluginContext, VenturiError } from "venturi/plugin";

/** Hash of everything a model or the runtime learns about these tools, independent of their order. */
export function pinOf(tools: readonly RemoteTool[]): string {
  const definitions = tools.map(definitionOf).sort();
  return `sha256:${createHash("sha256").update(JSON.stringify(definitions)).digest("hex")}`;
}

function definitionOf({ name, title, description, inputSchema, annotations, execution }: RemoteTool): string {
  return JSON.stringify(sorted({ name, title, description, inputSchema, annotations, execution }));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sorted(inner)]));
}

/**
 * The vetted definition of a server's tools: the pinned list, or without a pin the first one received. A server may behave
 * differently once it is trusted.
 */
export class Vetted {
  readonly #pin: string | undefined;
  readonly #context: PluginContext;
  readonly #first = new Map<string, string>();
  readonly #reported = new Set<string>();
  #known: readonly RemoteTool[] | undefined;

  constructor(pin: string | undefined, context: PluginContext) {
    this.#pin = pin;
    this.#context = context;
  }

  /** The tools to offer. With a pin, only the pinned ones: a different list is refused at startup and ignored later. */
  admit(tools: readonly RemoteTool[]): readonly RemoteTool[] {
    const server = this.#context.name;
    const pin = pinOf(tools);
    if (this.#pin === undefined || this.#pin === pin) {
      if (this.#known === undefined)
        this.#context.log.info("the MCP server's tools", { server, count: tools.length, pin });
      this.#known = tools;
      return tools;
    }
    const message = `the tools of the MCP server "${server}" are not the pinned ones; look at them, then set pin: "${pin}"`;
    if (this.#known === undefined) throw new VenturiError("tool.create", "config_invalid", message);
    this.#context.log.error(message, { server, pin });
    return this.#known;
  }

  /** Whether the tool differs from the one first seen under its name: calling it then requires approval. */
  isChanged(tool: RemoteTool): boolean {
    const definition = definitionOf(tool);
    const first = this.#first.get(tool.name);
    if (first === undefined) this.#first.set(tool.name, definition);
    if (first === undefined || first === definition) return false;
    if (!this.#reported.has(definition)) {
      this.#reported.add(definition);
      this.#context.log.warn("an MCP server changed what it says of a tool; its calls now need a person's approval", {
        server: this.#context.name,
        tool: tool.name,
      });
    }
    return true;
  }
}
