import { VenturiError, wrap } from "../../core/errors/errors.ts";
import type { Question, Tool, Verdict } from "../../core/ports/tool.ts";
import { keepOne } from "../../core/values/keep-one.ts";
import type { Gate } from "../run/call-watch.ts";
import type { RunContext } from "../run/run-context.ts";
import type { CallSink } from "../state/call-sink.ts";
import type { CallState } from "../state/round-state.ts";
import { shownFirst } from "./approval-show.ts";
import type { Approvals } from "./approvals.ts";
import { idempotencyKeyOf } from "./call-context.ts";
import { CallEntry } from "./call-entry.ts";
import { CallRules } from "./call-rules.ts";
import { execute } from "./execute.ts";
import type { Outcome } from "./outcome.ts";
import type { Repetition } from "./repetition.ts";
import { keepContent, refused, type ToolTime, writeToolFinished } from "./tool-finished.ts";
import type { ToolTable } from "./tool-table.ts";

export interface DispatchDeps {
  readonly run: RunContext;
  readonly round: number;
  readonly tools: ToolTable;
  readonly approvals: Approvals;
  readonly repetition: Repetition;
  /** Whether calls may be executed at all; the last generation under a round limit only reports them. */
  readonly executes: boolean;
  /** Called after the generation whenever the run starts or stops waiting for approvals alone. */
  readonly onlyAsking: (only: boolean) => void;
}

/**
 * Runs the tool calls of one generation. `pure` and `idempotent` tools may start once their call is sealed, while the model still streams;
 * others wait for `generationSucceeded`. Calls start in call order as far as concurrency, exclusive tools and
 * approvals allow; the run state orders the results.
 */
export class Dispatcher implements CallSink {
  readonly #deps: DispatchDeps;
  readonly #rules: CallRules;
  readonly #entries: CallEntry[] = [];
  #generationDone = false;
  #generationEnd: number | undefined;
  #failure: VenturiError | undefined;
  #waiting: (() => void)[] = [];

  constructor(deps: DispatchDeps) {
    this.#deps = deps;
    this.#rules = new CallRules(deps);
    keepOne(this);
  }

  sealed(call: CallState): void {
    const { tools, run, executes } = this.#deps;
    if (tools.isClient(call.name) || !executes) {
      run.deps.watch?.gated(call, executes ? "the client" : "maxToolRounds");
      return;
    }
    const tool = tools.get(call.name) ?? goneTool(call.name);
    if (this.#entries.length >= run.agent.limits.maxCallsPerRound) {
      const limit = run.agent.limits.maxCallsPerRound;
      this.#finish(call, refused("budget_exceeded", `at most ${limit} tool calls are run in one round`), {
        ms: 0,
        savedMs: undefined,
      });
      return;
    }
    this.#entries.push(new CallEntry(call, tool));
    this.#pump();
  }

  generationSucceeded(): void {
    this.#generationDone = true;
    this.#generationEnd = this.#deps.run.deps.clock.monotonic();
    this.#pump();
  }

  /** Cancels running calls, prevents others from starting, and waits until all have settled. */
  async cancel(reason: VenturiError): Promise<void> {
    this.#failure ??= reason;
    for (const entry of this.#entries) entry.cancel(reason);
    this.#pump();
    await this.#allSettled();
  }

  /** Resolves when every call has a result; rejects when a failure must end the run. */
  async settled(): Promise<void> {
    await this.#allSettled();
    if (this.#failure) throw this.#failure;
  }

  /** Only approvals are outstanding, so the next owner of the run can wait for them instead. */
  get onlyAsking(): boolean {
    const isLost = ({ state, tool }: CallEntry) => state === "running" && tool.resumable !== true;
    return this.#isOnlyAsking && !this.#entries.some(isLost);
  }

  #pump(): void {
    for (const entry of this.#entries) {
      if (entry.state !== "queued") continue;
      if (!this.#generationDone && !this.#rules.mayStartEarly(entry)) continue;
      if (this.#rules.isUndecided(entry)) {
        void this.#decide(entry);
        continue;
      }
      if (!entry.approved && this.#rules.mustAsk(entry)) {
        if (this.#awaitsAnswerOn(entry)) continue;
        void this.#ask(entry);
        continue;
      }
      if (!this.#hasRoom(entry)) break;
      void this.#start(entry);
    }
    const { watch } = this.#deps.run.deps;
    if (watch !== undefined) for (const entry of this.#entries) watch.gated(entry.call, this.#gateOf(entry));
    this.#keepTime();
    if (this.#isSettled) for (const wake of this.#waiting.splice(0)) wake();
  }

  /** What delays a call, for debug output; same order as `#pump`. */
  #gateOf(entry: CallEntry): Gate | undefined {
    const { state, tool } = entry;
    if (state === "asking") return "approval";
    if (state === "deciding") return "its approval function";
    if (state !== "queued") return undefined;
    const { agent } = this.#deps.run;
    if (!this.#generationDone && !this.#rules.mayStartEarly(entry)) {
      return agent.toolPolicy.dispatch === "round" ? "dispatch: round" : "generation";
    }
    if (this.#awaitsAnswerOn(entry)) return "an open question";
    if (this.#hasRoom(entry)) return "an earlier call";
    const running = this.#entries.filter((other) => other.state === "running");
    if (tool.exclusive || running.some((other) => other.tool.exclusive)) return "an exclusive tool";
    return running.length < agent.toolPolicy.concurrency ? "maxToolCalls" : "concurrency";
  }

  async #decide(entry: CallEntry): Promise<void> {
    entry.decide();
    try {
      const ask = await this.#rules.askTool(entry);
      if (entry.state !== "deciding") return;
      entry.decided(ask);
      this.#pump();
    } catch (thrown) {
      if (entry.state !== "deciding") return;
      // The approval function failed: without its decision the call must not run.
      const { code, message } = wrap("tool.approve", thrown, "tool_failed");
      this.#settle(entry, refused(code, `whether ${entry.tool.name} needs approval could not be decided: ${message}`));
    }
  }

  /** `approval: once` asks one question at a time, because the answer may cover the tool's other calls. */
  #awaitsAnswerOn({ tool }: CallEntry): boolean {
    return tool.approval === "once" && this.#entries.some((other) => other.state === "asking" && other.tool === tool);
  }

  #hasRoom({ tool, call }: CallEntry): boolean {
    const running = this.#entries.filter((entry) => entry.state === "running");
    if (running.some((entry) => entry.tool.exclusive)) return false;
    const { state, agent } = this.#deps.run;
    // A call started before a crash was already counted.
    if (call.attempts === 0 && state.toolCalls >= agent.limits.maxToolCalls) return false;
    if (tool.exclusive) return running.length === 0;
    return running.length < this.#deps.run.agent.toolPolicy.concurrency;
  }

  async #ask(entry: CallEntry): Promise<void> {
    const { run, round, approvals } = this.#deps;
    entry.ask();
    try {
      if (this.#rules.isUncertain(entry.tool, entry.call) && run.agent.toolPolicy.onUncertain === "fail") {
        const message = "it was started before an interruption and may have run; it is not repeated";
        return this.#settle(entry, refused("conflict", message));
      }
      const reason = this.#rules.reasonToAsk(entry);
      const input = this.#rules.shownInput(entry.call);
      const approved = await approvals.ask(entry.call, round, {
        input,
        ...(reason === undefined ? {} : { reason }),
        ...shownFirst(entry.tool.approval, { args: input, metadata: run.deps.request.metadata ?? {} }),
      });
      if (entry.state !== "asking") return;
      if (!approved) return this.#settle(entry, refused("tool_denied", entry.call.denial ?? "the call was denied"));
      entry.approve();
      this.#pump();
    } catch (thrown) {
      this.#fail(entry, thrown);
    }
  }

  async #start(entry: CallEntry): Promise<void> {
    const { run, round, repetition } = this.#deps;
    entry.start();
    const attempt = entry.call.attempts + 1;
    try {
      await this.#closeQuestion(entry.call);
      const checked = this.#rules.check(entry.call);
      if (!checked.ok) return this.#settle(entry, refused(checked.error.code, checked.error.message));
      await run.step({
        type: "tool.started",
        round,
        call: entry.call.call,
        name: entry.call.name,
        attempt,
        idempotencyKey: idempotencyKeyOf(run, entry.call.call),
      });
      entry.started(run.deps.clock.monotonic());
      const { call, tool } = entry;
      const signal = entry.controller.signal;
      const ask = (question: Question) => this.#question(entry, question);
      const outcome = await execute(run, { call, round, tool, input: checked.input, attempt, signal, ask });
      const told = repetition.remark(entry.call, outcome);
      this.#settle(entry, await keepContent(run, told, this.#limitOf(call)));
    } catch (thrown) {
      this.#fail(entry, thrown);
    }
  }

  /** The question was asked before a restart, and a config change has since removed the need for approval. */
  async #closeQuestion({ call, name, approval }: CallState): Promise<void> {
    if (approval !== "requested") return;
    const isGone = this.#deps.tools.get(name) === undefined;
    const reason = isGone ? "the tool is gone" : "no approval is needed any more";
    const { round } = this.#deps;
    await this.#deps.run.step({ type: "approval.resolved", round, call, approved: !isGone, reason });
  }

  async #question(entry: CallEntry, { id, ...question }: Question): Promise<Verdict> {
    const { round, approvals } = this.#deps;
    entry.questionOpened();
    this.#keepTime();
    try {
      return await approvals.question({ ...question, call: `${entry.call.call}.${id}` }, round);
    } finally {
      entry.questionClosed();
      this.#keepTime();
    }
  }

  #settle(entry: CallEntry, outcome: Outcome): void {
    const { run } = this.#deps;
    this.#finish(entry.call, outcome, entry.timeUntil(run.deps.clock.monotonic(), this.#generationEnd));
    entry.settle();
    // A denial is an answer, not a failure: the model gets it whatever the policy.
    const failed = run.agent.toolPolicy.onError === "abort" && outcome.error?.code !== "tool_denied";
    const ends = outcome.fatal === true || failed;
    if (!outcome.ok && ends && !entry.controller.signal.aborted) {
      this.#failure ??= outcome.error ?? new VenturiError("tool.call", "tool_failed", outcome.output);
      // Also aborts the generation and the other tools; nothing new starts.
      run.abort(this.#failure);
    }
    this.#pump();
  }

  /** The journal or the run failed during the call. */
  #fail(entry: CallEntry, thrown: unknown): void {
    this.#failure ??= wrap("tool.call", thrown);
    entry.settle();
    this.#pump();
  }

  #finish(call: CallState, outcome: Outcome, time: ToolTime): void {
    const { run, round } = this.#deps;
    writeToolFinished(run, { round, call, limit: this.#limitOf(call) }, { outcome, time });
  }

  #limitOf({ name }: CallState): number {
    const { run, tools } = this.#deps;
    return tools.get(name)?.maxOutput ?? run.agent.toolPolicy.maxOutput;
  }

  #keepTime(): void {
    if (!this.#generationDone) return;
    const { run, onlyAsking } = this.#deps;
    run.onAsking(this.#isOnlyAsking);
    onlyAsking(this.onlyAsking);
  }

  get #isOnlyAsking(): boolean {
    return this.#entries.some(({ isAsking }) => isAsking) && !this.#entries.some(({ isWorking }) => isWorking);
  }

  get #isSettled(): boolean {
    return this.#entries.every(({ isSettled }) => isSettled);
  }

  async #allSettled(): Promise<void> {
    if (!this.#isSettled) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

/** Stands in for a tool that was removed since the call was made; its check reports that. */
const goneTool = (name: string): Tool => ({ name, description: "", parameters: {}, effect: "pure", call: () => "" });
