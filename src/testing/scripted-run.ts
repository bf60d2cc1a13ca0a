import type { Signal } from "../core/journal/journal.ts";
import type { Timing } from "../core/run/event-fields.ts";
import type { EventBody, EventOf, RunEvent } from "../core/run/events.ts";
import type { Feedback } from "../core/run/feedback.ts";
import { questionsOpened } from "../core/run/questions.ts";
import type { RunRequest } from "../core/run/run-request.ts";
import type { RunRow } from "../core/run/run-row.ts";

export interface Turn {
  readonly request: RunRequest;
  readonly run: string;
  readonly signal: AbortSignal;
  /** Writes events; those of one call reach followers as one batch. */
  emit(...events: EventBody[]): void;
  /** The next signal of this kind that the run receives. */
  received(kind: Signal["kind"]): Promise<Signal>;
}

/** An agent's behaviour. The return value goes into the terminal event; an exception becomes `run.failed`. */
export type Script = (turn: Turn) => Promise<Partial<EventOf<"run.finished">> | undefined>;

export interface Entry {
  readonly row: { -readonly [K in keyof RunRow]: RunRow[K] };
  readonly events: RunEvent[];
  readonly abort: AbortController;
  readonly signals: Signal[];
  readonly feedback: Feedback[];
  wake: Set<() => void>;
  output: string;
}

export const usage = { inputTokens: 3, outputTokens: 5 };
export const timing: Timing = {
  providerWait: 1,
  providerStream: 2,
  retryWait: 0,
  tool: 0,
  approval: 0,
  client: 0,
  stalled: 0,
  runtime: 1,
};

export function emit(entry: Entry, bodies: readonly EventBody[]): void {
  for (const body of bodies) {
    if (body.type === "text.delta") entry.output += body.text;
    // Body and position make up an event.
    entry.events.push({ ...body, run: entry.row.run, seq: ++entry.row.head, at: Date.now() } as RunEvent);
  }
  entry.row.asking += questionsOpened(entry.events.slice(entry.events.length - bodies.length));
  entry.row.updatedAt = Date.now();
  wake(entry);
}

export function wake(entry: Entry): void {
  const waiting = entry.wake;
  entry.wake = new Set();
  for (const callback of waiting) callback();
}

export function woken(entry: Entry, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      entry.wake.delete(done);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    entry.wake.add(done);
    signal?.addEventListener("abort", done, { once: true });
  });
}

export async function received(entry: Entry, kind: Signal["kind"]): Promise<Signal> {
  for (;;) {
    const signal = entry.signals.find((candidate) => candidate.kind === kind);
    if (signal !== undefined) return signal;
    await woken(entry, undefined);
  }
}
