import { randomUUID } from "node:crypto";
import type { Hint } from "venturi/plugin";
import type { Link } from "./link.ts";
import { hash, type Names } from "./names.ts";

/** `control`: only hints about work or signals. */
export interface Listener {
  readonly callback: (hint: Hint) => void;
  readonly only: "control" | undefined;
}

const hashes = 256;
const retry = 500;

/**
 * Wake-ups. Work and signals come from the streams themselves and are not lossy; events of other processes arrive over core
 * NATS as hashes of their runs, one message per append. Everything from one turn of the event loop is one hint.
 */
export class Hints {
  readonly #link: Link;
  readonly #names: Names;
  readonly #pruned: (run: string) => void;
  readonly #origin = randomUUID().slice(0, 8);
  readonly #listeners = new Set<Listener>();
  #listening = false;
  #scheduled = false;
  #work = false;
  #all = false;
  #events = new Set<string>();
  #hashes = new Set<number>();
  #signals = new Set<string>();

  constructor(link: Link, names: Names, pruned: (run: string) => void) {
    this.#link = link;
    this.#names = names;
    this.#pruned = pruned;
    link.onLost(() => this.#wakeAll());
  }

  /** Whether anyone listens for events. */
  get followed(): boolean {
    for (const { only } of this.#listeners) if (only === undefined) return true;
    return false;
  }

  add(listener: Listener, ready: () => Promise<void>): () => void {
    this.#listeners.add(listener);
    if (!this.#listening) this.#listen(ready);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#listeners.clear();
  }

  note({ work, events, signals }: { work?: boolean; events?: Iterable<string>; signals?: string }): void {
    if (this.#listeners.size === 0) return;
    this.#work ||= work === true;
    for (const run of events ?? []) this.#events.add(run);
    if (signals !== undefined) this.#signals.add(signals);
    this.#schedule();
  }

  /** Notifies other processes of new events of these runs. */
  tellEvents(runs: readonly string[]): void {
    const list = [...new Set(runs.map(hashOf))].join(",");
    this.#link.tell(this.#names.hints, `${this.#origin}|e|${list}`);
  }

  tellPruned(run: string): void {
    this.#link.tell(this.#names.hints, `${this.#origin}|p|${encodeURIComponent(run)}`);
  }

  async #listen(ready: () => Promise<void>): Promise<void> {
    this.#listening = true;
    try {
      await ready();
      await this.#link.subscribe("journal.hints", this.#names.hints, (message) => this.#heard(message.string()));
      this.#wakeAll();
    } catch {
      this.#listening = false;
      if (!this.#link.closed && this.#listeners.size > 0)
        setTimeout(() => this.#listening || this.#listen(ready), retry).unref();
    }
  }

  #heard(text: string): void {
    const [origin, what, list = ""] = text.split("|");
    if (origin === this.#origin) return;
    if (what === "p") {
      this.#pruned(decodeURIComponent(list));
      return;
    }
    for (const number of list.split(",")) this.#hashes.add(Number(number));
    this.#schedule();
  }

  /** Hints were lost: anything may have changed. */
  #wakeAll(): void {
    this.#all = true;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#listeners.size === 0) return;
    this.#scheduled = true;
    setImmediate(() => this.#emit());
  }

  #emit(): void {
    this.#scheduled = false;
    const hint = this.#all ? everything : this.#collected();
    this.#all = false;
    this.#work = false;
    this.#events = new Set();
    this.#hashes = new Set();
    this.#signals = new Set();
    const control = hint.work || hint.signals !== undefined;
    for (const { callback, only } of [...this.#listeners]) if (control || only === undefined) callback(hint);
  }

  #collected(): Hint {
    const [events, numbers, signals] = [this.#events, this.#hashes, this.#signals];
    return {
      work: this.#work,
      events: (run) => events.has(run) || (numbers.size > 0 && numbers.has(hashOf(run))),
      ...(signals.size > 0 && { signals: (run: string) => signals.has(run) }),
    };
  }
}

const everything: Hint = { work: true, events: () => true, signals: () => true };
const hashOf = (run: string): number => hash(run) % hashes;
