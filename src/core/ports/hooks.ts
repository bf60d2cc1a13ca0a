import type { VenturiError } from "../errors/errors.ts";
import type { Generation, GenerationRequest } from "../model/provider.ts";
import type { GuardVerdict } from "../run/guard-verdict.ts";
import type { RunRequest } from "../run/run-request.ts";
import type { Question, Verdict } from "./tool.ts";

export interface HookContext {
  readonly run: string;
  readonly agent: string;
  readonly session?: string;
  /** What the agent's `provide` made of the run's context, or that context as it is stored. */
  readonly context: unknown;
  readonly signal: AbortSignal;
  /** How many runs called each other on the way to this one. */
  readonly depth: number;
  /** Writes down what a guard decided, as an event of the run. */
  decided(verdict: GuardVerdict & { readonly call?: string; readonly round?: number }): void;
  /** Asks a person. One answered before a restart is not asked again: the `id` says whether it is the same question. */
  ask(question: Question): Promise<Verdict>;
  /** Ends the run with this error, whatever it is doing. */
  stop(error: VenturiError): void;
}

/** Changes a text while it is being written. How the text is cut into pieces should not matter. */
export interface TextFilter {
  /** Takes the next piece; returns what can be shown by now. */
  push(text: string): string;
  /** Something other than text follows: what was held back is decided now, unless a person has to. */
  flush(): string;
  /** Nothing follows. A promise is awaited before the generation, or the tool's output, counts as finished. */
  end(): string | Promise<string>;
}

export interface ToolHookCall {
  readonly call: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The output of a call, in place of the tool's. */
export interface StandIn {
  readonly output: unknown;
}

const names = new WeakMap<Hooks, string>();

/** Remembers whose hooks these are, for errors and for where a run's time went. */
export function nameHooks(hooks: Hooks, name: string): Hooks {
  names.set(hooks, name);
  return hooks;
}

/** `the hook beforeRun of the plugin audit`. */
export function hookName(op: string, hooks: Hooks): string {
  const owner = names.get(hooks);
  return `the hook ${op.replace("hook.", "")}${owner === undefined ? "" : ` of ${owner}`}`;
}

/**
 * Called in config order. A `before` hook may return a changed value, or throw a VenturiError to deny; an `after` hook may
 * return a changed result. Any other exception is `plugin_failed` for that run only.
 */
export interface Hooks {
  beforeRun?(request: RunRequest, context: HookContext): Promise<RunRequest | undefined> | RunRequest | undefined;
  afterRun?(outcome: { finish?: string; error?: unknown; output: string }, context: HookContext): Promise<void> | void;
  beforeGeneration?(
    request: GenerationRequest,
    context: HookContext & { round: number },
  ): Promise<GenerationRequest | undefined> | GenerationRequest | undefined;
  /**
   * A filter for a text that streams: what the model says or thinks in one generation, or what a tool tells while it runs. What it
   * leaves out is neither sent nor stored. A VenturiError thrown by it ends the run.
   */
  filter?(of: "output" | "reasoning" | "results", context: HookContext & { round: number }): TextFilter | undefined;
  /**
   * The call as it is shown, stored and made, once its arguments are complete; nothing of them is shown before. A VenturiError
   * rejects the call.
   */
  sealed?(call: ToolHookCall, context: HookContext & { round: number }): ToolHookCall | undefined;
  /** A reason to ask a person before the call is made. */
  approval?(call: ToolHookCall, context: HookContext & { round: number }): string | undefined;
  afterGeneration?(generation: Generation, context: HookContext & { round: number }): Promise<void> | void;
  /** `{ output }` stands in for the tool, which is then not called. */
  beforeTool?(
    call: ToolHookCall,
    context: HookContext & { round: number },
  ): Promise<ToolHookCall | StandIn | undefined> | ToolHookCall | StandIn | undefined;
  afterTool?(
    call: ToolHookCall,
    result: { ok: boolean; output: string },
    context: HookContext & { round: number },
  ): Promise<{ ok: boolean; output: string } | undefined> | { ok: boolean; output: string } | undefined;
}
