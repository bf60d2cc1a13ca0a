import { setImmediate as nextTurn } from "node:timers/promises";
import type { Delta } from "../../core/deltas.ts";
import { VenturiError, wrap } from "../../core/errors.ts";
import { keepOne } from "../../core/keep-one.ts";
import type { GenerationContext, GenerationRequest, Timeouts } from "../../core/provider.ts";
import { callerTrace } from "../../core/trace-context.ts";
import type { Usage } from "../../core/usage.ts";
import { defaultTimeouts, type ModelTarget } from "../definition.ts";
import type { RunContext } from "../run-context.ts";
import type { ToolTable } from "../tools/tool-table.ts";
import { streamOf } from "./capabilities.ts";
import { type CallSink, DeltaWriter } from "./delta-writer.ts";
import { completeUsage } from "./estimate.ts";
import { fitTo, unsentTo } from "./fit.ts";

export interface Attempt {
  readonly target: ModelTarget;
  readonly round: number;
  readonly attempt: number;
  readonly request: GenerationRequest;
  /** Models that were passed over on the way to this one. */
  readonly skipped: readonly string[];
  readonly tools: ToolTable;
  readonly sink: CallSink;
}

/** A generation that ended badly, and whether clients had already seen some of it. */
export class GenerationFailure extends Error {
  readonly error: VenturiError;
  readonly shown: boolean;
  /** What the attempt cost, when anything is known of it. */
  readonly usage: Usage | undefined;
  constructor(error: VenturiError, facts: { readonly shown: boolean; readonly usage?: Usage | undefined }) {
    super(error.message, { cause: error });
    this.error = error;
    this.shown = facts.shown;
    this.usage = facts.usage;
  }
}

/** A provider that never waits for anything would keep the process from timers and sockets, a cancel among them. */
const readsPerTurn = 256;

/** One model call from request to `generation.finished`, telling every piece as it comes. */
export async function generate(run: RunContext, attempt: Attempt): Promise<void> {
  const { target, round } = attempt;
  const request = begin(run, attempt);
  const context = contextOf(run, attempt);
  run.time.enter("providerWait");
  let writer: DeltaWriter | undefined;
  let reader: AbortableReader | undefined;
  try {
    let reads = 0;
    reader = new AbortableReader(streamOf(target.port, request, context), run.signal);
    for (let read = await reader.next(); !read.done; read = await reader.next()) {
      // The observer is set by whoever wraps the provider, at the latest when its stream is first read.
      writer ??= new DeltaWriter(run, round, attempt.tools, attempt.sink, context.observer);
      if (run.time.part !== "providerStream") run.time.enter("providerStream");
      writer.push(read.value);
      const gate = run.parts.gate?.() ?? run.parts.log.pressure;
      if (gate !== undefined) await paced(run, gate);
      reads += 1;
      if (reads % readsPerTurn === 0) await nextTurn();
    }
    writer ??= new DeltaWriter(run, round, attempt.tools, attempt.sink, context.observer);
    finish(run, attempt, writer);
  } catch (thrown) {
    const error = run.signal.aborted ? wrap("agent.run", run.signal.reason) : asProviderError(target, thrown);
    throw new GenerationFailure(error, { shown: writer?.shown ?? false, usage: costOf(writer, attempt) });
  } finally {
    reader?.close();
    writer?.close();
    run.time.enter("runtime");
  }
}

/** Tells that the model is asked, and what of the request it is not told. */
function begin(run: RunContext, { target, round, attempt, skipped, request: asked }: Attempt): GenerationRequest {
  const { request } = fitTo(target.port, asked);
  const warnings = unsentTo(target.port, asked, run.parts.request);
  const { name: model, provider } = target;
  run.emit({
    type: "round.started",
    round,
    model,
    provider,
    attempt,
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
    ...(skipped.length === 0 ? {} : { skipped: [...skipped] }),
  });
  return request;
}

function finish(run: RunContext, attempt: Attempt, writer: DeltaWriter): void {
  const done = writer.finish();
  const calls = run.state.round?.calls.size ?? 0;
  run.emit({
    type: "generation.finished",
    round: attempt.round,
    attempt: attempt.attempt,
    // Servers say "stop" for forced tools; what counts is whether there are calls.
    finish: calls > 0 && done.finish === "stop" ? "tool_calls" : done.finish,
    usage: completeUsage(writer.usage, attempt.request.messages, writer.outputCharacters),
    ...(done.raw === undefined ? {} : { raw: done.raw }),
    ...(writer.responseId === undefined ? {} : { responseId: writer.responseId }),
    ...(writer.responseModel === undefined ? {} : { responseModel: writer.responseModel }),
  });
}

/** Whoever cuts a stream off pays for what had been sent; a request that was refused costs nothing. */
function costOf(writer: DeltaWriter | undefined, { request }: Attempt): Usage | undefined {
  if (writer === undefined || (writer.usage === undefined && writer.outputCharacters === 0)) return undefined;
  return completeUsage(writer.usage, request.messages, writer.outputCharacters);
}

async function paced(run: RunContext, gate: Promise<void>): Promise<void> {
  run.time.enter("client");
  await run.orAborted(gate);
  run.time.enter("providerStream");
}

function contextOf(run: RunContext, attempt: Attempt): GenerationContext {
  const session = run.parts.request.session;
  return {
    run: run.run,
    round: attempt.round,
    attempt: attempt.attempt,
    agent: run.agent.name,
    signal: run.signal,
    timeouts: timeoutsOf(run, attempt.target),
    ...(session === undefined ? {} : { session }),
    ...callerTrace(run.parts.request),
  };
}

function timeoutsOf({ agent }: RunContext, { port }: ModelTarget): Timeouts {
  const { timeout } = agent.model;
  return { ...timeout, firstChunk: timeout.firstChunk ?? port.firstChunk ?? defaultTimeouts.firstChunk };
}

/**
 * Reads a stream batch by batch and rejects the moment the signal aborts, also when the provider ignores it. Racing each
 * `next()` against the signal would cost a closure and two promises a batch; this costs one promise.
 */
class AbortableReader {
  readonly #iterator: AsyncIterator<readonly Delta[]>;
  readonly #signal: AbortSignal;
  #reject: (reason: unknown) => void = () => {};

  constructor(stream: AsyncIterable<readonly Delta[]>, signal: AbortSignal) {
    this.#iterator = stream[Symbol.asyncIterator]();
    this.#signal = signal;
    signal.addEventListener("abort", this.#onAbort, { once: true });
    keepOne(this);
  }

  next(): Promise<IteratorResult<readonly Delta[]>> {
    if (this.#signal.aborted) return Promise.reject(this.#signal.reason);
    const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<readonly Delta[]>>();
    this.#reject = reject;
    this.#iterator.next().then(resolve, reject);
    return promise;
  }

  /** Lets the provider free what it holds, whatever the reason the reading stopped for. */
  close(): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
    // On one that has ended this does nothing.
    void Promise.resolve(this.#iterator.return?.()).catch(() => {});
  }

  readonly #onAbort = (): void => {
    this.#reject(this.#signal.reason);
    this.close();
  };
}

/** The same error, told with who failed: a chain may have several providers, and one provider several models. */
function asProviderError(target: ModelTarget, thrown: unknown): VenturiError {
  const { name, provider, model } = target;
  const details = { provider, model };
  if (VenturiError.isInstance(thrown)) {
    const told = { cause: thrown, details: { ...thrown.details, ...details } };
    return new VenturiError(thrown.op, thrown.code, `${name}: ${thrown.message}`, told);
  }
  const message = `${name}: the provider plugin threw; the log says what`;
  return new VenturiError("provider.stream", "plugin_failed", message, { cause: thrown, details });
}
