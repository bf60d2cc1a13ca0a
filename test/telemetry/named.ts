import type { ReceivedSpan } from "./protobuf-reader.ts";

/** In the order they began. */
export const named = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan[] =>
  spans.filter((span) => span.name === name).sort((left, right) => Number(left.start - right.start));
