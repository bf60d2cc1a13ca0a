import type { InstrumentationScope } from "@opentelemetry/core";
import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { Block } from "../chunk-spans/block.ts";
import { writeBlock } from "../chunk-spans/encoder.ts";
import { scopeOf } from "../names.ts";
import { writeAttributes } from "./attributes.ts";
import { field, ProtobufWriter } from "./protobuf.ts";
import { writeSpan } from "./span-encoder.ts";

const usualRow = 224;
const usualSpan = 1_024;

/** Spans of one request. */
export interface Batch {
  /** Objects of the SDK: ours and those of instrumentations and tools. */
  readonly spans: readonly ReadableSpan[];
  readonly blocks: readonly Block[];
}

/** Number of spans. */
export const countOf = ({ spans, blocks }: Batch): number =>
  blocks.reduce((sum, block) => sum + block.size, spans.length);

/** Encodes an OTLP ExportTraceServiceRequest (opentelemetry/proto/collector/trace/v1/trace_service.proto). */
export class TraceRequest {
  /** The same in every request, so encoded once. */
  readonly #resource: Uint8Array;
  readonly #schemaUrl: string;
  readonly #own: InstrumentationScope;

  constructor(resource: Resource, version: string | undefined) {
    const writer = new ProtobufWriter(1_024);
    const start = writer.open(field(1));
    writeAttributes(writer, field(1), resource.attributes);
    writer.close(start);
    this.#resource = writer.written.slice();
    this.#schemaUrl = resource.schemaUrl ?? "";
    this.#own = scopeOf(version);
  }

  encode({ spans, blocks }: Batch): Uint8Array {
    const rows = blocks.reduce((sum, block) => sum + block.size, 0);
    const writer = new ProtobufWriter(rows * usualRow + spans.length * usualSpan + 4_096);
    const start = writer.open(field(1));
    writer.raw(this.#resource);
    if (blocks.length > 0) writeScope(writer, this.#own, blocks, writeBlock);
    for (const [from, its] of Map.groupBy(spans, (span) => span.instrumentationScope)) {
      writeScope(writer, from, its, writeSpan);
    }
    if (this.#schemaUrl !== "") writer.text(field(3), this.#schemaUrl);
    writer.close(start);
    return writer.written;
  }
}

function writeScope<T>(
  writer: ProtobufWriter,
  from: InstrumentationScope,
  items: readonly T[],
  write: (writer: ProtobufWriter, item: T) => void,
): void {
  const start = writer.open(field(2));
  const header = writer.open(field(1));
  writer.text(field(1), from.name);
  if (from.version) writer.text(field(2), from.version);
  writer.close(header);
  for (const item of items) write(writer, item);
  if (from.schemaUrl) writer.text(field(3), from.schemaUrl);
  writer.close(start);
}
