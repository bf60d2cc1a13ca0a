import { performance } from "node:perf_hooks";
import { type Attributes, type Context, type Span, SpanKind, trace } from "@opentelemetry/api";
import { type ChunkKind, type Delta, type FinishReason, kindOfDelta, noKind } from "../../core/model/deltas.ts";
import type { Generation, GenerationContext, GenerationRequest, StreamObserver } from "../../core/model/provider.ts";
import { mergeUsage, type Usage } from "../../core/model/usage.ts";
import { leanRoot } from "../base/context.ts";
import { attributes, spans } from "../base/names.ts";
import { type Origin, originNow } from "../base/origin.ts";
import { chunkLimit } from "../base/settings.ts";
import { formatTraceparent, parseTraceparent } from "../base/traceparent.ts";
import type { Distribution } from "../metrics/distribution.ts";
import { chunkBlock } from "../otlp/block.ts";
import { blockRows, blockSteps, ChunkRecorder } from "../otlp/rows.ts";
import { rowsOf } from "../otlp/span-rows.ts";
import { Output } from "./content.ts";
import { areTaken, emitBlock, endSpan } from "./instrumentation.ts";
import { cancelled, errorType, failedWith, mark, type Outcome } from "./outcome.ts";
import type { ProviderMetrics } from "./provider-metrics.ts";
import type { RoundTrace } from "./round-trace.ts";
import type { Pending, RunTrace } from "./run-trace.ts";
import type { Tracing } from "./traces.ts";
import { usageAttributes } from "./usage.ts";

/** Telemetry of one generation: span, chunks, metrics. */
export class GenerationTrace implements StreamObserver, Pending {
  readonly #measure: Tracing;
  readonly #metrics: ProviderMetrics;
  readonly #request: GenerationRequest;
  readonly #run: string;
  readonly #agent: string;
  readonly #trace: RunTrace | undefined;
  readonly #round: RoundTrace | undefined;
  readonly #origin: Origin;
  readonly #span: Span;
  readonly context: Context;
  /** Undefined once nothing takes its rows any more. */
  #recorder: ChunkRecorder | undefined;
  readonly #output: Output | undefined;
  /** Parent of the chunk spans, created with the first block, so that UIs can collapse them and tools stay visible. */
  #stream: Span | undefined;
  readonly #between: Distribution;
  readonly #started = performance.now();
  #chunks = 0;
  #firstAt = 0;
  #lastAt = 0;
  /** The longest gap between two chunks, ms, and the chunk that ended it. */
  #maxGap = 0;
  #maxGapIndex = 0;
  /** The provider reports its chunks; otherwise each read counts as one chunk. */
  #reported = false;
  #usage: Usage | undefined;
  #finish: FinishReason | undefined;
  #outcome: Outcome | undefined;
  #ended = false;

  constructor(measure: Tracing, metrics: ProviderMetrics, request: GenerationRequest, context: GenerationContext) {
    this.#measure = measure;
    this.#metrics = metrics;
    this.#request = request;
    this.#between = metrics.between(request.model);
    this.#run = context.run;
    this.#agent = context.agent;
    this.#trace = measure.traces.open.get(context.run);
    this.#round = this.#trace?.round(context.round);
    this.#origin = this.#trace?.origin ?? originNow();
    if (this.#round !== undefined) this.#round.provider = metrics.who;
    const parent = this.#round?.span.spanContext() ?? parseTraceparent(context.traceparent);
    this.#span = measure.sdk.tracer.startSpan(
      `${spans.chat} ${request.model}`,
      {
        kind: SpanKind.CLIENT,
        startTime: this.#origin.time(this.#started),
        attributes: asked(request, context, metrics),
      },
      parent,
    );
    this.context = trace.setSpan(leanRoot, this.#span);
    if (this.#span.isRecording()) {
      if (measure.settings.chunks !== "metrics") this.#recorder = new ChunkRecorder(chunkLimit(measure.settings));
      if (measure.content.captured) this.#output = this.#captureInput();
    }
    this.#trace?.pending.add(this);
  }

  get traceparent(): string {
    return formatTraceparent(this.#span.spanContext());
  }

  streaming(value: boolean): void {
    this.#span.setAttribute(attributes.requestStream, value);
  }

  chunk(kind: ChunkKind, bytes: number, start: number, end: number): void {
    this.#reported = true;
    const gap = this.#chunks === 0 ? 0 : start - this.#lastAt;
    if (this.#chunks === 0) this.#firstAt = start;
    else this.#between.record(gap / 1_000);
    if (gap > this.#maxGap) {
      this.#maxGap = gap;
      this.#maxGapIndex = this.#chunks;
    }
    this.#chunks++;
    this.#lastAt = start;
    const series = this.#metrics.ofKind[kind];
    series.chunks.value++;
    series.bytes.value += bytes;
    const recorder = this.#recorder;
    if (recorder === undefined) return;
    if (recorder.rows.count >= blockRows) this.#emitFull(recorder);
    this.#recorder?.chunk(series.index, bytes, start, end);
  }

  accumulated(chunk: number, call: number, bytes: number, sealed: boolean, start: number, end: number): void {
    this.#metrics.accumulated.record((end - start) / 1_000);
    const recorder = this.#recorder;
    if (recorder === undefined) return;
    recorder.step(chunk < 0 && !this.#reported ? this.#chunks - 1 : chunk, call, bytes, sealed, start, end);
    if (recorder.steps.count >= blockSteps) this.#emitFull(recorder);
  }

  quirk(name: string): void {
    this.#metrics.quirk(name);
  }

  read(deltas: readonly Delta[]): void {
    if (!this.#reported) this.#countRead(deltas);
    for (const delta of deltas) {
      if (delta.type === "usage") this.#usage = mergeUsage(this.#usage, delta.usage);
      else if (delta.type === "done") this.#finish = delta.finish;
      else if (delta.type === "response") this.#response(delta.id, delta.model);
      else if (delta.type === "error") this.#outcome = failedWith(delta.error);
      this.#output?.push(delta);
    }
  }

  whole(generation: Generation): void {
    this.#usage = mergeUsage(undefined, generation.usage);
    this.#finish = generation.finish;
    this.#response(generation.id, generation.model);
    for (const part of generation.parts) {
      if (part.type === "text" || part.type === "reasoning") this.#output?.push({ type: part.type, text: part.text });
    }
  }

  /** The consumer stopped reading; not an abort if the generation had ended. */
  left(): void {
    this.end(this.#finish === undefined ? cancelled : undefined);
  }

  abandon(): void {
    this.left();
  }

  end(outcome: Outcome | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#trace?.pending.delete(this);
    const ending = this.#outcome ?? outcome ?? { kind: "good" };
    const now = performance.now();
    this.#recorder?.close();
    mark(this.#span, ending);
    if (this.#span.isRecording()) this.#describe();
    this.#trace?.generationEnded(this.#metrics.name, this.#request.model, this.#maxGap);
    if (this.#recorder !== undefined) {
      this.#emitChunks(this.#recorder);
      this.#recorder.release();
    }
    if (this.#stream !== undefined) {
      const until = Math.max(this.#lastAt, this.#recorder?.lastEnd ?? 0);
      this.#stream.setAttribute(attributes.chunks, this.#chunks);
      endSpan(this.#measure, this.#run, this.#stream, this.#origin.time(until));
    }
    this.#round?.touch();
    endSpan(this.#measure, this.#run, this.#span, this.#origin.time(now));
    const caller = { model: this.#request.model, agent: this.#agent, tenant: this.#trace?.tenant };
    this.#metrics.generation(caller, {
      error: errorType(ending),
      seconds: (now - this.#started) / 1_000,
      firstChunk: this.#chunks === 0 ? undefined : (this.#firstAt - this.#started) / 1_000,
      usage: this.#usage,
      within: this.#span.spanContext(),
    });
  }

  /** Stops recording when nothing takes the spans. */
  #emitFull(recorder: ChunkRecorder): void {
    if (areTaken(this.#measure, this.#run)) return this.#emitChunks(recorder);
    recorder.release();
    this.#recorder = undefined;
  }

  #countRead(deltas: readonly Delta[]): void {
    if (deltas.length === 0) return;
    let size = 0;
    let main = noKind;
    for (const delta of deltas) {
      const made = kindOfDelta[delta.type] ?? noKind;
      if (made.weight > main.weight) main = made;
      if ("text" in delta) size += delta.text.length;
      else if (delta.type === "tool_call") size += delta.arguments?.length ?? 0;
    }
    const now = performance.now();
    this.chunk(main.kind, size, now, now);
    this.#reported = false;
  }

  #response(id: string | undefined, model: string | undefined): void {
    if (id !== undefined) this.#span.setAttribute(attributes.responseId, id);
    if (model !== undefined) this.#span.setAttribute(attributes.responseModel, model);
  }

  #captureInput(): Output {
    const { content } = this.#measure;
    this.#span.setAttribute(attributes.inputMessages, content.input(this.#request.messages));
    const system = content.system(this.#request.messages);
    if (system !== undefined) this.#span.setAttribute(attributes.systemInstructions, system);
    return new Output();
  }

  #describe(): void {
    const said: Attributes = {};
    if (this.#finish !== undefined) said[attributes.finishReasons] = [this.#finish];
    if (this.#chunks > 0) {
      said[attributes.timeToFirstChunk] = Math.round((this.#firstAt - this.#started) * 1_000) / 1e6;
      said[attributes.chunks] = this.#chunks;
      said[attributes.maxGap] = Math.round(this.#maxGap * 1_000) / 1_000;
      if (this.#maxGap > 0) said[attributes.maxGapIndex] = this.#maxGapIndex;
    }
    const suppressed = this.#recorder?.suppressed ?? 0;
    if (suppressed > 0) said[attributes.suppressed] = suppressed;
    Object.assign(said, usageAttributes(this.#usage));
    if (this.#output !== undefined) {
      said[attributes.outputMessages] = this.#measure.content.json(this.#output.messages(this.#finish ?? "error"));
    }
    this.#span.setAttributes(said);
  }

  #emitChunks(recorder: ChunkRecorder): void {
    const { rows, steps } = recorder;
    if (rows.count === 0 && (this.#stream === undefined || steps.count === 0)) return;
    if (this.#measure.settings.chunks === "spans") {
      const startTime = this.#origin.time(this.#firstAt);
      this.#stream ??= this.#measure.sdk.tracer.startSpan(spans.stream, { startTime }, this.#span.spanContext());
      emitBlock(this.#measure, this.#run, chunkBlock(this.#stream.spanContext(), this.#origin, recorder));
    } else {
      for (const row of rowsOf(chunkBlock(this.#span.spanContext(), this.#origin, recorder))) {
        if (row.name === spans.chunk) this.#span.addEvent(row.name, row.attributes, this.#origin.time(row.start));
      }
    }
    recorder.clear();
  }
}

/** Attributes known before the request is sent, so that samplers see them. */
function asked(request: GenerationRequest, context: GenerationContext, metrics: ProviderMetrics): Attributes {
  const { options } = request;
  const known: Attributes = {
    [attributes.operation]: "chat",
    [attributes.provider]: metrics.name,
    [attributes.requestModel]: request.model,
    [attributes.agent]: context.agent,
    [attributes.providerKey]: metrics.key,
    ...metrics.server,
  };
  if (context.session !== undefined) known[attributes.conversation] = context.session;
  if (options.temperature !== undefined) known[attributes.requestTemperature] = options.temperature;
  if (options.topP !== undefined) known[attributes.requestTopP] = options.topP;
  if (options.maxTokens !== undefined) known[attributes.requestMaxTokens] = options.maxTokens;
  if (options.seed !== undefined) known[attributes.requestSeed] = options.seed;
  if (options.stop !== undefined) known[attributes.requestStop] = [...options.stop];
  if (options.reasoning?.effort !== undefined) known[attributes.requestReasoning] = options.reasoning.effort;
  return known;
}
