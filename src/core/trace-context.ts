const traceparent = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;

/** The W3C trace context a request came with, when it is a valid one. */
export function traceparentOf(header: string | string[] | undefined): string | undefined {
  if (typeof header !== "string") return undefined;
  const match = traceparent.exec(header);
  if (match === null || /^0+$/.test(match[1] ?? "") || /^0+$/.test(match[2] ?? "")) return undefined;
  return header;
}
