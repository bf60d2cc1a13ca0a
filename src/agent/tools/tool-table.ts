import { messageOf, VenturiError } from "../../core/errors/errors.ts";
import type { ToolSpec } from "../../core/model/provider.ts";
import type { Tool } from "../../core/ports/tool.ts";
import { keepOne } from "../../core/values/keep-one.ts";
import { isSchema } from "../../core/values/schema.ts";
import { readSchema } from "../schema/json-schema.ts";
import { jsonSchemaOf, parse } from "../schema/standard.ts";

export type Checked =
  | { readonly ok: true; readonly input: Record<string, unknown> }
  | { readonly ok: false; readonly error: VenturiError };

/** Placeholder name for a call whose name never arrived: it is rejected like an unknown tool and reported to the model. */
export const nameless = "unnamed";

/** The tools a generation may call: looked up by name, with arguments validated against their schemas. */
export class ToolTable {
  readonly specs: readonly ToolSpec[];
  readonly #tools = new Map<string, Tool>();
  readonly #client = new Map<string, ToolSpec>();
  /** Tools by vendor alias; undefined when several claim it. */
  readonly #aliases = new Map<string, Tool | undefined>();

  readonly #unknownToClient: boolean;

  /** `clientTools`: absent when the caller cannot execute calls. */
  constructor(tools: readonly Tool[], clientTools?: readonly ToolSpec[]) {
    this.#unknownToClient = clientTools !== undefined && (clientTools.length > 0 || tools.length === 0);
    for (const tool of tools) this.#tools.set(tool.name, tool);
    for (const spec of clientTools ?? []) {
      this.#client.set(spec.name, spec);
      this.#tools.delete(spec.name);
    }
    for (const tool of this.#tools.values()) {
      for (const alias of tool.aliases ?? []) this.#aliases.set(alias, this.#aliases.has(alias) ? undefined : tool);
    }
    this.specs = [...[...this.#tools.values()].map(specOf), ...(clientTools ?? [])];
    keepOne(this);
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  /** Resolves a vendor alias to the tool's own name. */
  nameOf(called: string): string {
    if (this.#tools.has(called) || this.#client.has(called)) return called;
    return this.#aliases.get(called)?.name ?? called;
  }

  /**
   * Whether the client executes the call. Includes unknown tools when the client brought tools, or when the agent has none: the client then
   * gets what the model said, as from the vendor.
   */
  isClient(name: string): boolean {
    if (this.#client.has(name)) return true;
    return this.#unknownToClient && name !== nameless && !this.#tools.has(this.nameOf(name));
  }

  /** The validated input for the tool. Never repaired, never guessed. */
  check(name: string, input: Record<string, unknown>): Checked {
    if (this.isClient(name)) return { ok: true, input };
    const tool = this.#tools.get(name);
    if (tool === undefined) {
      const known = [...this.#tools.keys(), ...this.#client.keys()].join(", ");
      const message = `there is no tool "${name}"; the tools are: ${known || "none"}`;
      return { ok: false, error: new VenturiError("tool.check", "tool_not_found", message) };
    }
    try {
      return checkInput(tool, tool.adapt?.(input) ?? input);
    } catch (thrown) {
      const error = new VenturiError("tool.check", "plugin_failed", messageOf(thrown), { cause: thrown });
      return { ok: false, error };
    }
  }
}

const specs = new WeakMap<Tool, ToolSpec>();

export function specOf(tool: Tool): ToolSpec {
  let spec = specs.get(tool);
  if (spec === undefined) {
    const { name, description, aliases } = tool;
    const parameters = isSchema(tool.parameters) ? jsonSchemaOf(tool.parameters) : tool.parameters;
    spec = { name, description, parameters, ...(aliases === undefined ? {} : { aliases }) };
    specs.set(tool, spec);
  }
  return spec;
}

function checkInput(tool: Tool, input: Record<string, unknown>): Checked {
  if (isSchema(tool.parameters)) {
    const parsed = parse(tool.parameters, input, "arguments");
    if (parsed.ok) return { ok: true, input: parsed.value as Record<string, unknown> }; // The schema's output is what the tool's `call` takes.
    return misfit(tool, parsed.problems);
  }
  const problems = readSchema(tool.parameters).problems(input);
  if (problems.length === 0) return { ok: true, input };
  return misfit(
    tool,
    problems.map(({ path, message }) => `${path || "arguments"} ${message}`),
  );
}

function misfit(tool: Tool, problems: readonly string[]): Checked {
  const message = `the arguments of ${tool.name} do not fit: ${problems.slice(0, 5).join("; ")}`;
  return { ok: false, error: new VenturiError("tool.check", "tool_invalid_arguments", message) };
}
