/** Same rule as `@opentelemetry/core`: any version but ff; only versions after 00 may have more fields. */
const traceparent =
  /^(?:00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}|(?!00|ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.*)?)$/;

/** The W3C limits; a longer header is ignored. */
const longest = { tracestate: 512, baggage: 8_192 };

/** W3C trace context and baggage, received with a request and propagated to everything it causes. */
export interface TraceHeaders {
  readonly traceparent?: string;
  /** Vendor-specific trace state. */
  readonly tracestate?: string;
  /** Key-value pairs propagated to everything downstream. */
  readonly baggage?: string;
}

/** The request's W3C trace context, if valid. */
export function traceparentOf(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" && traceparent.test(header) ? header : undefined;
}

/** The trace headers to propagate to providers, tools and MCP servers. `tracestate` is meaningless without its parent. */
export function traceHeadersOf(headers: Readonly<Record<string, string | string[] | undefined>>): TraceHeaders {
  const parent = traceparentOf(headers.traceparent);
  return {
    ...(parent === undefined ? {} : { traceparent: parent, ...valid("tracestate", headers.tracestate) }),
    ...valid("baggage", headers.baggage),
  };
}

/** Picks the trace headers out of a larger object. */
export function traceHeadersIn({ traceparent: parent, tracestate, baggage }: TraceHeaders): Record<string, string> {
  return {
    ...(parent === undefined ? {} : { traceparent: parent }),
    ...(parent === undefined || tracestate === undefined ? {} : { tracestate }),
    ...(baggage === undefined ? {} : { baggage }),
  };
}

/** What stays constant downstream of the caller's trace context; `traceparent` changes with each span. */
export const callerTrace = ({ tracestate, baggage }: TraceHeaders): Omit<TraceHeaders, "traceparent"> => ({
  ...(tracestate === undefined ? {} : { tracestate }),
  ...(baggage === undefined ? {} : { baggage }),
});

function valid(name: "tracestate" | "baggage", header: string | string[] | undefined): Record<string, string> {
  const text = Array.isArray(header) ? header.join(",") : header;
  if (text === undefined || text === "" || text.length > longest[name] || !/^[\x20-\x7e]+$/.test(text)) return {};
  return { [name]: text };
}
