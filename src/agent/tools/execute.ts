import { VenturiError, wrap } from "../../core/errors/errors.ts";
import type { Usage } from "../../core/model/usage.ts";
import { type Clock, nextTurn } from "../../core/ports/clock.ts";
import type { TextFilter } from "../../core/ports/hooks.ts";
import {
  type Question,
  RichOutput,
  type Tool,
  type ToolContext,
  type ToolImage,
  type Verdict,
} from "../../core/ports/tool.ts";
import type { MemoryEvent } from "../../core/run/events.ts";
import { keepOne } from "../../core/values/keep-one.ts";
import { isMediaType } from "../../core/values/media-type.ts";
import { callerTrace } from "../../core/values/trace-context.ts";
import { excessOf, recordLimits } from "../../core/values/value-limits.ts";
import { Countdown } from "../run/countdown.ts";
import { budgetLeft, spend } from "../run/limits.ts";
import { orAborted } from "../run/or-aborted.ts";
import { inScope } from "../run/plugin-scope.ts";
import type { RunContext } from "../run/run-context.ts";
import type { CallState } from "../state/round-state.ts";
import { callContext } from "./call-context.ts";
import { transfer } from "./transfer.ts";

/** Non-text tool output: its data, or its hash once stored. */
export type ToolContent = Omit<ToolImage, "data"> & {
  readonly data?: string;
  readonly hash?: string;
  readonly size?: number;
};

export interface Outcome {
  readonly ok: boolean;
  readonly output: string;
  /** Where all of an output is of which `output` is the beginning. */
  readonly kept?: { readonly hash: string; readonly size: number; readonly length: number };
  readonly images: readonly ToolContent[];
  readonly files: readonly (ToolContent & { readonly name?: string })[];
  readonly error: VenturiError | undefined;
  /** The run cannot continue, whatever the failure policy. */
  readonly fatal?: boolean;
}

export interface Execution {
  readonly call: CallState;
  readonly round: number;
  readonly tool: Tool;
  readonly input: Record<string, unknown>;
  readonly attempt: number;
  /** Aborts when the call is cancelled, for any reason. */
  readonly signal: AbortSignal;
  /** Forwards a tool's question to a person. */
  ask(question: Question): Promise<Verdict>;
}

/** Hard limit on the stored output of a call, in characters. */
const longestKept = 4 * 1024 * 1024;
/** Progress of a call beyond this many characters is dropped. */
const longestProgress = 1024 * 1024;
const mostItems = 64;
const largestItems = 32 * 1024 * 1024;
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

/** A hook that changes what the model is told of a failure changes it for everyone. */
function retold(error: VenturiError | undefined, output: string): VenturiError {
  const { op, code } = error ?? { op: "tool.call", code: "tool_failed" as const };
  return new VenturiError(op, code, output.startsWith(`${code}: `) ? output.slice(code.length + 2) : output);
}

async function invoke(run: RunContext, execution: Execution): Promise<Outcome> {
  const { tool, signal } = execution;
  const { clock, logger } = run.parts;
  const controller = new AbortController();
  const limit = tool.timeout ?? run.agent.toolPolicy.timeout;
  const countdown = new Countdown(clock, limit, () => {
    const message = `${tool.name} took longer than ${limit} ms`;
    controller.abort(new VenturiError("tool.call", "tool_timeout", message));
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
    if (thrown instanceof LeftBehind) logger.warn("tool left behind", { run: run.run, tool: tool.name });
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

/** How long a tool may continue after its signal; `over` rejects then. */
class Grace {
  readonly over: Promise<never>;
  readonly #signal: AbortSignal;
  #stopTimer: (() => void) | undefined;
  #wait: () => void = () => {};

  constructor(run: RunContext, signal: AbortSignal) {
    this.#signal = signal;
    this.over = new Promise((_, reject) => {
      this.#wait = () => {
        this.#stopTimer = run.parts.clock.after(run.agent.toolPolicy.grace, () => reject(new LeftBehind()));
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
  readonly #countdown: Countdown;
  readonly #over = Promise.withResolvers<Verdict>();
  /** Undefined until the tool tells something; null when there is none. */
  #filter: TextFilter | null | undefined;
  #settled = false;
  #progressLength = 0;

  constructor(run: RunContext, execution: Execution, limits: { signal: AbortSignal; countdown: Countdown }) {
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
    const { clock, stalls, tenant } = this.#run.parts;
    const before = clock.monotonic();
    const scope = {
      what: `tool ${tool.name}`,
      run: this.#run.run,
      fail: (error: VenturiError) => this.#run.abort(error),
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

  /** What a filter held back. */
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
    const { parts } = this.#run;
    return {
      ...callContext(this.#run, { call, round, attempt, controller: { signal: this.#signal } }),
      log: parts.logger,
      depth: parts.request.parent?.depth ?? 0,
      progress: this.#progress,
      record: this.#record,
      ask: this.#ask,
      budget: () => budgetLeft(this.#run),
      spent: this.#spent,
      transfer: (name) => transfer(this.#run, { call: call.call, round }, name),
      ...callerTrace(parts.request),
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

/** Strings are progress; the return value is the output, or the last string when there is none. */
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

function succeeded(value: unknown): Outcome {
  const rich = RichOutput.isInstance(value) ? value : undefined;
  const text = rich?.text ?? asText(value);
  const output =
    text.length > longestKept ? `${text.slice(0, longestKept)}\n[the output was longer and is lost]` : text;
  return { ok: true, output, images: checked(rich?.images ?? []), files: checked(rich?.files ?? []), error: undefined };
}

/** Images and files go into the journal and into every later request of the run. */
function checked<Item extends { readonly data: string; readonly mediaType: string }>(
  items: readonly Item[],
): readonly Item[] {
  const odd = items.find(({ mediaType }) => !isMediaType(mediaType));
  if (odd !== undefined) {
    const message = `the tool gave content of the type ${JSON.stringify(odd.mediaType.slice(0, 64))}, which is none`;
    throw new VenturiError("tool.call", "tool_failed", message);
  }
  const size = items.reduce((sum, item) => sum + item.data.length, 0);
  if (items.length <= mostItems && size <= largestItems) return items;
  const message = `the tool gave ${items.length} images or files of ${size} characters; at most ${mostItems} of ${largestItems} are taken`;
  throw new VenturiError("tool.call", "too_large", message);
}

function asText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  const excess = excessOf(value, recordLimits);
  if (excess !== undefined) throw new VenturiError("tool.call", "tool_failed", `the tool's output ${excess}`);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch (cause) {
    throw new VenturiError("tool.call", "tool_failed", "the tool's output cannot be written as JSON", { cause });
  }
}

const failed = (error: VenturiError): Outcome => ({
  ok: false,
  output: `${error.code}: ${error.message}`.slice(0, longestKept),
  images: [],
  files: [],
  error,
});

function toolError(tool: Tool, thrown: unknown): VenturiError {
  if (VenturiError.isInstance(thrown)) return wrap("tool.call", thrown);
  const message = thrown instanceof Error ? `${thrown.message}${codeBehind(thrown)}` : String(thrown);
  return new VenturiError("tool.call", "tool_failed", `${tool.name}: ${message}`, { cause: thrown });
}

/** "fetch failed" alone says nothing: which error was behind it, if that has a name. */
function codeBehind({ cause }: Error): string {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException; // an error of Node, or anything
  return typeof code === "string" && code.length <= 64 ? ` (${code})` : "";
}

const isAsyncIterable = (value: unknown): value is AsyncIterable<string, unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;
