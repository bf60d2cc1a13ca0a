import { randomUUID } from "node:crypto";
import type { Hint } from "venturi/plugin";
import type { Link } from "./link.ts";
import { hash, type Names } from "./names.ts";

const hashes = 256;
const retry = 500;

/**
 * Wake-ups. Work and signals come from the streams themselves and are not lossy; events of other processes come by core NATS
 * as hashes of their runs, one message per append. Whatever one turn of the event loop brought is one hint.
 */
export class Hints {
  readonly #link: Link;
  readonly #names: Names;
  readonly #pruned: (run: string) => void;
  readonly #origin = randomUUID().slice(0, 8);
  readonly #listeners = new Set<(hint: Hint) => void>();
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

  get wanted(): boolean {
    return this.#listeners.size > 0;
  }

  add(callback: (hint: Hint) => void, ready: () => Promise<void>): () => void {
    this.#listeners.add(callback);
    if (!this.#listening) this.#listen(ready);
    return () => this.#listeners.delete(callback);
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

  /** Other processes learn of these runs' events. */
  tellEvents(runs: readonly string[]): void {
    const list = [...new Set(runs.map(hashOf))].join(",");
    this.#link.tell(this.#names.hints, `${this.#origin}|e|${list}`);
  }

  tellPruned(run: string): void {
    this.#link.tell(this.#names.hints, `${this.#origin}|p|${run}`);
  }

  async #listen(ready: () => Promise<void>): Promise<void> {
    this.#listening = true;
    try {
      await ready();
      await this.#link.subscribe("journal.hints", this.#names.hints, (message) => this.#heard(message.string()));
      this.#wakeAll();
    } catch {
      this.#listening = false;
      if (!this.#link.closed && this.wanted) setTimeout(() => this.#listening || this.#listen(ready), retry).unref();
    }
  }

  #heard(text: string): void {
    const [origin, what, list = ""] = text.split("|");
    if (origin === this.#origin) return;
    if (what === "p") {
      this.#pruned(list);
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
    for (const listener of [...this.#listeners]) listener(hint);
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
