import type { HrTime, SpanContext } from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { writeAttributes } from "./attributes.ts";
import { field, type ProtobufWriter } from "./protobuf.ts";

/**
 * Writes an SDK span as a Span (opentelemetry/proto/trace/v1/trace.proto) of a ScopeSpans. The SDK's serializer makes two passes to know
 * the lengths, which took a twentieth of a short run's CPU time.
 */
export function writeSpan(writer: ProtobufWriter, span: ReadableSpan): void {
  const start = writer.open(field(2));
  const context = span.spanContext();
  writeContext(writer, context);
  if (span.parentSpanContext?.spanId) writer.id(field(4), span.parentSpanContext.spanId);
  writer.text(field(5), span.name);
  writeCount(writer, field(6, 0), span.kind + 1); // OTLP counts kinds from 1, the API from 0.
  writeTime(writer, field(7, 1), span.startTime);
  writeTime(writer, field(8, 1), span.endTime);
  writeAttributes(writer, field(9), span.attributes);
  writeCount(writer, field(10, 0), span.droppedAttributesCount);
  for (const event of span.events) writeEvent(writer, event);
  writeCount(writer, field(12, 0), span.droppedEventsCount);
  for (const link of span.links) writeLink(writer, link);
  writeCount(writer, field(14, 0), span.droppedLinksCount);
  writeStatus(writer, span.status);
  writeFlags(writer, field(16, 5), context.traceFlags, span.parentSpanContext?.isRemote);
  writer.close(start);
}

function writeEvent(writer: ProtobufWriter, event: ReadableSpan["events"][number]): void {
  const start = writer.open(field(11));
  writeTime(writer, field(1, 1), event.time);
  writer.text(field(2), event.name);
  writeAttributes(writer, field(3), event.attributes ?? {});
  writeCount(writer, field(4, 0), event.droppedAttributesCount ?? 0);
  writer.close(start);
}

function writeLink(writer: ProtobufWriter, link: ReadableSpan["links"][number]): void {
  const start = writer.open(field(13));
  writeContext(writer, link.context);
  writeAttributes(writer, field(4), link.attributes ?? {});
  writeCount(writer, field(5, 0), link.droppedAttributesCount ?? 0);
  writeFlags(writer, field(6, 5), link.context.traceFlags, link.context.isRemote);
  writer.close(start);
}

function writeStatus(writer: ProtobufWriter, { code, message }: ReadableSpan["status"]): void {
  const start = writer.open(field(15));
  if (message) writer.text(field(2), message);
  writeCount(writer, field(3, 0), code);
  writer.close(start);
}

function writeContext(writer: ProtobufWriter, { traceId, spanId, traceState }: SpanContext): void {
  writer.id(field(1), traceId);
  writer.id(field(2), spanId);
  const state = traceState?.serialize();
  if (state) writer.text(field(3), state);
}

/** Zero is the default and not sent. */
function writeCount(writer: ProtobufWriter, tag: number, value: number): void {
  if (value === 0) return;
  writer.byte(tag);
  writer.varint(value);
}

const two16 = 0x1_0000;
const two32 = 0x1_0000_0000;

/** Nanoseconds since the epoch exceed a double's precision, so the halves of the seconds are multiplied separately. */
function writeTime(writer: ProtobufWriter, tag: number, time: HrTime): void {
  const seconds = time[0]; // Destructuring an array creates an iterator until the code is optimised.
  const nanos = time[1];
  const upper = Math.floor(seconds / two16) * 1e9;
  const lower = (seconds % two16) * 1e9 + nanos;
  writer.byte(tag);
  writer.putFixed64(
    writer.hole(8),
    Math.floor(upper / two16) + Math.floor(lower / two32),
    (upper % two16) * two16 + (lower % two32),
  );
}

/** Flag: it is known whether the parent is remote. */
export const hasIsRemote = 0x100;
const isRemote = 0x200;

/** `remote`: whether the parent or linked span is remote. */
function writeFlags(writer: ProtobufWriter, tag: number, traceFlags: number, remote: boolean | undefined): void {
  writer.varint(tag);
  writer.putFixed32(writer.hole(4), (traceFlags & 0xff) | hasIsRemote | (remote ? isRemote : 0));
}
