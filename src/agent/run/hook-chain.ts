import { VenturiError, wrap } from "../../core/errors/errors.ts";
import type { Generation, GenerationRequest } from "../../core/model/provider.ts";
import type { Clock } from "../../core/ports/clock.ts";
import {
  type HookContext,
  type Hooks,
  hookName,
  type StandIn,
  type TextFilter,
  type ToolHookCall,
} from "../../core/ports/hooks.ts";
import type { Stalls } from "../../core/ports/stalls.ts";
import type { Question, Verdict } from "../../core/ports/tool.ts";
import type { EventBody } from "../../core/run/events.ts";
import type { RunRequest } from "../../core/run/run-request.ts";
import { HookCall, TooSlow } from "./hook-call.ts";
import { orAborted } from "./or-aborted.ts";
import { inScope, type PluginScope } from "./plugin-scope.ts";
import { FilterPair, NamedFilter } from "./text-filters.ts";
import type { Waits } from "./waits.ts";

/** The run that the hooks belong to. */
export interface HookOwner {
  readonly clock: Clock;
  readonly stalls?: Stalls | undefined;
  readonly tenant?: string | undefined;
  readonly waits?: Waits;
  fail(error: VenturiError): void;
  emit?(event: EventBody): void;
  ask?(question: Question, round: number): Promise<Verdict>;
}

type HookRun = Omit<HookContext, "decided" | "ask" | "stop">;

/** Calls the plugins' hooks in sequence, passing each one's result to the next. */
export class HookChain {
  readonly #hooks: readonly Hooks[];
  readonly #owner: HookOwner;
  readonly #clock: Clock;
  readonly #context: HookContext;
  #patience = 30_000;
  #stopped = false;
  #asking = 0;
  /** Whether any hook inspects calls when they are sealed. */
  readonly screensCalls: boolean;

  constructor(hooks: readonly Hooks[], owner: HookOwner, run: HookRun) {
    this.#hooks = hooks;
    this.#owner = owner;
    this.#clock = owner.clock;
    this.#context = this.#contextOf(run);
    this.screensCalls = hooks.some(({ sealed }) => sealed !== undefined);
  }

  #contextOf(run: HookRun, round?: number): HookContext {
    return {
      ...run,
      decided: (verdict) => void this.#owner.emit?.({ type: "guard.decided", ...inRound(round), ...verdict }),
      ask: (question) => this.#ask(question, round ?? 1),
      stop: (error) => this.#owner.fail(error),
    };
  }

  #inRound(round: number): HookContext & { round: number } {
    return { ...this.#contextOf(this.#context, round), round };
  }

  get empty(): boolean {
    return this.#hooks.length === 0;
  }

  beforeRun(request: RunRequest): Promise<RunRequest> {
    return this.#fold("hook.beforeRun", request, (hooks, value) => hooks.beforeRun?.(value, this.#context));
  }

  async afterRun(outcome: { finish?: string; error?: unknown; output: string }): Promise<void> {
    await this.#fold("hook.afterRun", outcome, (hooks, value) => hooks.afterRun?.(value, this.#context));
  }

  /** The run is stopping: hooks get at most this much more time, ms. */
  hurry(limit: number): void {
    this.#patience = limit;
    this.#stopped = true;
  }

  beforeGeneration(request: GenerationRequest, round: number): Promise<GenerationRequest> {
    const context = this.#inRound(round);
    return this.#fold("hook.beforeGeneration", request, (hooks, value) => hooks.beforeGeneration?.(value, context));
  }

  async afterGeneration(generation: Generation, round: number): Promise<void> {
    const context = this.#inRound(round);
    await this.#fold("hook.afterGeneration", generation, (hooks, value) => hooks.afterGeneration?.(value, context));
  }

  /** Passes the call through the hooks. Once one supplies a result itself, the others are skipped. */
  beforeTool(call: ToolHookCall, round: number): Promise<ToolHookCall & { readonly standIn?: StandIn }> {
    const context = this.#inRound(round);
    return this.#fold(
      "hook.beforeTool",
      call as ToolHookCall & { readonly standIn?: StandIn },
      async (hooks, value) => {
        if (value.standIn !== undefined) return undefined;
        const returned = await hooks.beforeTool?.(value, context);
        return typeof returned === "object" && "output" in returned ? { ...value, standIn: returned } : returned;
      },
    );
  }

  afterTool(call: ToolHookCall, result: { ok: boolean; output: string }, round: number) {
    const context = this.#inRound(round);
    return this.#fold("hook.afterTool", result, (hooks, value) => hooks.afterTool?.(call, value, context));
  }

  /** Chains the filters of all hooks; undefined when there is none. */
  filter(of: "output" | "reasoning" | "results", round: number): TextFilter | undefined {
    let chained: TextFilter | undefined;
    for (const hooks of this.#hooks) {
      if (hooks.filter === undefined) continue;
      const made = this.#now("hook.filter", hooks, () => hooks.filter?.(of, this.#inRound(round)));
      if (made === undefined) continue;
      const named = new NamedFilter(made, hookName("hook.filter", hooks));
      chained = chained === undefined ? named : new FilterPair(chained, named);
    }
    return chained;
  }

  /** Passes a sealed call through the hooks. */
  sealed(call: ToolHookCall, round: number): ToolHookCall {
    const context = this.#inRound(round);
    let value = call;
    for (const hooks of this.#hooks)
      value = this.#now("hook.sealed", hooks, () => hooks.sealed?.(value, context)) ?? value;
    return value;
  }

  /** Why approval is needed, if a hook says so. */
  approval(call: ToolHookCall, round: number): string | undefined {
    for (const hooks of this.#hooks) {
      if (hooks.approval === undefined) continue;
      const reason = this.#now("hook.approval", hooks, () => hooks.approval?.(call, this.#inRound(round)));
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  async #ask(question: Question, round: number): Promise<Verdict> {
    this.#asking += 1;
    try {
      return (await this.#owner.ask?.(question, round)) ?? { approved: false, reason: "nobody can be asked" };
    } finally {
      this.#asking -= 1;
    }
  }

  /** Calls a synchronous hook. */
  #now<T>(op: string, hooks: Hooks, call: () => T): T {
    const name = hookName(op, hooks);
    try {
      return this.#enter({ what: name, run: this.#context.run, fail: this.#owner.fail }, call) as T; // `#enter` returns what the call returns.
    } catch (thrown) {
      if (VenturiError.isInstance(thrown)) throw thrown;
      throw new VenturiError(op, "plugin_failed", `${name} threw`, { cause: thrown, details: { hook: name } });
    }
  }

  async #fold<T>(op: string, start: T, call: (hooks: Hooks, value: T) => unknown) {
    let value = start;
    for (const hooks of this.#hooks) {
      const name = hookName(op, hooks);
      const called = new HookCall(name, this.#context.run, this.#owner, this.#patience);
      try {
        // By the Hooks interface, a hook returns its own value type.
        value =
          ((await this.#inTime(
            called,
            this.#enter(called, () => call(hooks, value)),
          )) as T | undefined) ?? value;
      } catch (thrown) {
        // A VenturiError is a deliberate denial; anything else is a broken plugin.
        if (VenturiError.isInstance(thrown)) throw wrap(op, thrown);
        const details = { hook: name };
        if (thrown instanceof TooSlow)
          throw new VenturiError(op, "plugin_failed", `${name} took longer than ${this.#patience} ms`, { details });
        throw new VenturiError(op, "plugin_failed", `${name} threw`, { cause: thrown, details });
      } finally {
        called.end();
      }
    }
    return value;
  }

  #enter(scope: PluginScope, call: () => unknown): unknown {
    const { what, run } = scope;
    const { stalls, tenant } = this.#owner;
    const before = this.#clock.monotonic();
    const returned = inScope(scope, call);
    stalls?.blame({ what, run, tenant }, this.#clock.monotonic() - before);
    return returned;
  }

  /** A hanging hook may delay its run for a while, but never a cancel. */
  async #inTime(called: HookCall, returned: unknown): Promise<unknown> {
    if (typeof returned !== "object" || returned === null || !("then" in returned)) return returned;
    const inTime = Promise.race([returned, called.late(() => this.#asking > 0)]);
    return await (this.#stopped ? inTime : orAborted(inTime, this.#context.signal));
  }
}

const inRound = (round: number | undefined): { round?: number } => (round === undefined ? {} : { round });
