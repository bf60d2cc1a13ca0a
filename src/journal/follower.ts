import { type Clock, sleep } from "../core/clock.ts";
import { VenturiError, wrap } from "../core/errors.ts";
import { isTerminal, type RunEvent } from "../core/events.ts";
import type { Journal } from "../core/journal.ts";
import { keepOne } from "../core/keep-one.ts";
import { mayBeCut } from "../core/page.ts";

type Batch = readonly RunEvent[];
type Result = IteratorResult<Batch, undefined>;

export interface FollowerOptions {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly after: number;
  /** Nothing exists beyond `after`, so no initial read is needed. */
  readonly current: boolean;
  /** Maximum number of events queued for a slow reader; past that it reads from the store. */
  readonly maxQueued: number;
  readonly page: number;
  readonly patience: number;
  readonly signal: AbortSignal | undefined;
  readonly left: (follower: Follower) => void;
}

const op = "journal.follow";
const ended: Result = { value: undefined, done: true };

/**
 * One reader of one run. `#next` is the only record of its position: a batch from any source is taken from there on, and a gap
 * sends the reader to the store. So no event is missed or duplicated.
 */
export class Follower implements AsyncIterableIterator<Batch, undefined> {
  readonly run: string;
  readonly #options: FollowerOptions;
  #next: number;
  #queue: Batch[] = [];
  #queued = 0;
  /** The store may have events that were not handed over. */
  #behind: boolean;
  #reading = false;
  #ended = false;
  #waiting: { resolve: (result: Result) => void; reject: (error: unknown) => void } | undefined;
  #failure: VenturiError | undefined;
  #closing: AbortController | undefined;

  constructor(run: string, options: FollowerOptions) {
    this.run = run;
    this.#options = options;
    this.#next = options.after + 1;
    this.#behind = !options.current;
    if (options.signal?.aborted) this.#close();
    else options.signal?.addEventListener("abort", this.#onAbort, { once: true });
    keepOne(this);
  }

  /** Seq of its last event, delivered or queued. */
  get position(): number {
    return this.#queue.at(-1)?.at(-1)?.seq ?? this.#next - 1;
  }

  /** Whether it is caught up and waits for more; otherwise it reads on its own. */
  get idle(): boolean {
    return !this.#behind && !this.#ended;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (this.#failure) return Promise.reject(this.#failure);
    const batch = this.#take();
    if (batch) return Promise.resolve(batch);
    if (this.#ended) return Promise.resolve(ended);
    const waiting = Promise.withResolvers<Result>();
    this.#waiting = waiting;
    if (this.#behind) this.#read();
    return waiting.promise;
  }

  return(): Promise<Result> {
    this.#onAbort();
    return Promise.resolve(ended);
  }

  /** Takes committed events, from this process or from the store, contiguous and in order. */
  hand(events: Batch): void {
    const position = this.#queue.length === 0 ? this.#next - 1 : this.position;
    const first = events[0]?.seq ?? 0;
    if (this.#ended || (events.at(-1)?.seq ?? 0) <= position) return;
    const fresh = first > position ? events : events.slice(position + 1 - first);
    // During a read, a batch may be ahead of what is still being read; otherwise a gap means a batch was lost.
    const gap = first > position + 1 && (this.#queue.length > 0 || !this.#reading);
    if (gap || this.#queued + fresh.length > this.#options.maxQueued) {
      this.miss();
      return;
    }
    this.#queue.push(fresh);
    this.#queued += fresh.length;
    if (!this.#waiting || this.#reading) return;
    const batch = this.#take();
    if (batch) this.#resolve(batch);
  }

  /** The store may have more than was handed over. */
  miss(): void {
    if (this.#ended) return;
    this.#queue = [];
    this.#queued = 0;
    this.#behind = true;
    if (this.#waiting) this.#read();
  }

  /** Everything queued that continues at the reader's position. */
  #take(): Result | undefined {
    if (this.#queue.length === 0) return undefined;
    const queue = this.#queue;
    this.#queue = [];
    this.#queued = 0;
    const events = queue.length === 1 ? (queue[0] ?? []) : queue.flat();
    const first = events[0]?.seq ?? this.#next;
    if (first > this.#next) {
      this.#behind = true;
      return undefined;
    }
    return this.#advance(first === this.#next ? events : events.slice(this.#next - first));
  }

  #advance(events: Batch): Result | undefined {
    const last = events.at(-1);
    if (last === undefined) return undefined;
    this.#next = last.seq + 1;
    if (isTerminal(last)) this.#close();
    return { value: events, done: false };
  }

  #read(): void {
    if (this.#reading) return;
    this.#reading = true;
    this.#page().then(
      (result) => {
        this.#reading = false;
        if (result) this.#resolve(result);
        else if (this.#behind && this.#waiting) this.#read();
      },
      (thrown) => {
        this.#reading = false;
        if (!this.#ended) this.#fail(wrap(op, thrown, "journal_failed"));
      },
    );
  }

  async #page(): Promise<Result | undefined> {
    const { journal, page } = this.#options;
    // Reset before the read: events committed meanwhile are handed over or set it again.
    this.#behind = false;
    const events = await this.#patiently(() => journal.read(this.run, this.#next - 1, page));
    if (this.#ended) return ended;
    if (events.length > 0) {
      if (events.length >= page || mayBeCut(events)) this.#behind = true;
      return this.#advance(events);
    }
    const queued = this.#take();
    if (queued || this.#behind) return queued;
    const row = await this.#patiently(() => journal.get(this.run));
    if (row === undefined) throw new VenturiError(op, "not_found", `there is no run ${this.run}`);
    if (row.state === "done" && row.head < this.#next) {
      this.#close();
      return ended;
    }
    if (row.head >= this.#next) this.#behind = true;
    return this.#take();
  }

  async #patiently<T>(ask: () => Promise<T>): Promise<T> {
    const { clock, patience } = this.#options;
    const deadline = clock.monotonic() + patience;
    for (let wait = 50; ; wait = Math.min(2_000, wait * 2)) {
      try {
        return await ask();
      } catch (thrown) {
        const error = wrap(op, thrown, "journal_failed");
        if (error.code !== "journal_failed" || clock.monotonic() >= deadline || this.#ended) throw error;
      }
      this.#closing ??= new AbortController();
      await sleep(clock, wait, this.#closing.signal);
    }
  }

  #resolve(result: Result): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(result);
  }

  #fail(error: VenturiError): void {
    this.#close();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting.reject(error);
    else this.#failure = error;
  }

  #onAbort = (): void => {
    this.#close();
    this.#resolve(ended);
  };

  #close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#options.left(this);
    this.#closing?.abort();
  }
}
