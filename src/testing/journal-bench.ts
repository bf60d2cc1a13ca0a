import type { Append, Claim, Enqueue, Journal, Ownership } from "../core/journal/journal.ts";
import type { EventBody, RunEvent } from "../core/run/events.ts";
import { defaultTenant } from "../core/run/run-request.ts";

export interface JournalSubject {
  /** An empty journal. */
  open(options: { readonly lease: number }): Promise<Journal>;
  /** Another connection to the last opened journal, as a second replica. Absent when the engine lives in one process. */
  reopen?(options: { readonly lease: number }): Promise<Journal>;
}

let count = 0;
export const freshName = (kind: string): string => `${kind}_${process.pid}_${++count}`;

/** Opens journals for the cases and closes what they leave open. */
export class JournalBench {
  readonly #subject: JournalSubject;
  readonly #open: Journal[] = [];

  constructor(subject: JournalSubject) {
    this.#subject = subject;
  }

  async open(lease = 30_000): Promise<Journal> {
    const journal = await this.#subject.open({ lease });
    this.#open.push(journal);
    return journal;
  }

  /** A second replica of the last opened journal; the same object where the engine lives in one process. */
  async reopen(lease = 30_000): Promise<Journal> {
    const journal = await this.#subject.reopen?.({ lease });
    if (journal) this.#open.push(journal);
    const last = journal ?? this.#open.at(-1);
    if (!last) throw new Error("nothing has been opened yet");
    return last;
  }

  async close(): Promise<void> {
    for (const journal of this.#open.splice(0).reverse()) await journal.close();
  }
}

export const request = { agent: "assistant", input: { text: "hello" } };

export const enqueueing = (rest: Partial<Enqueue> = {}): Enqueue => ({
  run: freshName("run"),
  tenant: defaultTenant,
  session: undefined,
  request,
  ...rest,
});

/** A run just started by this worker. */
export async function claimed(journal: Journal, rest: Partial<Enqueue> = {}): Promise<Claim> {
  const worker = rest.claimFor ?? "worker-1";
  await journal.heartbeat(worker);
  const { claim } = await journal.enqueue(enqueueing({ claimFor: worker, ...rest }));
  if (!claim) throw new Error("the run was not claimed");
  return claim;
}

/** Events that continue the ownership; appending advances it. */
export function eventsAfter(ownership: Ownership, bodies: readonly EventBody[]): RunEvent[] {
  return bodies.map((body, index) => {
    const event = { ...body, run: ownership.run, seq: ownership.head + 1 + index, at: 1_700_000_000_000 + index };
    return event as RunEvent; // Completed above.
  });
}

export const text = (content: string): EventBody => ({ type: "text.delta", round: 1, text: content });
const timing = {
  providerWait: 0,
  providerStream: 0,
  retryWait: 0,
  tool: 0,
  approval: 0,
  client: 0,
  stalled: 0,
  runtime: 0,
};
export const end: EventBody = { type: "run.finished", finish: "stop", output: "", usage: {}, rounds: 1, timing };

/** Appends and, unless fenced, advances the ownership; returns whether it was stored. */
export async function put(
  journal: Journal,
  ownership: Ownership,
  bodies: readonly EventBody[],
  rest: Partial<Append> = {},
): Promise<boolean> {
  const events = eventsAfter(ownership, bodies);
  const fenced = await journal.append([{ ownership, events, ...rest }]);
  if (fenced.has(ownership)) return false;
  ownership.head += events.length;
  return true;
}

export const finish = (journal: Journal, ownership: Ownership): Promise<boolean> =>
  put(journal, ownership, [end], { state: "done" });

/** Tries again with longer and longer times: on a busy machine a short one runs out between two calls that take no time. */
export async function withTime(ms: number, attempt: (ms: number) => Promise<void>): Promise<void> {
  for (const longer of [ms, ms * 5]) {
    try {
      return await attempt(longer);
    } catch {
      // A journal at fault fails with the longest, too.
    }
  }
  await attempt(ms * 50);
}

/** Claims until it succeeds: leases expire by the engine's clock, which a test cannot move. */
export async function claimWhenFree(journal: Journal, worker: string): Promise<Claim> {
  for (;;) {
    const [claim] = await journal.claim(worker, 1);
    if (claim) return claim;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
