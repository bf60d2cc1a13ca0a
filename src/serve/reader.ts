import type { ServerResponse } from "node:http";
import { isTerminal, type RunEvent, type TerminalEvent } from "../core/run/events.ts";

/** Aborts when the client disconnects before the response is complete. */
export function readerGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  if (response.destroyed) gone.abort();
  return gone.signal;
}

/** The run's terminal event, for a reader that needs nothing else. Undefined when the batches end before it. */
export async function terminalOf(batches: AsyncIterable<readonly RunEvent[]>): Promise<TerminalEvent | undefined> {
  for await (const batch of batches) {
    const last = batch.at(-1);
    if (last !== undefined && isTerminal(last)) return last;
  }
  return undefined;
}
