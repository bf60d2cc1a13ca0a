import { MemoryJournal } from "../../plugins/memory/journal.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Append, Claim, Journal, Ownership } from "../../src/core/journal/journal.ts";
import { systemClock } from "../../src/core/ports/clock.ts";
import type { EventBody, RunEvent } from "../../src/core/run/events.ts";
import { Committer } from "../../src/journal/committer.ts";
import { Followers } from "../../src/journal/followers.ts";

export const memory = (lease = 10_000) => new MemoryJournal({ clock: systemClock, keep: 1_000, lease });

let count = 0;
export const freshRun = (): string => `run_${++count}`;

export async function claimed(journal: Journal, worker = "w1", session?: string): Promise<Claim> {
  const run = freshRun();
  await journal.heartbeat(worker);
  const { claim } = await journal.enqueue({
    run,
    tenant: "default",
    session,
    request: { agent: "a", input: { text: "hi" } },
    claimFor: worker,
  });
  if (!claim) throw new Error("the session was busy");
  return claim;
}

export const started = (): EventBody => ({ type: "run.started", agent: "a", input: { text: "hi" } });
export const delta = (text: string): EventBody => ({ type: "text.delta", round: 1, text });
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
export const finished = (output = ""): EventBody => ({
  type: "run.finished",
  finish: "stop",
  output,
  usage: {},
  rounds: 1,
  timing,
});

/** A journal whose appends wait until they are let through, and fail as often as told. */
export class GatedJournal extends MemoryJournal {
  readonly batches: (readonly Append[])[] = [];
  failures = 0;
  gate: Promise<void> | undefined;
  loseAnswer = false;

  override async append(batch: readonly Append[]): Promise<ReadonlySet<Ownership>> {
    this.batches.push(batch);
    await this.gate;
    if (this.failures > 0) {
      this.failures -= 1;
      if (this.loseAnswer) await super.append(batch);
      throw new VenturiError("journal.append", "journal_failed", "the engine is down");
    }
    return super.append(batch);
  }

  /** Holds appends back; the result lets them go. */
  shut(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.gate = promise;
    return () => {
      this.gate = undefined;
      resolve();
    };
  }
}
export const gated = () => new GatedJournal({ clock: systemClock, keep: 1_000, lease: 10_000 });

export function pair(
  journal: Journal,
  options: { patience?: number; maxQueued?: number; page?: number; maxUncommitted?: number } = {},
) {
  const followers = new Followers({ journal, ...options });
  const committer = new Committer({ journal, listener: followers, ...options });
  return { followers, committer };
}

/** Waits for the first batch and stops following: a follower that is left open polls for ever. */
export async function firstOf(batches: AsyncIterable<readonly RunEvent[]>): Promise<void> {
  for await (const _batch of batches) return;
}

export async function collect(batches: AsyncIterable<readonly RunEvent[]>): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const batch of batches) events.push(...batch);
  return events;
}

export const seqs = (events: readonly RunEvent[]): number[] => events.map((event) => event.seq);
export const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
