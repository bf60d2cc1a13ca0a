import type { MaybeChanged, HookContext as UntypedContext, Hooks as UntypedHooks } from "../core/ports/hooks.ts";

/** Arguments by tool name, as models write them; "*" for tools known only by name. */
// biome-ignore lint/suspicious/noExplicitAny: a constraint that every map of arguments satisfies
export type Calls = Readonly<Record<string, any>>;

export type NameOf<K> = K extends "*" ? string : K;

/** A call of one of the tools; the name narrows the arguments. */
export type CallOf<T extends Calls> = {
  [K in keyof T]: { readonly call: string; readonly name: NameOf<K>; readonly arguments: T[K] };
}[keyof T];

export interface HookContext<Context = unknown> extends Omit<UntypedContext, "context"> {
  readonly context: Context;
  /** Set for generation and tool hooks. */
  readonly round: number;
}

/** Called in order; each gets the previous one's result. A VenturiError denies; any other exception ends the run with `plugin_failed`. */
// biome-ignore lint/suspicious/noExplicitAny: hooks for any agent
export interface Hooks<T extends Calls = any, Context = unknown>
  extends Pick<UntypedHooks, "beforeGeneration" | "afterGeneration" | "filter" | "sealed" | "approval"> {
  beforeRun?(
    request: Parameters<NonNullable<UntypedHooks["beforeRun"]>>[0],
    about: Omit<HookContext<Context>, "round">,
  ): ReturnType<NonNullable<UntypedHooks["beforeRun"]>>;
  /** `{ output }` replaces the tool's result. */
  beforeTool?(call: CallOf<T>, about: HookContext<Context>): MaybeChanged<CallOf<T> | { readonly output: unknown }>;
  afterTool?(
    call: CallOf<T>,
    result: { readonly ok: boolean; readonly output: string },
    about: HookContext<Context>,
  ): MaybeChanged<{ ok: boolean; output: string }>;
  afterRun?(
    outcome: { readonly finish?: string; readonly error?: unknown; readonly output: string },
    about: Omit<HookContext<Context>, "round">,
  ): Promise<void> | void;
}
