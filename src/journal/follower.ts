import { VenturiError, wrap } from "../core/errors/errors.ts";
import type { Journal } from "../core/journal/journal.ts";
import type { Clock } from "../core/ports/clock.ts";
import { PolledStream } from "../core/ports/polled-stream.ts";
import { isTerminal, type RunEvent } from "../core/run/events.ts";
import { mayBeCut, pageBytes } from "../core/run/page.ts";
import { keepOne } from "../core/values/keep-one.ts";
import { retry } from "./retry.ts";
import { eventSize } from "./run-log.ts";

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
/** Shared empty array; never pushed to. */
const none: Batch[] = [];

/**
 * One reader of one run. `#next` is the only record of its position: a batch from any source is taken from there on, and a gap
 * sends the reader to the store. So no event is missed or duplicated.
 */
export class Follower extends PolledStream<Batch> {
  readonly run: string;
  readonly #options: FollowerOptions;
  #next: number;
  #queue: Batch[] = none;
  #queued = 0;
  /** Bytes queued; only counted while more than one batch is queued. */
  #bytes = 0;
  /** The store may have events that were not handed over. */
  #behind: boolean;
  #reading = false;
  #ended = false;
  /** A page read from the store and not taken yet. */
  #page: Result | undefined;
  #failure: VenturiError | undefined;
  #arriving: PromiseWithResolvers<void> | undefined;
  #closing: AbortController | undefined;

  constructor(run: string, options: FollowerOptions) {
    super();
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

  /** Whether it is caught up and waiting; otherwise it reads by itself. */
  get idle(): boolean {
    return !this.#behind && !this.#ended;
  }

  /** Whether it has the run's last event, delivered or queued. */
  get complete(): boolean {
    const last = this.#queue.at(-1)?.at(-1);
    return this.#ended || (last !== undefined && isTerminal(last));
  }

  poll(): Result | undefined {
    if (this.#failure) throw this.#failure;
    const page = this.#page;
    if (page !== undefined) {
      this.#page = undefined;
      return page;
    }
    if (this.#reading) return undefined;
    return this.#take() ?? (this.#ended ? ended : undefined);
  }

  arrival(): Promise<void> {
    if (this.#failure || this.#page || (this.#ended && !this.#reading)) return Promise.resolve();
    this.#arriving ??= Promise.withResolvers<void>();
    if (this.#behind) this.#read();
    return this.#arriving.promise;
  }

  return(): Promise<Result> {
    this.#onAbort();
    return Promise.resolve(ended);
  }

  /** Ends it before its run has ended. Its reader gets the reason as an error, so that a partial answer does not look complete. */
  cut(reason: VenturiError): void {
    if (this.complete) return;
    this.#reading = false;
    this.#fail(reason);
  }

  /** Takes committed events, from this process or from the store, contiguous and in order. */
  hand(events: Batch): void {
    const position = this.#queue.length === 0 ? this.#next - 1 : this.position;
    const first = events[0]?.seq ?? 0;
    if (this.#ended || (events.at(-1)?.seq ?? 0) <= position) return;
    const fresh = first > position ? events : events.slice(position + 1 - first);
    // While reading, a batch may be ahead of the page in flight; otherwise a gap means that a batch was lost.
    const gap = first > position + 1 && (this.#queue.length > 0 || !this.#reading);
    // A reader that keeps up has an empty queue, so its batches are not measured.
    const full = this.#queue.length > 0 && this.#isFull(fresh);
    if (gap || this.#queued + fresh.length > this.#options.maxQueued || full) {
      this.miss();
      return;
    }
    if (this.#queued === 0) this.#queue = [fresh];
    else this.#queue.push(fresh);
    this.#queued += fresh.length;
    if (!this.#reading) this.#arrived();
  }

  #isFull(fresh: Batch): boolean {
    if (this.#queue.length === 1) this.#bytes = sizeOf(this.#queue[0] ?? []);
    this.#bytes += sizeOf(fresh);
    return this.#bytes > pageBytes;
  }

  /** The store may have more than was handed over. */
  miss(): void {
    if (this.#ended) return;
    this.#queue = none;
    this.#queued = 0;
    this.#behind = true;
    if (this.#arriving) this.#read();
  }

  /** Takes all queued batches that continue at the reader's position. */
  #take(): Result | undefined {
    if (this.#queue.length === 0) return undefined;
    const queue = this.#queue;
    this.#queue = none;
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
    this.#readPage().then(
      (result) => {
        this.#reading = false;
        this.#page = result;
        // A batch may have been handed over while the page was read.
        if (result || this.#queued > 0) this.#arrived();
        else if (this.#behind && this.#arriving) this.#read();
      },
      (thrown) => {
        this.#reading = false;
        if (!this.#ended) this.#fail(wrap(op, thrown, "journal_failed"));
      },
    );
  }

  async #readPage(): Promise<Result | undefined> {
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

  #patiently<T>(ask: () => Promise<T>): Promise<T> {
    const { clock, patience } = this.#options;
    return retry(ask, { op, otherwise: "journal_failed", clock, patience, signal: () => this.#untilClosed() });
  }

  #untilClosed(): AbortSignal {
    this.#closing ??= new AbortController();
    if (this.#ended) this.#closing.abort();
    return this.#closing.signal;
  }

  #arrived(): void {
    this.#arriving?.resolve();
    this.#arriving = undefined;
  }

  #fail(error: VenturiError): void {
    this.#close();
    this.#failure = error;
    this.#arrived();
  }

  #onAbort = (): void => {
    this.#close();
    this.#reading = false; // Nobody waits for a read under way: it may take long, and may bring nothing.
    this.#arrived();
  };

  #close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#options.left(this);
    this.#closing?.abort();
  }
}

function sizeOf(events: Batch): number {
  let bytes = 0;
  for (const event of events) bytes += eventSize(event);
  return bytes;
}
