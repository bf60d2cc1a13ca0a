import type { InstrumentationScope } from "@opentelemetry/core";
import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { keepOne } from "../../core/values/keep-one.ts";
import { scopeOf } from "../base/names.ts";
import { writeAttributes } from "./attributes.ts";
import type { Block } from "./block.ts";
import { writeBlock } from "./encoder.ts";
import { field, ProtobufWriter } from "./protobuf.ts";
import { writeSpan } from "./span-encoder.ts";

/** What all requests share. */
export interface RequestFrame {
  /** The encoded resource. */
  readonly resource: Uint8Array;
  readonly schemaUrl: string;
  /** Scope of our own spans. */
  readonly scope: InstrumentationScope;
}

export function requestFrame(resource: Resource, version: string | undefined): RequestFrame {
  const writer = new ProtobufWriter(1_024);
  const start = writer.open(field(1));
  writeAttributes(writer, field(1), resource.attributes);
  writer.close(start);
  return { resource: writer.written.slice(), schemaUrl: resource.schemaUrl ?? "", scope: scopeOf(version) };
}

export interface EncodedRequest {
  readonly bytes: Uint8Array;
  /** Number of spans. */
  readonly count: number;
  /** Owns the bytes. */
  readonly writer: ProtobufWriter;
}

/**
 * An OTLP ExportTraceServiceRequest (opentelemetry/proto/collector/trace/v1/trace_service.proto). Our own spans are encoded when added, so
 * that nothing holds them until the request is sent, and encoding is not one long pause.
 */
export class TraceRequest {
  /** Number of spans. */
  count = 0;
  /** Spans left out because they cannot be encoded, for example due to a throwing getter. */
  failed = 0;
  readonly #frame: RequestFrame;
  readonly #writer: ProtobufWriter;
  readonly #start: number;
  #own: number | undefined;
  /** Spans of instrumentations and tools. */
  readonly #others: ReadableSpan[] = [];

  constructor(frame: RequestFrame, writer: ProtobufWriter) {
    writer.reset();
    this.#frame = frame;
    this.#writer = writer;
    this.#start = writer.open(field(1));
    writer.raw(frame.resource);
    keepOne(this);
  }

  /** Bytes so far, without the spans of others. */
  get size(): number {
    return this.#writer.at;
  }

  addBlock(block: Block): this {
    this.#own ??= openScope(this.#writer, this.#frame.scope);
    writeBlock(this.#writer, block);
    this.count += block.size;
    return this;
  }

  addSpan(span: ReadableSpan): this {
    if (isSame(span.instrumentationScope, this.#frame.scope)) {
      this.#own ??= openScope(this.#writer, this.#frame.scope);
      this.#write(span);
    } else {
      this.#others.push(span);
      this.count += 1;
    }
    return this;
  }

  end(): EncodedRequest {
    const writer = this.#writer;
    if (this.#own !== undefined) closeScope(writer, this.#frame.scope, this.#own);
    for (const [scope, spans] of Map.groupBy(this.#others, (span) => span.instrumentationScope)) {
      const start = openScope(writer, scope);
      this.count -= spans.length;
      for (const span of spans) this.#write(span);
      closeScope(writer, scope, start);
    }
    if (this.#frame.schemaUrl !== "") writer.text(field(3), this.#frame.schemaUrl);
    writer.close(this.#start);
    return { bytes: writer.written, count: this.count, writer };
  }

  #write(span: ReadableSpan): void {
    const before = this.#writer.at;
    try {
      writeSpan(this.#writer, span);
      this.count += 1;
    } catch {
      this.#writer.reset(before);
      this.failed += 1;
    }
  }
}

const isSame = (one: InstrumentationScope, other: InstrumentationScope): boolean =>
  one === other || (one.name === other.name && one.version === other.version && one.schemaUrl === other.schemaUrl);

function openScope(writer: ProtobufWriter, { name, version }: InstrumentationScope): number {
  const start = writer.open(field(2));
  const header = writer.open(field(1));
  writer.text(field(1), name);
  if (version) writer.text(field(2), version);
  writer.close(header);
  return start;
}

function closeScope(writer: ProtobufWriter, { schemaUrl }: InstrumentationScope, start: number): void {
  if (schemaUrl) writer.text(field(3), schemaUrl);
  writer.close(start);
}
