import type { Cursor, Hint, Journal, Signal } from "../core/journal/journal.ts";
import type { SignalFeed } from "../core/journal/run-log.ts";
import { keepOne } from "../core/values/keep-one.ts";
import { withItem } from "../core/values/no-entries.ts";

/** Signals of one run while it executes here. */
export class RunSignalFeed implements SignalFeed {
  readonly run: string;
  #signals: Signal[];
  #subscribers: readonly ((signal: Signal) => void)[] = [];

  constructor(run: string, known: readonly Signal[]) {
    this.run = run;
    this.#signals = [...known];
    keepOne(this);
  }

  get last(): number {
    return this.#signals.at(-1)?.number ?? 0;
  }

  subscribe(after: number, callback: (signal: Signal) => void): () => void {
    this.#subscribers = [...this.#subscribers, callback];
    for (const signal of [...this.#signals]) if (signal.number > after) callback(signal);
    return () => {
      this.#subscribers = this.#subscribers.filter((other) => other !== callback);
    };
  }

  add(signals: readonly Signal[]): void {
    for (const signal of signals) {
      if (signal.number <= this.last) continue;
      this.#signals = withItem(this.#signals, signal);
      for (const subscriber of this.#subscribers) subscriber(signal);
    }
  }
}

/** Delivers signals to the runs of this process: immediately on a hint, and on every poll. */
export class SignalWatch {
  readonly #journal: Journal;
  readonly #feeds = new Map<string, RunSignalFeed>();
  readonly #wanted = new Set<string>();
  #reading = false;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  add(feed: RunSignalFeed): void {
    this.#feeds.set(feed.run, feed);
  }

  remove(feed: RunSignalFeed): void {
    if (this.#feeds.get(feed.run) === feed) this.#feeds.delete(feed.run);
  }

  onHint(hint: Hint): void {
    if (hint.signals === undefined) return;
    for (const run of this.#feeds.keys()) if (hint.signals(run)) this.#wanted.add(run);
    this.#look();
  }

  lookAtAll(): void {
    for (const run of this.#feeds.keys()) this.#wanted.add(run);
    this.#look();
  }

  #look(): void {
    if (this.#reading || this.#wanted.size === 0) return;
    this.#reading = true;
    this.#read().then(() => {
      this.#reading = false;
      this.#look();
    });
  }

  async #read(): Promise<void> {
    const asked = [...this.#wanted].flatMap((run) => this.#feeds.get(run) ?? []);
    this.#wanted.clear();
    if (asked.length === 0) return;
    try {
      const found = await this.#journal.signalsMany(asked.map(({ run, last }): Cursor => ({ run, after: last })));
      for (const feed of asked) {
        // A newer feed of the run may not have what was before this one's cursor, and would never read it.
        if (this.#feeds.get(feed.run) === feed) feed.add(found.get(feed.run) ?? []);
        else this.#wanted.add(feed.run);
      }
    } catch {
      // The next poll retries; if the journal stays down, the runs' own appends report it.
    }
  }
}
