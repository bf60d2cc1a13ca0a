/** As `@opentelemetry/core` reads it: any version but ff; only a later version than 00 may have more fields. */
const traceparent =
  /^(?:00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}|(?!00|ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.*)?)$/;

/** The W3C trace context a request came with, when it is a valid one. */
export function traceparentOf(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" && traceparent.test(header) ? header : undefined;
}
