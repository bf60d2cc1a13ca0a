import { VenturiError } from "../core/errors/errors.ts";
import type { Cursor, Hint, Journal, Ownership } from "../core/journal/journal.ts";
import { type Clock, systemClock } from "../core/ports/clock.ts";
import type { RunEvent } from "../core/run/events.ts";
import { mayBeCut } from "../core/run/page.ts";
import type { CommitListener } from "./committer.ts";
import { Follower } from "./follower.ts";

export interface FollowersOptions {
  readonly journal: Journal;
  readonly clock?: Clock;
  /** Polling interval for runs of other processes without hints, ms. */
  readonly poll?: number;
  /** Maximum number of events queued for one slow reader. */
  readonly maxQueued?: number;
  /** Events per read from the store. */
  readonly page?: number;
  /** How long a failing engine is retried before the reader gets an error, ms. */
  readonly patience?: number;
}

/**
 * All readers of runs. Events written by this process are handed over on commit, without a read. For other runs, one `readMany`
 * follows each hint, and a poll every second, so that a lost hint costs a second and not a stream.
 */
export class Followers implements CommitListener {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #poll: number;
  readonly #maxQueued: number;
  readonly #page: number;
  readonly #patience: number;
  readonly #byRun = new Map<string, Set<Follower>>();
  /** Runs owned by this process; the committer hands over their events. */
  readonly #local = new Map<string, Ownership>();
  /** Runs with readers that other processes write. */
  readonly #remote = new Set<string>();
  readonly #wanted = new Set<string>();
  #reading = false;
  #closed = false;
  #reason: VenturiError | undefined;
  #stopWatching: (() => void) | undefined;
  #stopTimer: (() => void) | undefined;

  constructor(options: FollowersOptions) {
    this.#journal = options.journal;
    this.#clock = options.clock ?? systemClock;
    this.#poll = options.poll ?? 1_000;
    this.#maxQueued = options.maxQueued ?? 2_048;
    this.#page = options.page ?? 512;
    this.#patience = options.patience ?? 60_000;
  }

  /** All events after `after` in committed batches, first stored, then live; ends after the terminal event or when aborted. */
  follow(run: string, options: { readonly after?: number; readonly signal?: AbortSignal } = {}): Follower {
    const after = options.after ?? 0;
    const local = this.#local.get(run);
    const follower = new Follower(run, {
      journal: this.#journal,
      clock: this.#clock,
      after,
      current: local !== undefined && after === local.head,
      maxQueued: this.#maxQueued,
      page: this.#page,
      patience: this.#patience,
      signal: options.signal,
      left: (gone) => this.#remove(gone),
    });
    if (this.#closed) follower.return();
    else if (this.#reason !== undefined) follower.cut(this.#reason);
    else if (!options.signal?.aborted) this.#add(follower);
    return follower;
  }

  /** Waits for the run's terminal event, or until `cut`: the run's next owner then writes it. */
  async ended(run: string, after: number): Promise<void> {
    try {
      for await (const _batch of this.follow(run, { after }));
    } catch (thrown) {
      if (thrown !== this.#reason) throw thrown;
    }
  }

  /** Number of readers. */
  get size(): number {
    let count = 0;
    for (const followers of this.#byRun.values()) count += followers.size;
    return count;
  }

  opened(ownership: Ownership): Iterable<Follower> {
    this.#local.set(ownership.run, ownership);
    this.#remote.delete(ownership.run);
    this.#watch();
    const followers = this.#followersOf(ownership.run);
    // Events another process wrote between the last read and this claim are not handed over by the committer.
    for (const follower of followers) if (follower.position < ownership.head) follower.miss();
    return followers;
  }

  closed(ownership: Ownership): void {
    if (this.#local.get(ownership.run) !== ownership) return;
    this.#local.delete(ownership.run);
    const followers = this.#byRun.get(ownership.run);
    if (followers === undefined) return;
    if (followers.size === 0) this.#byRun.delete(ownership.run);
    // These readers have the run's last event, so nothing more can come from elsewhere.
    if ([...followers].every(({ complete }) => complete)) return;
    this.#remote.add(ownership.run);
    this.#watch();
    this.#look([ownership.run]);
  }

  /** Ends all readers. Later ones end at once: the journal is closed next. */
  close(): void {
    this.#closed = true;
    for (const follower of this.#all()) follower.return();
  }

  /** As `close`, while runs go on elsewhere: readers that do not have the end of their run yet get the reason, and so do later ones. */
  cut(reason: VenturiError): void {
    this.#reason = reason;
    for (const follower of this.#all()) follower.cut(reason);
  }

  #all(): Follower[] {
    return [...this.#byRun.values()].flatMap((followers) => [...followers]);
  }

  #add(follower: Follower): void {
    const { run } = follower;
    this.#followersOf(run).add(follower);
    if (this.#local.has(run)) return;
    this.#remote.add(run);
    this.#watch();
  }

  #remove(follower: Follower): void {
    const followers = this.#byRun.get(follower.run);
    if (!followers?.delete(follower) || followers.size > 0 || this.#local.has(follower.run)) return;
    this.#byRun.delete(follower.run);
    this.#remote.delete(follower.run);
    this.#watch();
  }

  #followersOf(run: string): Set<Follower> {
    let followers = this.#byRun.get(run);
    if (followers === undefined) {
      followers = new Set();
      this.#byRun.set(run, followers);
    }
    return followers;
  }

  /** Hints and polling cost something, so they run only while somebody follows a run of another process. */
  #watch(): void {
    if (this.#remote.size === 0) {
      this.#stopWatching?.();
      this.#stopTimer?.();
      this.#stopWatching = undefined;
      this.#stopTimer = undefined;
      return;
    }
    this.#stopWatching ??= this.#journal.onHint((hint) => this.#onHint(hint));
    this.#stopTimer ??= this.#clock.after(this.#poll, () => {
      this.#stopTimer = undefined;
      this.#look(this.#remote);
      this.#watch();
    });
  }

  #onHint(hint: Hint): void {
    const concerned: string[] = [];
    for (const run of this.#remote) if (hint.events(run)) concerned.push(run);
    this.#look(concerned);
  }

  #look(runs: Iterable<string>): void {
    for (const run of runs) this.#wanted.add(run);
    if (this.#reading || this.#wanted.size === 0) return;
    this.#reading = true;
    this.#readWanted().then(() => {
      this.#reading = false;
      this.#look([]);
    });
  }

  async #readWanted(): Promise<void> {
    const cursors = this.#cursors();
    this.#wanted.clear();
    if (cursors.length === 0) return;
    for (const [run, events] of await this.#readMany(cursors)) {
      const followers = this.#byRun.get(run);
      if (!followers || events.length === 0) continue;
      for (const follower of [...followers]) follower.hand(events);
      if (events.length >= this.#page || mayBeCut(events)) this.#wanted.add(run);
    }
  }

  async #readMany(cursors: readonly Cursor[]): Promise<Map<string, RunEvent[]>> {
    try {
      return await this.#journal.readMany(cursors, this.#page);
    } catch (thrown) {
      // A damaged run must not block the others' readers: each reads on its own and gets its own error.
      const damaged = VenturiError.isInstance(thrown) && thrown.code === "record_invalid";
      if (damaged) for (const { run } of cursors) for (const follower of this.#byRun.get(run) ?? []) follower.miss();
      return new Map(); // The poll retries; readers that read by themselves report the error.
    }
  }

  /** One cursor per run, at its least advanced idle reader; the others skip what they already have. */
  #cursors(): Cursor[] {
    const cursors: Cursor[] = [];
    for (const run of this.#wanted) {
      let after: number | undefined;
      for (const follower of this.#byRun.get(run) ?? []) {
        if (follower.idle) after = Math.min(after ?? follower.position, follower.position);
      }
      if (after !== undefined) cursors.push({ run, after });
    }
    return cursors;
  }
}
