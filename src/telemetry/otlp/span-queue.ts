import { context, TraceFlags } from "@opentelemetry/api";
import { ExportResultCode, suppressTracing } from "@opentelemetry/core";
import { convertLegacyHttpOptions, createOtlpHttpExportDelegate } from "@opentelemetry/otlp-exporter-base/node-http";
import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan, SpanProcessor } from "@opentelemetry/sdk-trace";
import type { Drops } from "../metrics/drops.ts";
import type { Block } from "./block.ts";
import { ProtobufWriter } from "./protobuf.ts";
import { type EncodedRequest, type RequestFrame, requestFrame, TraceRequest } from "./trace-request.ts";

/** Maximum encoded bytes queued or in flight, so that a hanging collector cannot grow memory. */
const queueLimit = 10 * 1024 * 1024;
/** A request is sent when it reaches this many bytes or spans, or `delay` ms after its first span. */
const requestBytes = 768 * 1024;
const requestSpans = 4_096;
const delay = 1_000;
const inFlightLimit = 4;
/** Maximum spans kept before `open`. */
const earlyLimit = 4_096;
/** Initial size of a writer, which grows as needed. */
const firstCapacity = 64 * 1024;
/** A writer that grew beyond this is not reused. */
const maxCapacity = 2 * 1024 * 1024;

/** Export destination of a signal, in the format of the SDK's exporters. */
export interface OtlpTarget {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly timeoutMillis: number;
}

/** Exports spans, as SDK objects and as blocks, over the transport of the SDK's exporters. Losses are counted. */
export class SpanQueue implements SpanProcessor {
  readonly #version: string | undefined;
  readonly #drops: Drops;
  readonly #delegate: ReturnType<typeof createDelegate>;
  #frame: RequestFrame | undefined;
  /** Spans that ended before `open`. */
  #early: ReadableSpan[] = [];
  /** The request that spans are added to. */
  #request: TraceRequest | undefined;
  readonly #waiting: EncodedRequest[] = [];
  readonly #inFlight = new Set<Promise<void>>();
  /** Bytes queued and in flight. */
  #held = 0;
  /** Idle writers, for reuse: a new one per request, of about a megabyte, would wait for the garbage collector. */
  readonly #writers: ProtobufWriter[] = [];
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(target: OtlpTarget, version: string | undefined, drops: Drops) {
    this.#delegate = createDelegate(target);
    this.#version = version;
    this.#drops = drops;
  }

  /** Starts sending. The resource is known only after the providers that use this queue have detected it. */
  open(resource: Resource): void {
    this.#frame = requestFrame(resource, this.#version);
    const early = this.#early;
    this.#early = [];
    for (const span of early) this.onEnd(span);
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0 || !this.#admits(1)) return;
    if (this.#frame === undefined) this.#early.push(span);
    else this.#added(this.#open(this.#frame).addSpan(span));
  }

  /** Encodes the block immediately, so that its rows can be reused. There are no blocks before `open`. */
  add(block: Block): void {
    if (this.#frame !== undefined && this.#admits(block.size)) this.#added(this.#open(this.#frame).addBlock(block));
  }

  /** Resolves when everything queued has been sent or dropped. */
  async forceFlush(): Promise<void> {
    while (this.#request !== undefined || this.#waiting.length > 0 || this.#inFlight.size > 0) {
      this.#finish();
      this.#send();
      await Promise.race(this.#inFlight);
    }
  }

  async shutdown(): Promise<void> {
    this.#closed = true;
    await this.forceFlush();
    clearTimeout(this.#timer);
    await this.#delegate.shutdown();
  }

  #admits(count: number): boolean {
    if (this.#closed) return false;
    if (this.#held < queueLimit && this.#early.length < earlyLimit) return true;
    this.#drops.count("spans", "queue_full", count);
    return false;
  }

  #open(frame: RequestFrame): TraceRequest {
    this.#request ??= new TraceRequest(frame, this.#writers.pop() ?? new ProtobufWriter(firstCapacity));
    return this.#request;
  }

  #added(request: TraceRequest): void {
    if (request.size < requestBytes && request.count < requestSpans) {
      this.#timer ??= setTimeout(this.#onTimer, delay).unref();
      return;
    }
    this.#finish();
    this.#send();
  }

  /** While the collector is slow, the request grows instead. */
  readonly #onTimer = (): void => {
    this.#timer = undefined;
    if (this.#inFlight.size < inFlightLimit) this.#finish();
    this.#send();
  };

  #finish(): void {
    const request = this.#request;
    if (request === undefined) return;
    this.#request = undefined;
    const encoded = request.end();
    if (request.failed > 0) this.#drops.count("spans", "export_failed", request.failed);
    this.#held += encoded.bytes.length;
    this.#waiting.push(encoded);
  }

  #send(): void {
    while (this.#inFlight.size < inFlightLimit) {
      const encoded = this.#waiting.shift();
      if (encoded === undefined) return;
      const sending: Promise<void> = this.#export(encoded).then(() => {
        this.#inFlight.delete(sending);
        if (this.#request !== undefined) this.#timer ??= setTimeout(this.#onTimer, delay).unref();
        this.#send();
      });
      this.#inFlight.add(sending);
    }
  }

  /** Never rejects. Suppresses tracing: an instrumented HTTP client would create spans for the exports. */
  async #export(encoded: EncodedRequest): Promise<void> {
    const sent = await new Promise<boolean>((resolve) => {
      context.with(suppressTracing(context.active()), () =>
        this.#delegate.export(encoded, (result) => resolve(result.code === ExportResultCode.SUCCESS)),
      );
    }).catch(() => false);
    this.#held -= encoded.bytes.length;
    // After a failure the transport may still hold the bytes, and after an outage there are more writers than needed.
    if (sent && encoded.writer.capacity <= maxCapacity && this.#writers.length < inFlightLimit) {
      this.#writers.push(encoded.writer);
    }
    if (!sent) this.#drops.count("spans", "export_failed", encoded.count);
  }
}

function createDelegate(target: OtlpTarget) {
  return createOtlpHttpExportDelegate(
    convertLegacyHttpOptions(target, "TRACES", "v1/traces", {
      "Content-Type": "application/x-protobuf",
    }),
    {
      serializeRequest: ({ bytes }: EncodedRequest) => bytes,
      deserializeResponse: (data) => ProtobufTraceSerializer.deserializeResponse(data),
    },
    "otlp_http_span_exporter",
    { name: "span", countItems: ({ count }: EncodedRequest) => count },
    undefined,
  );
}
