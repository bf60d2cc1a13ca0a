import { VenturiError, wrap } from "../../core/errors/errors.ts";
import type { Delta } from "../../core/model/deltas.ts";
import type { GenerationRequest } from "../../core/model/provider.ts";
import type { Usage } from "../../core/model/usage.ts";
import { nextTurn } from "../../core/ports/clock.ts";
import { type PolledStream, polled } from "../../core/ports/polled-stream.ts";
import type { Guard } from "../run/breaker.ts";
import { streamOf } from "../run/capabilities.ts";
import type { ModelTarget } from "../run/definition.ts";
import type { RunContext } from "../run/run-context.ts";
import type { CallSink } from "../state/call-sink.ts";
import type { ToolTable } from "../tools/tool-table.ts";
import { DeltaWriter } from "./delta-writer.ts";
import { completeUsage } from "./estimate.ts";
import { fitFor } from "./fit.ts";
import { contextOf } from "./generation-context.ts";
import { type Asked, type Hedge, type Opened, race } from "./hedge.ts";

export interface Attempt {
  readonly target: ModelTarget;
  readonly round: number;
  readonly attempt: number;
  readonly request: GenerationRequest;
  /** Models skipped on the way to this one. */
  readonly skipped: readonly string[];
  /** Why this model, where the chain chooses. */
  readonly reason?: string | undefined;
  /** A second model to ask when this one stays silent. */
  readonly hedge?: Hedge | undefined;
  readonly tools: ToolTable;
  readonly sink: CallSink;
  /** Told when the model starts answering. */
  readonly breaker: Pick<Guard, "answering">;
}

/** A failed generation, and whether clients had already seen output of it. */
export class GenerationFailure extends Error {
  readonly error: VenturiError;
  readonly shown: boolean;
  /** Cost of the attempt, if known. */
  readonly usage: Usage | undefined;
  constructor(error: VenturiError, facts: { readonly shown: boolean; readonly usage?: Usage | undefined }) {
    super(error.message, { cause: error });
    this.error = error;
    this.shown = facts.shown;
    this.usage = facts.usage;
  }
}

/** Yields to the event loop after this many reads: a provider that never awaits I/O would starve timers, sockets and cancels. */
const readsPerTurn = 256;

/** One model call from request to `generation.finished`, emitting every delta as it arrives. */
export async function generate(run: RunContext, given: Attempt): Promise<void> {
  let attempt = given;
  const { round, breaker } = attempt;
  const request = begin(run, attempt);
  let context = contextOf(run, attempt);
  let writer: DeltaWriter | undefined;
  let stream: PolledStream<readonly Delta[]> | undefined;
  let reads = 0;
  try {
    if (given.hedge === undefined) stream = polled(streamOf(attempt.target.port, request, context), run.signal);
    else ({ attempt, context, stream } = await hedged(run, { ...given, request }, given.hedge));
    for (;;) {
      const read = stream.poll();
      if (read === undefined) {
        await stream.arrival();
        continue;
      }
      if (read.done) break;
      // The provider's wrapper sets the observer no later than the first read of the stream.
      writer ??= new DeltaWriter(run, round, attempt.tools, attempt.sink, context.observer);
      if (reads === 0) breaker.answering(1);
      reads += 1;
      writer.push(read.value);
      const gate = run.deps.gate?.();
      if (gate !== undefined) await run.waits.during("client", run.deps.reader?.() ?? "", run.orAborted(gate));
      const { pressure } = run.deps.runLog;
      if (pressure !== undefined) await run.waits.during("journal", "", run.orAborted(pressure));
      if (reads % readsPerTurn === 0) await nextTurn(run.deps.clock);
    }
    writer ??= new DeltaWriter(run, round, attempt.tools, attempt.sink, context.observer);
    const held = writer.done === undefined ? undefined : writer.writeHeld();
    if (held !== undefined) await run.orAborted(held);
    finish(run, attempt, { writer, cached: context.cached });
  } catch (thrown) {
    const error = run.signal.aborted ? wrap("agent.run", run.signal.reason) : asProviderError(attempt.target, thrown);
    const cut = stream !== undefined && run.signal.aborted;
    const usage = context.cached ? undefined : usageOf(writer, attempt, cut);
    throw new GenerationFailure(error, { shown: writer?.shown ?? false, usage });
  } finally {
    // Lets the provider release its resources, whatever ended the reading; a no-op on a stream that has ended.
    void stream?.return().catch(() => {});
    if (reads > 0) breaker.answering(-1);
    writer?.close();
  }
}

/** The attempt whose model answers first; emits an event if it is the second model. */
async function hedged(run: RunContext, first: Attempt, hedge: Hedge) {
  const open = (asked: Asked): Opened => {
    const controller = new AbortController();
    const signal = AbortSignal.any([run.signal, controller.signal]);
    const context = { ...contextOf(run, { ...first, ...asked }), signal };
    const { request } = asked === hedge.first ? first : fitted(run, asked);
    return { asked, context, controller, stream: polled(streamOf(asked.target.port, request, context), signal) };
  };
  const { asked, context, stream } = await race(run, hedge, { first: open(hedge.first), open });
  if (asked === hedge.first) return { attempt: first, context, stream };
  const reason = `hedge: ${hedge.first.target.name} was silent for ${hedge.after} ms, and this one answered first`;
  const attempt: Attempt = { ...first, target: asked.target, attempt: asked.attempt, request: asked.request };
  begin(run, { ...attempt, skipped: [], reason });
  return { attempt, context, stream };
}

const fitted = (run: RunContext, { target, request }: Pick<Attempt, "target" | "request">) =>
  fitFor(target.port, request, { agent: run.agent, request: run.deps.request });

/** Writes `generation.started`, listing the request fields the model cannot receive. */
function begin(run: RunContext, given: Attempt): GenerationRequest {
  const { target, round, attempt, skipped, reason } = given;
  const { request, unsent: warnings } = fitted(run, given);
  const { name: model, provider } = target;
  const { chosen } = run.agent.model;
  run.emit({
    type: "round.started",
    round,
    model,
    provider,
    attempt,
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
    ...(skipped.length === 0 ? {} : { skipped: [...skipped] }),
    ...(reason === undefined ? {} : { reason }),
    ...(chosen === undefined ? {} : { split: { of: chosen.of, chose: chosen.member } }),
  });
  return request;
}

function finish(
  run: RunContext,
  attempt: Attempt,
  { writer, cached }: { readonly writer: DeltaWriter; readonly cached: true | undefined },
): void {
  const done = writer.finish();
  const calls = run.state.round?.calls.size ?? 0;
  const usage = completeUsage(writer.usage, attempt.request.messages, writer.outputCharacters);
  run.emit({
    type: "generation.finished",
    round: attempt.round,
    attempt: attempt.attempt,
    // Servers report "stop" for forced tools; what matters is whether there are calls.
    finish: calls > 0 && done.finish === "stop" ? "tool_calls" : done.finish,
    usage,
    ...(cached ? { cached, cost: 0 } : run.costOf(attempt.target.name, usage)),
    ...(attempt.hedge?.lost === undefined ? {} : { hedged: attempt.hedge.lost }),
    ...(done.raw === undefined ? {} : { raw: done.raw }),
    ...(writer.native === undefined ? {} : { native: writer.native }),
    ...(writer.responseId === undefined ? {} : { responseId: writer.responseId }),
    ...(writer.responseModel === undefined ? {} : { responseModel: writer.responseModel }),
  });
}

/** `cut`: the run ended during the stream. A cut stream is billed for its prompt and the output so far; a refused request costs nothing. */
function usageOf(writer: DeltaWriter | undefined, { request }: Attempt, cut: boolean): Usage | undefined {
  const { usage, outputCharacters = 0 } = writer ?? {};
  if (usage === undefined && outputCharacters === 0 && !cut) return undefined;
  return completeUsage(usage, request.messages, outputCharacters);
}

/** Adds provider and model to the error: a chain may have several of both. */
function asProviderError(target: ModelTarget, thrown: unknown): VenturiError {
  const { name, provider, model } = target;
  const details = { provider, model };
  if (VenturiError.isInstance(thrown)) {
    const context = { cause: thrown, details: { ...thrown.details, ...details } };
    return new VenturiError(thrown.op, thrown.code, `${name}: ${thrown.message}`, context);
  }
  const message = `${name}: the provider plugin threw an error; see the log`;
  return new VenturiError("provider.stream", "plugin_failed", message, { cause: thrown, details });
}
