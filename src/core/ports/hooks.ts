import type { VenturiError } from "../errors/errors.ts";
import type { Generation, GenerationRequest } from "../model/provider.ts";
import type { GuardVerdict } from "../run/guard-verdict.ts";
import type { RunRequest } from "../run/run-request.ts";
import type { Question, Verdict } from "./tool.ts";

export interface HookContext {
  readonly run: string;
  readonly agent: string;
  readonly session?: string;
  /** The result of the agent's `provide`, or the stored context if it has none. */
  readonly context: unknown;
  readonly signal: AbortSignal;
  /** How many calling runs are above this one. */
  readonly depth: number;
  /** Records a guard's decision as an event of the run. */
  decided(verdict: GuardVerdict & { readonly call?: string; readonly round?: number }): void;
  /** Asks a person. A question already answered before a restart is recognised by its `id` and not asked again. */
  ask(question: Question): Promise<Verdict>;
  /** Ends the run with this error, whatever it is doing. */
  stop(error: VenturiError): void;
}

/** Changes a text while it streams. The result should not depend on how the text is split. */
export interface TextFilter {
  /** Takes the next piece; returns what can already be shown. */
  push(text: string): string;
  /** Something other than text follows: returns what was held back, unless a person has to decide about it. */
  flush(): string;
  /** The text is complete. A promise is awaited before the generation, or the tool's output, counts as finished. */
  end(): string | Promise<string>;
}

export interface ToolHookCall {
  readonly call: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Output of a call that replaces the tool's. */
export interface StandIn {
  readonly output: unknown;
}

const names = new WeakMap<Hooks, string>();

/** Names the hooks' plugin, for errors and for time accounting. */
export function nameHooks(hooks: Hooks, name: string): Hooks {
  names.set(hooks, name);
  return hooks;
}

/** `the hook beforeRun of the plugin audit`. */
export function hookName(op: string, hooks: Hooks): string {
  const owner = names.get(hooks);
  return `the hook ${op.replace("hook.", "")}${owner === undefined ? "" : ` of ${owner}`}`;
}

/** Nothing leaves the value as it is. `void`, since a function without a return has that type in TypeScript 5. */
// biome-ignore lint/suspicious/noConfusingVoidType: what a function without a return promises
export type MaybeChanged<T> = T | undefined | void | Promise<T | undefined | void>;

/**
 * Called in config order. A `before` hook may return a changed value, or throw a VenturiError to deny; an `after` hook may
 * return a changed result. Any other exception is `plugin_failed` for that run only.
 */
export interface Hooks {
  beforeRun?(request: RunRequest, context: HookContext): MaybeChanged<RunRequest>;
  afterRun?(outcome: { finish?: string; error?: unknown; output: string }, context: HookContext): Promise<void> | void;
  beforeGeneration?(
    request: GenerationRequest,
    context: HookContext & { round: number },
  ): MaybeChanged<GenerationRequest>;
  /**
   * Creates a filter for a streaming text: the model's answer or reasoning in one generation, or a tool's progress. What it removes is
   * neither sent nor stored. A VenturiError it throws ends the run.
   */
  filter?(of: "output" | "reasoning" | "results", context: HookContext & { round: number }): TextFilter | undefined;
  /**
   * Returns the call as it is shown, stored and executed, once its arguments are complete; nothing is shown before. A VenturiError rejects
   * the call.
   */
  sealed?(call: ToolHookCall, context: HookContext & { round: number }): ToolHookCall | undefined;
  /** Returns a reason if a person has to approve the call. */
  approval?(call: ToolHookCall, context: HookContext & { round: number }): string | undefined;
  afterGeneration?(generation: Generation, context: HookContext & { round: number }): Promise<void> | void;
  /** `{ output }` replaces the tool's result; the tool is not called. */
  beforeTool?(call: ToolHookCall, context: HookContext & { round: number }): MaybeChanged<ToolHookCall | StandIn>;
  afterTool?(
    call: ToolHookCall,
    result: { ok: boolean; output: string },
    context: HookContext & { round: number },
  ): MaybeChanged<{ ok: boolean; output: string }>;
}
