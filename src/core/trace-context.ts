/** As `@opentelemetry/core` reads it: any version but ff; only a later version than 00 may have more fields. */
const traceparent =
  /^(?:00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}|(?!00|ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.*)?)$/;

/** The W3C limits; a longer header is as good as none. */
const longest = { tracestate: 512, baggage: 8_192 };

/** W3C trace context and baggage, as they came in with a request and go out with what it causes. */
export interface TraceHeaders {
  readonly traceparent?: string;
  /** What vendors of tracing add to it. */
  readonly tracestate?: string;
  /** Pairs that the caller wants to reach everything below. */
  readonly baggage?: string;
}

/** The W3C trace context a request came with, when it is a valid one. */
export function traceparentOf(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" && traceparent.test(header) ? header : undefined;
}

/** What of a request's headers goes on to providers, tools and MCP servers. A `tracestate` means nothing without its parent. */
export function traceHeadersOf(headers: Readonly<Record<string, string | string[] | undefined>>): TraceHeaders {
  const parent = traceparentOf(headers.traceparent);
  return {
    ...(parent === undefined ? {} : { traceparent: parent, ...valid("tracestate", headers.tracestate) }),
    ...valid("baggage", headers.baggage),
  };
}

/** The headers alone, of whatever else carries them. */
export function traceHeadersIn({ traceparent: parent, tracestate, baggage }: TraceHeaders): Record<string, string> {
  return {
    ...(parent === undefined ? {} : { traceparent: parent }),
    ...(parent === undefined || tracestate === undefined ? {} : { tracestate }),
    ...(baggage === undefined ? {} : { baggage }),
  };
}

/** What of the caller's trace context stays the same all the way down; `traceparent` changes from span to span. */
export const callerTrace = ({ tracestate, baggage }: TraceHeaders): Omit<TraceHeaders, "traceparent"> => ({
  ...(tracestate === undefined ? {} : { tracestate }),
  ...(baggage === undefined ? {} : { baggage }),
});

function valid(name: "tracestate" | "baggage", header: string | string[] | undefined): Record<string, string> {
  const text = Array.isArray(header) ? header.join(",") : header;
  if (text === undefined || text === "" || text.length > longest[name] || !/^[\x20-\x7e]+$/.test(text)) return {};
  return { [name]: text };
}
