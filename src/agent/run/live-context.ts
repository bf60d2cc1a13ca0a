import { VenturiError, wrap } from "../../core/errors/errors.ts";
import { emptyMap, withEntry } from "../../core/values/no-entries.ts";
import { parse } from "../schema/standard.ts";
import type { AgentDefinition } from "./definition.ts";

export const op = "agent.context";

export interface ContextRun {
  readonly run: string;
  readonly agent: string;
  readonly signal: AbortSignal;
}

/** The live context of one attempt at a run, per agent: a handover needs the next agent's too. */
export class LiveContext {
  readonly #stored: unknown;
  readonly #about: Omit<ContextRun, "agent">;
  #made = emptyMap<string, unknown>();

  constructor(stored: unknown, about: Omit<ContextRun, "agent">) {
    this.#stored = stored;
    this.#about = about;
  }

  /** What the agent's tools and hooks receive. Rejects with `conflict` when the stored context does not fit this agent. */
  async of(agent: AgentDefinition): Promise<unknown> {
    const { context, name } = agent;
    if (context === undefined) return this.#stored;
    if (this.#made.has(name)) return this.#made.get(name);
    const stored = storedFor(agent, this.#stored);
    if (stored instanceof VenturiError) throw stored;
    try {
      const made =
        context.provide === undefined ? stored : await context.provide(stored, { ...this.#about, agent: name });
      this.#made = withEntry(this.#made, name, made);
      return made;
    } catch (thrown) {
      throw wrap(op, thrown, "plugin_failed");
    }
  }

  /** Disposes in reverse order. Failures are returned, not thrown, since the run has already ended. */
  async dispose(): Promise<unknown[]> {
    const failures: unknown[] = [];
    for (const made of [...this.#made.values()].reverse()) {
      if (typeof made !== "object" || made === null) continue;
      const { [Symbol.asyncDispose]: later, [Symbol.dispose]: now } = made as Partial<AsyncDisposable & Disposable>;
      try {
        await (later ?? now)?.call(made);
      } catch (thrown) {
        failures.push(thrown);
      }
    }
    this.#made = emptyMap();
    return failures;
  }
}

/** Validates the stored context with the agent's schema; throws when it does not fit. */
function storedFor({ name, context, revision }: AgentDefinition, stored: unknown): unknown {
  if (context === undefined) return stored;
  const parsed = parse(context.schema, stored, "context");
  if (parsed.ok) return parsed.value;
  const message = `${name}@${revision} does not take the context this run was started with (${parsed.problems.join("; ")}). Deploy code that takes both, or cancel the run`;
  return new VenturiError(op, "conflict", message);
}

/** Checks the context of a run before it is started. */
export function checkContext({ name, context }: AgentDefinition, given: unknown): void {
  if (context === undefined) {
    if (given === undefined) return;
    throw new VenturiError(op, "invalid_input", `${name} takes no context`);
  }
  const parsed = parse(context.schema, given, "context");
  if (parsed.ok) return;
  throw new VenturiError(op, "invalid_input", `the context does not fit ${name}: ${parsed.problems.join("; ")}`);
}
