import type { ServerResponse } from "node:http";
import { isTerminal, type RunEvent, type TerminalEvent } from "../core/events.ts";

/** Aborts when the reader of a response leaves before it has been written whole. */
export function readerGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  if (response.destroyed) gone.abort();
  return gone.signal;
}

/** The event that ends a run, for a reader that wants no others. Undefined when the batches end before it. */
export async function terminalOf(batches: AsyncIterable<readonly RunEvent[]>): Promise<TerminalEvent | undefined> {
  for await (const batch of batches) {
    const last = batch.at(-1);
    if (last !== undefined && isTerminal(last)) return last;
  }
  return undefined;
}
