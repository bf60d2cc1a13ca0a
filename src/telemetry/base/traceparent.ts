import { type Context, type SpanContext, trace } from "@opentelemetry/api";
import { parseTraceParent } from "@opentelemetry/core";
import { traceparentOf } from "../../core/values/trace-context.ts";
import { leanRoot } from "./context.ts";

/** W3C trace context, in and out. An invalid header is ignored. */
export function parseTraceparent(header: string | undefined): SpanContext | undefined {
  const valid = traceparentOf(header);
  const parsed = valid === undefined ? null : parseTraceParent(valid);
  // Propagate only the sampled flag; the others belong to the sender.
  return parsed === null ? undefined : { ...parsed, traceFlags: parsed.traceFlags & 1, isRemote: true };
}

export const formatTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-0${traceFlags & 1}`;

export const contextOf = (parent: SpanContext | undefined): Context =>
  parent === undefined ? leanRoot : trace.setSpanContext(leanRoot, parent);
