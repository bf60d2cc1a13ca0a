import type { Generation, GenerationRequest } from "../model/provider.ts";
import type { RunRequest } from "../run/run-request.ts";

export interface HookContext {
  readonly run: string;
  readonly agent: string;
  readonly session?: string;
  /** What the agent's `provide` made of the run's context, or that context as it is stored. */
  readonly context: unknown;
  readonly signal: AbortSignal;
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
