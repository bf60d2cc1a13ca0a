import { performance } from "node:perf_hooks";
import { type Attributes, context as active, type Context, type Span, trace } from "@opentelemetry/api";
import { RichOutput, type Tool, type ToolContext, type ToolOutput } from "../../core/ports/tool.ts";
import { keepOne } from "../../core/values/keep-one.ts";
import { overriding } from "../../core/values/overriding.ts";
import { leanRoot } from "../base/context.ts";
import { attributes, labels, spans } from "../base/names.ts";
import { type Origin, originNow } from "../base/origin.ts";
import { formatTraceparent, parseTraceparent } from "../base/traceparent.ts";
import type { Body } from "./body.ts";
import { endSpan } from "./instrumentation.ts";
import { cancelled, errorType, failed, good, mark, type Outcome, outcomeOf, parked } from "./outcome.ts";
import type { RoundTrace } from "./round-trace.ts";
import type { Pending, RunTrace } from "./run-trace.ts";
import type { Tracing } from "./traces.ts";

/** Code of an error thrown by a tool, as in the run's events. */
const ownCode = "tool_failed";

/** Wraps a tool with a span per execution; spans the tool creates become children. */
export function measuredTool(measure: Tracing, tool: Tool): Tool {
  return overriding(tool, {
    call(input, context) {
      const execution = new Execution(measure, tool, context);
      context.traceparent = execution.traceparent;
      execution.asked(input);
      let result: ReturnType<Tool["call"]>;
      try {
        result = active.with(execution.context, () => tool.call(input, context));
      } catch (thrown) {
        execution.settled(outcomeOf(thrown, context.signal, ownCode), undefined);
        throw thrown;
      }
      return followed(execution, result, context.signal);
    },
  });
}

function followed(
  execution: Execution,
  result: ReturnType<Tool["call"]>,
  signal: AbortSignal,
): ReturnType<Tool["call"]> {
  if (isPromise(result)) {
    return result.then(
      (output) => {
        execution.settled(good, output);
        return output;
      },
      (thrown) => {
        execution.settled(outcomeOf(thrown, signal, ownCode), undefined);
        throw thrown;
      },
    );
  }
  if (isIterable(result)) return iterated(execution, within(execution.context, result), signal);
  execution.settled(good, result);
  return result;
}

async function* iterated(
  execution: Execution,
  pieces: AsyncIterable<string, ToolOutput>,
  signal: AbortSignal,
): AsyncGenerator<string, ToolOutput> {
  let outcome: Outcome = cancelled;
  let output: ToolOutput;
  try {
    output = yield* pieces;
    outcome = good;
    return output;
  } catch (thrown) {
    outcome = outcomeOf(thrown, signal, ownCode);
    throw thrown;
  } finally {
    execution.settled(outcome, output);
  }
}

/** A generator's body runs in the context of the consumer's `next()`. */
function within(
  context: Context,
  pieces: AsyncIterable<string, ToolOutput>,
): AsyncIterableIterator<string, ToolOutput, undefined> {
  const inner = active.with(context, () => pieces[Symbol.asyncIterator]());
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => active.with(context, () => inner.next()),
    return: async (value) =>
      active.with(context, () => inner.return?.(value)) ?? { done: true as const, value: await value },
  };
}

const isPromise = (value: unknown): value is Promise<ToolOutput> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
const isIterable = (value: unknown): value is AsyncIterable<string, ToolOutput> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

/**
 * One execution of a tool. Its span ends at the time the tool settled, but is emitted only after `tool.finished` gave the
 * outcome and the generation has ended, since the overlap is not known before. An abandoned tool ends with that event too; its
 * late result changes nothing.
 */
class Execution implements Pending {
  readonly call: string;
  readonly traceparent: string;
  readonly context: Context;
  readonly #measure: Tracing;
  readonly #run: string;
  readonly #trace: RunTrace | undefined;
  readonly #round: RoundTrace | undefined;
  readonly #origin: Origin;
  readonly #tool: string;
  readonly #span: Span;
  readonly #started = performance.now();
  #settledAt: number | undefined;
  #outcome: Outcome = cancelled;
  #ended = false;

  constructor(measure: Tracing, tool: Tool, context: ToolContext) {
    this.#measure = measure;
    this.#run = context.run;
    this.#tool = tool.name;
    this.call = context.call;
    this.#trace = measure.traces.open.get(context.run);
    this.#round = this.#trace?.round(context.round);
    this.#origin = this.#trace?.origin ?? originNow();
    const above = this.#round?.span.spanContext() ?? parseTraceparent(context.traceparent);
    this.#span = measure.sdk.tracer.startSpan(
      `${spans.tool} ${tool.name}`,
      {
        startTime: this.#origin.time(this.#started),
        attributes: {
          [attributes.operation]: "execute_tool",
          [attributes.toolName]: tool.name,
          [attributes.toolType]: "function",
          [attributes.toolCall]: context.call,
          [attributes.toolDescription]: tool.description,
          [attributes.toolEffect]: tool.effect ?? "effectful",
          [attributes.toolAttempt]: context.attempt,
          [attributes.agent]: context.agent,
          ...ownAttributes(tool),
        },
      },
      above,
    );
    this.context = trace.setSpan(leanRoot, this.#span);
    this.traceparent = formatTraceparent(this.#span.spanContext());
    this.#trace?.pending.add(this);
    keepOne(this);
  }

  asked(input: unknown): void {
    const { content } = this.#measure;
    if (!content.captured || !this.#span.isRecording()) return;
    const text = content.json(input);
    this.#span.setAttributes({ [attributes.toolArguments]: text, [attributes.inputText]: text });
  }

  settled(outcome: Outcome, output: ToolOutput): void {
    if (this.#ended || this.#settledAt !== undefined) return;
    this.#settledAt = performance.now();
    this.#outcome = outcome;
    const { content } = this.#measure;
    if (content.captured && outcome.kind === "good" && this.#span.isRecording()) {
      this.#span.setAttribute(
        attributes.toolResult,
        content.json(RichOutput.isInstance(output) ? output.text : output),
      );
    }
    // Without a run's events passing here, no outcome will be reported.
    if (this.#trace === undefined) this.#end();
  }

  finished(body: Body<"tool.finished">): void {
    if (this.#ended) return;
    const { code = ownCode, op = "", err } = body.error ?? {};
    const told = body.ok ? good : failed(code, op, err);
    this.settled(told, body.output);
    // The event decides the outcome and its code; the thrown error has more about the reason.
    this.#outcome = told.kind === "failed" && this.#outcome.kind === "failed" ? { ...this.#outcome, code } : told;
    const { instruments, sets } = this.#measure.sdk;
    this.#span.setAttribute(attributes.toolEager, body.savedMs !== undefined);
    if (body.savedMs !== undefined) {
      this.#span.setAttribute(attributes.toolSaved, body.savedMs);
      instruments.eagerSaved(sets.of(labelsOf(body))).record(body.savedMs / 1_000);
    }
    this.#end();
  }

  abandon(how?: "parked"): void {
    this.settled(how === "parked" ? parked : cancelled, undefined);
    this.#end();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#trace?.pending.delete(this);
    mark(this.#span, this.#outcome);
    this.#round?.touch();
    const end = this.#settledAt ?? performance.now();
    const { sets, instruments } = this.#measure.sdk;
    if (this.#outcome.kind !== "parked") {
      const set = sets.of({ [attributes.toolName]: this.#tool, [attributes.errorType]: errorType(this.#outcome) });
      instruments.toolDuration(set).record((end - this.#started) / 1_000, this.#span.spanContext());
    }
    endSpan(this.#measure, this.#run, this.#span, this.#origin.time(end));
  }
}

/** A mistake of the plugin here must not fail the call. */
function ownAttributes(tool: Tool): Attributes {
  try {
    return { ...tool.spanAttributes?.() };
  } catch {
    return {};
  }
}

/** Handles `tool.finished`: completes the execution, if it ran here, and counts it. */
export function toolFinished(measure: Tracing, runTrace: RunTrace, body: Body<"tool.finished">): void {
  for (const pending of runTrace.pending) {
    if (pending instanceof Execution && pending.call === body.call) pending.finished(body);
  }
  measure.sdk.instruments.toolCalls(measure.sdk.sets.of(labelsOf(body))).value++;
}

function labelsOf(body: Body<"tool.finished">): Record<string, string> {
  const outcome = body.ok ? "ok" : (body.error?.code ?? "tool_failed");
  return { [attributes.toolName]: toolLabel(body.name, outcome), [labels.outcome]: outcome };
}

export function countRejected(measure: Tracing, body: Body<"tool_call.rejected">): void {
  const { instruments, sets } = measure.sdk;
  const outcome = body.error.code;
  const set = sets.of({ [attributes.toolName]: toolLabel(body.name, outcome), [labels.outcome]: outcome });
  instruments.toolCalls(set).value++;
}

/** A tool name invented by the model must not create a metric series. */
const toolLabel = (name: string, outcome: string): string => (outcome === "tool_not_found" ? "_unknown" : name);
