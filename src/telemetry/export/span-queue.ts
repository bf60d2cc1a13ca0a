import { context, TraceFlags } from "@opentelemetry/api";
import { ExportResultCode, suppressTracing } from "@opentelemetry/core";
import { convertLegacyHttpOptions, createOtlpHttpExportDelegate } from "@opentelemetry/otlp-exporter-base/node-http";
import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan, SpanProcessor } from "@opentelemetry/sdk-trace";
import type { Block } from "../chunk-spans/block.ts";
import type { Drops } from "../sdk/drops.ts";
import { type Batch, countOf, TraceRequest } from "./trace-request.ts";

/** In rows of blocks. */
const queueLimit = 65_536;
const batchLimit = 4_096;
/** A span object takes several times the memory and the encoding time of a row. */
const objectWeight = 4;
const delay = 1_000;
const inFlightLimit = 4;

/** Export destination of a signal, in the exporters' format. */
export interface OtlpTarget {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly timeoutMillis: number;
}

/** Exports spans, as objects of the SDK and as blocks, over the transport of the SDK's exporters. Losses are counted. */
export class SpanQueue implements SpanProcessor {
  readonly #target: OtlpTarget;
  readonly #version: string | undefined;
  readonly #drops: Drops;
  #delegate: ReturnType<typeof createDelegate> | undefined;
  #spans: ReadableSpan[] = [];
  #blocks: Block[] = [];
  /** Weight of everything queued or in flight, so that a hanging collector cannot grow memory. */
  #weight = 0;
  #queued = 0;
  readonly #inFlight = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(target: OtlpTarget, version: string | undefined, drops: Drops) {
    this.#target = target;
    this.#version = version;
    this.#drops = drops;
  }

  /** Starts sending: the resource is known only after the providers that use this queue have detected it. */
  open(resource: Resource): void {
    this.#delegate = createDelegate(this.#target, new TraceRequest(resource, this.#version));
    if (this.#queued > 0) this.#schedule();
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0 || !this.#admits(objectWeight, 1)) return;
    this.#spans.push(span);
    this.#added(objectWeight);
  }

  add(block: Block): void {
    if (!this.#admits(block.size, block.size)) return;
    this.#blocks.push(block);
    this.#added(block.size);
  }

  /** Resolves when everything queued has been sent or dropped. */
  async forceFlush(): Promise<void> {
    while (this.#delegate !== undefined && (this.#queued > 0 || this.#inFlight.size > 0)) {
      this.#send();
      await Promise.race(this.#inFlight);
    }
  }

  async shutdown(): Promise<void> {
    this.#closed = true;
    await this.forceFlush();
    clearTimeout(this.#timer);
    await this.#delegate?.shutdown();
  }

  #admits(weight: number, count: number): boolean {
    if (this.#closed) return false;
    if (this.#weight + weight <= queueLimit) return true;
    this.#drops.count("spans", "queue_full", count);
    return false;
  }

  #added(weight: number): void {
    this.#weight += weight;
    this.#queued += weight;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#queued >= batchLimit) this.#send();
    else if (this.#queued > 0) this.#timer ??= setTimeout(() => this.#send(), delay).unref();
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#delegate !== undefined && this.#queued > 0 && this.#inFlight.size < inFlightLimit) {
      const sending: Promise<void> = this.#export(this.#delegate, this.#take()).then(() => {
        this.#inFlight.delete(sending);
        this.#schedule();
      });
      this.#inFlight.add(sending);
    }
  }

  #take(): Batch {
    const spans = this.#spans.splice(0, batchLimit / objectWeight);
    let weight = spans.length * objectWeight;
    let count = 0;
    while (count < this.#blocks.length && weight < batchLimit) weight += this.#blocks[count++]?.size ?? 0;
    this.#queued -= weight;
    return { spans, blocks: this.#blocks.splice(0, count) };
  }

  /** Never rejects. Without tracing, or an instrumented HTTP client would make spans of the exports. */
  async #export(delegate: ReturnType<typeof createDelegate>, batch: Batch): Promise<void> {
    const sent = await new Promise<boolean>((resolve) => {
      context.with(suppressTracing(context.active()), () =>
        delegate.export(batch, (result) => resolve(result.code === ExportResultCode.SUCCESS)),
      );
    }).catch(() => false);
    this.#weight -= weightOf(batch);
    if (!sent) this.#drops.count("spans", "export_failed", countOf(batch));
  }
}

const weightOf = (batch: Batch): number => countOf(batch) + batch.spans.length * (objectWeight - 1);

function createDelegate(target: OtlpTarget, request: TraceRequest) {
  return createOtlpHttpExportDelegate(
    convertLegacyHttpOptions(target, "TRACES", "v1/traces", {
      "Content-Type": "application/x-protobuf",
    }),
    {
      serializeRequest: (batch: Batch) => request.encode(batch),
      deserializeResponse: (data) => ProtobufTraceSerializer.deserializeResponse(data),
    },
    "otlp_http_span_exporter",
    { name: "span", countItems: countOf },
    undefined,
  );
}
