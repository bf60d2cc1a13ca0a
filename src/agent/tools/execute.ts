import { VenturiError, wrap } from "../../core/errors/errors.ts";
import type { Usage } from "../../core/model/usage.ts";
import { type Clock, nextTurn } from "../../core/ports/clock.ts";
import type { TextFilter } from "../../core/ports/hooks.ts";
import type { Question, Tool, ToolContext, Verdict } from "../../core/ports/tool.ts";
import type { MemoryEvent } from "../../core/run/events.ts";
import { keepOne } from "../../core/values/keep-one.ts";
import { callerTrace } from "../../core/values/trace-context.ts";
import { CallLimit } from "../run/call-limit.ts";
import { budgetLeft, spend } from "../run/limits.ts";
import { orAborted } from "../run/or-aborted.ts";
import { inScope } from "../run/plugin-scope.ts";
import type { RunContext } from "../run/run-context.ts";
import type { CallState } from "../state/round-state.ts";
import { callContext } from "./call-context.ts";
import { failed, type Outcome, succeeded, toolError } from "./outcome.ts";
import { transfer } from "./transfer.ts";

export interface Execution {
  readonly call: CallState;
  readonly round: number;
  readonly tool: Tool;
  readonly input: Record<string, unknown>;
  readonly attempt: number;
  /** Aborts when the call is cancelled for any reason. */
  readonly signal: AbortSignal;
  /** Forwards a tool's question to a person. */
  ask(question: Question): Promise<Verdict>;
}

/** Progress of a call beyond this many characters is dropped. */
const longestProgress = 1024 * 1024;
const stepsPerTurn = 256;

/**
 * Runs one tool call to an outcome; never throws. Failure, timeout and cancellation are outcomes. A tool that ignores its
 * signal is abandoned after the grace period; what it does later has no effect.
 */
export async function execute(run: RunContext, execution: Execution): Promise<Outcome> {
  const { tool, round } = execution;
  try {
    const asked = { call: execution.call.call, name: tool.name, arguments: execution.input };
    const call = run.hooks.empty ? asked : await orAborted(run.hooks.beforeTool(asked, round), execution.signal);
    const outcome =
      "standIn" in call
        ? succeeded(call.standIn.output)
        : await invoke(run, { ...execution, input: { ...call.arguments } });
    if (run.hooks.empty) return outcome;
    const { ok, output } = await orAborted(run.hooks.afterTool(call, outcome, round), execution.signal);
    const changed = { ...outcome, ok, output };
    if (ok) return { ...changed, error: undefined };
    return output === outcome.output ? changed : { ...changed, error: retold(outcome.error, output) };
  } catch (thrown) {
    // Only hooks throw here: a VenturiError denies the call, anything else ends the run.
    const error = wrap("tool.call", thrown, "tool_failed");
    return { ...failed(error), fatal: error.code === "plugin_failed" };
  }
}

/** If a hook changed the output of a failed call, the error gets the same text for everyone. */
function retold(error: VenturiError | undefined, output: string): VenturiError {
  const { op, code } = error ?? { op: "tool.call", code: "tool_failed" as const };
  return new VenturiError(op, code, output.startsWith(`${code}: `) ? output.slice(code.length + 2) : output);
}

async function invoke(run: RunContext, execution: Execution): Promise<Outcome> {
  const { tool, signal } = execution;
  const { clock, log } = run.deps;
  const controller = new AbortController();
  const limit = tool.timeout ?? run.agent.toolPolicy.timeout;
  const giveUp = (code: "tool_timeout" | "journal_failed", message: string) => () =>
    controller.abort(new VenturiError("tool.call", code, message));
  const countdown = new CallLimit(clock, {
    ms: limit,
    tooSlow: giveUp("tool_timeout", `${tool.name} took longer than ${limit} ms`),
    journalTooSlow: giveUp("journal_failed", `${tool.name} waited ${limit} ms for the journal`),
  });
  const onAbort = () => controller.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  const call = new ToolCall(run, execution, { signal: controller.signal, countdown });
  const work = call.work();
  const grace = new Grace(run, controller.signal);
  try {
    return await Promise.race([work, grace.over]);
  } catch (thrown) {
    if (!controller.signal.aborted) return failed(toolError(tool, thrown));
    if (thrown instanceof LeftBehind) log.warn("tool left behind", { run: run.run, tool: tool.name });
    return failed(wrap("tool.call", controller.signal.reason, "stream_interrupted"));
  } finally {
    call.settle();
    countdown.stop();
    grace.stop();
    signal.removeEventListener("abort", onAbort);
    work.catch(() => {}); // an abandoned tool may still reject; avoids an unhandledRejection
  }
}

class LeftBehind extends Error {}

/** The time a tool may take after its signal aborted; then `over` rejects. */
class Grace {
  readonly over: Promise<never>;
  readonly #signal: AbortSignal;
  #stopTimer: (() => void) | undefined;
  #wait: () => void = () => {};

  constructor(run: RunContext, signal: AbortSignal) {
    this.#signal = signal;
    this.over = new Promise((_, reject) => {
      this.#wait = () => {
        this.#stopTimer = run.deps.clock.after(run.agent.toolPolicy.grace, () => reject(new LeftBehind()));
      };
    });
    if (signal.aborted) this.#wait();
    else signal.addEventListener("abort", this.#wait, { once: true });
    keepOne(this);
  }

  stop(): void {
    this.#signal.removeEventListener("abort", this.#wait);
    this.#stopTimer?.();
  }
}

/** One invocation as seen by the tool. Once settled, further progress and questions are ignored. */
class ToolCall {
  readonly #run: RunContext;
  readonly #execution: Execution;
  readonly #signal: AbortSignal;
  readonly #countdown: CallLimit;
  readonly #over = Promise.withResolvers<Verdict>();
  /** Undefined before the first progress; null when there is no filter. */
  #filter: TextFilter | null | undefined;
  #settled = false;
  #progressLength = 0;

  constructor(run: RunContext, execution: Execution, limits: { signal: AbortSignal; countdown: CallLimit }) {
    this.#run = run;
    this.#execution = execution;
    this.#signal = limits.signal;
    this.#countdown = limits.countdown;
    keepOne(this);
  }

  async work(): Promise<Outcome> {
    const signal = this.#signal;
    signal.throwIfAborted();
    const { tool, input } = this.#execution;
    const context = this.#context();
    const { clock, stalls, tenant } = this.#run.deps;
    const before = clock.monotonic();
    const scope = {
      what: `tool ${tool.name}`,
      run: this.#run.run,
      fail: (error: VenturiError) => this.#run.abort(error),
      waitForJournal: () => {
        this.#countdown.beginWait();
        return () => this.#countdown.endWait();
      },
    };
    const culprit = { what: `tool ${tool.name}`, run: this.#run.run, tenant };
    const end = stalls?.during?.(culprit);
    try {
      const returned = inScope(scope, () => tool.call(input, context));
      stalls?.blame(culprit, clock.monotonic() - before);
      const value = isAsyncIterable(returned)
        ? await inScope(scope, () => drain(returned, context, clock))
        : await returned;
      await this.#endProgress();
      return succeeded(value);
    } finally {
      end?.();
    }
  }

  /** Writes progress that a filter held back. */
  async #endProgress(): Promise<void> {
    if (this.#filter === undefined || this.#filter === null) return;
    this.#tell(await this.#filter.end());
  }

  settle(): void {
    this.#settled = true;
    this.#over.resolve({ approved: false, reason: "the tool ended without waiting for the answer" });
  }

  #context(): ToolContext {
    const { call, round, attempt } = this.#execution;
    const { deps } = this.#run;
    return {
      ...callContext(this.#run, { call, round, attempt, controller: { signal: this.#signal } }),
      log: deps.log,
      depth: deps.request.parent?.depth ?? 0,
      progress: this.#progress,
      record: this.#record,
      ask: this.#ask,
      budget: () => budgetLeft(this.#run),
      spent: this.#spent,
      transfer: (name) => transfer(this.#run, { call: call.call, round }, name),
      ...callerTrace(deps.request),
    };
  }

  readonly #progress = (text: string): void => {
    this.#progressLength += text.length;
    // A tool may call this from its own timer, where a throw would crash the process.
    if (this.#settled || this.#run.fenced || text === "" || this.#progressLength > longestProgress) return;
    const { hooks } = this.#run;
    if (this.#filter === undefined) this.#filter = hooks.filter("results", this.#execution.round) ?? null;
    this.#tell(this.#filter === null ? text : this.#filtered(this.#filter, text));
  };

  #filtered(filter: TextFilter, text: string): string {
    try {
      return filter.push(text);
    } catch (thrown) {
      this.#run.abort(wrap("tool.call", thrown));
      return "";
    }
  }

  #tell(text: string): void {
    if (text === "" || this.#settled || this.#run.fenced) return;
    const { call, round } = this.#execution;
    this.#run.emit({ type: "tool.output", round, call: call.call, text });
  }

  readonly #record = (event: MemoryEvent): void => {
    if (this.#settled || this.#run.fenced) return;
    const { call, round } = this.#execution;
    this.#run.emit({ ...event, round, call: call.call });
  };

  readonly #ask = (question: Question): Promise<Verdict> => {
    const answer = this.#answer(question);
    answer.catch(() => {}); // avoids an unhandledRejection if the tool does not await it and the run is stopped
    return answer;
  };

  async #answer(question: Question): Promise<Verdict> {
    if (this.#settled) return this.#over.promise;
    const over = this.#over.promise;
    const settled = question.settled === undefined ? over : Promise.race([question.settled, over]);
    this.#countdown.hold();
    try {
      return await this.#execution.ask({ ...question, settled });
    } finally {
      this.#countdown.letGo();
    }
  }

  readonly #spent = (usage: Usage, cost?: number): void => {
    if (this.#settled || this.#run.fenced) return;
    spend(this.#run, this.#execution.call.call, { usage, ...(cost === undefined ? {} : { cost }) });
  };
}

/** Yielded strings are progress. The output is the return value or, without one, the last string. */
async function drain(
  stream: AsyncIterable<string, unknown>,
  { signal, progress }: ToolContext,
  clock: Clock,
): Promise<unknown> {
  const iterator = stream[Symbol.asyncIterator]();
  let last: unknown;
  for (let steps = 1; ; steps++) {
    const step = await iterator.next();
    if (step.done) return step.value ?? last;
    if (signal.aborted) {
      await iterator.return?.();
      throw signal.reason;
    }
    last = step.value;
    progress(String(step.value));
    // A generator that never awaits I/O would starve its own timeout.
    if (steps % stepsPerTurn === 0) await nextTurn(clock);
  }
}

const isAsyncIterable = (value: unknown): value is AsyncIterable<string, unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;
