import { type Retry, sleep, waitOf } from "./backoff.ts";
import { ClientError } from "./client-error.ts";
import type { RunEvent, TerminalEvent } from "./events.ts";

/** `open`: events are flowing. `waiting`: the connection broke; the next attempt follows after a wait. */
export type ConnectionState = "connecting" | "open" | "waiting";

/** One connection: calls `opened` once established, then yields batches of events after `after`. Ends or throws when it breaks. */
export type Connect<Item> = (after: number, opened: () => void) => AsyncIterable<readonly Item[]>;

export interface FollowOptions {
  /** Last seq already known; 0: from the start. */
  readonly after?: number;
  readonly signal?: AbortSignal;
  /** Attempts without a new event before the error is thrown; default: unlimited. */
  readonly attempts?: number;
  readonly onConnection?: (state: ConnectionState, error?: ClientError) => void;
}

/** After this many wrong answers at one position, retrying is not expected to help. */
const mostFaults = 5;

export const isTerminal = (event: RunEvent | undefined): event is TerminalEvent =>
  event?.type === "run.finished" || event?.type === "run.failed";

/**
 * Yields every event after `after` once and in order, over as many connections as needed; ends after the run's last event. Duplicates are
 * dropped. If an event is missing, the connection is dropped and the next one starts after the last good event.
 */
export async function* resume(
  connect: Connect<RunEvent>,
  isOver: (seq: number) => Promise<boolean>,
  options: FollowOptions & { readonly retry: Retry },
): AsyncGenerator<readonly RunEvent[], void, undefined> {
  let seq = options.after ?? 0;
  let faults = 0;
  const checked = async function* (opened: () => void): AsyncGenerator<readonly RunEvent[]> {
    for await (const batch of connect(seq, opened)) {
      const fresh: RunEvent[] = [];
      let missing = false;
      for (const event of batch) {
        if (event.seq <= seq) continue;
        missing = event.seq !== seq + 1;
        if (missing) break;
        seq = event.seq;
        fresh.push(event);
        if (isTerminal(event)) break;
      }
      if (fresh.length > 0) {
        faults = 0;
        yield fresh;
      }
      if (isTerminal(fresh.at(-1))) return;
      if (!missing) continue;
      const code = ++faults < mostFaults ? "stream_error" : "record_invalid";
      throw new ClientError({ op: "run.follow", code, err: `the service did not send event ${seq + 1}` });
    }
    // A complete response without the terminal event: either the caller has it already, or an intermediary ended the stream.
    if (await isOver(seq)) return;
    throw new ClientError({ op: "run.follow", code: "stream_error", err: "the stream ended before the run" });
  };
  yield* reconnect(checked, options);
}

/** Reconnects after every transient failure. A connection that ends normally ends it. */
export async function* reconnect<Item>(
  connect: (opened: () => void) => AsyncIterable<readonly Item[]>,
  options: FollowOptions & { readonly retry: Retry },
): AsyncGenerator<readonly Item[], void, undefined> {
  const { signal, attempts = Number.POSITIVE_INFINITY, onConnection } = options;
  let failures = 0;
  for (;;) {
    signal?.throwIfAborted();
    onConnection?.("connecting");
    try {
      for await (const batch of connect(() => onConnection?.("open"))) {
        failures = 0;
        yield batch;
      }
      return;
    } catch (thrown) {
      signal?.throwIfAborted();
      const mayPass = thrown instanceof ClientError && thrown.retryable;
      if (!mayPass || ++failures >= attempts) throw thrown;
      onConnection?.("waiting", thrown);
      await sleep(waitOf(failures, options.retry, thrown.retryAfter), signal);
    }
  }
}
