import { VenturiError } from "../core/errors/errors.ts";
import type { Append, Ownership } from "../core/journal/journal.ts";
import type { Billing } from "../core/journal/money.ts";
import type { RunLog } from "../core/journal/run-log.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { DigestFold } from "../core/run/digest.ts";
import { type EventBody, isTerminal, type RunEvent, textOnly } from "../core/run/events.ts";
import { keepOne } from "../core/values/keep-one.ts";
import { recordLimits } from "../core/values/value-limits.ts";
import { mustEncode } from "./encodable.ts";
import type { RunClocks } from "./run-clocks.ts";

/** A follower of the run in this process. */
export interface Reader {
  hand(events: readonly RunEvent[]): void;
}

/** Commits the logs' contents. */
export interface LogOwner {
  readonly clock: Clock;
  readonly clocks: RunClocks;
  /** Uncommitted bytes of one log before backpressure sets in. */
  readonly maxUncommitted: number;
  /** Only the end of the run is awaited: it has no outside effects, so a crash may lose its steps. */
  readonly onlyEnds?: boolean;
  /** The log has something to commit; `urgent` when a writer awaits it. */
  changed(log: OwnedLog, urgent: boolean): void;
  closed(log: OwnedLog): void;
}

interface Waiter {
  /** Resolved when this seq is durable; Infinity: when the end of the ownership is. */
  readonly seq: number;
  readonly resolve: () => void;
  readonly reject: (error: VenturiError) => void;
}

/** Shared empty array; never pushed to. */
const none: RunEvent[] = [];

/** The log of one owner. Its buffer goes away with it, so a fenced owner's events can never be written later. */
export class OwnedLog implements RunLog {
  readonly ownership: Ownership;
  /** Followers in this process, which receive events once they are durable. */
  readonly readers: Iterable<Reader>;
  /** Bytes not yet part of a commit. */
  waiting = 0;
  tenant = "";
  /** Bytes committed since the run's growth was last reported. */
  written = 0;
  /** Ownership has ended: terminal event or park committed, fenced, or given up. */
  ended = false;
  /** Backpressure: set while the writer should wait for commits. */
  pressure: Promise<void> | undefined;
  /** Folds the run's events into its digest. */
  digest: DigestFold | undefined;
  /** Collects the cost of its generations. */
  billing: Billing | undefined;
  /** Whether it is on the committer's list. */
  listed = false;
  #head: number;
  #uncommitted = 0;
  /** Only stream deltas, no steps, were written since the last commit. */
  #pieces = true;
  #buffer: RunEvent[] = none;
  /** The terminal event or a park has been written: nothing may follow. */
  #ending = false;
  #parking: Pick<Append, "seenSignals" | "wakeAfter"> | undefined;
  #waiters: Waiter[] = [];
  #relieve: (() => void) | undefined;
  readonly #owner: LogOwner;
  /** Event time minus monotonic time, ms. */
  #offset: number;
  readonly #controller = new AbortController();

  constructor(ownership: Ownership, owner: LogOwner, readers: Iterable<Reader> = []) {
    this.ownership = ownership;
    this.readers = readers;
    this.#head = ownership.head;
    this.#owner = owner;
    this.#offset = owner.clocks.offsetOf(ownership.run);
    keepOne(this);
  }

  get head(): number {
    return this.#head;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Continues event times from here, whatever this process's clock says: durations are computed from their differences. */
  follow(at: number): void {
    this.#offset = this.#owner.clocks.follow(this.ownership.run, at);
  }

  /** The timestamp the next event would get. */
  get now(): number {
    return Math.round(this.#owner.clock.monotonic() + this.#offset);
  }

  write(body: EventBody): RunEvent {
    const event = body as RunEvent; // Completed in place below: a copy per token would be the largest cost on the hot path.
    event.run = this.ownership.run;
    // Text always encodes, and it is nearly all events: it skips what every other one is checked for.
    const isText = event.type === "text.delta" || textOnly(event.type);
    // A terminal event already has its time, up to which its timing was computed.
    if (isText || event.at === undefined || !isTerminal(event))
      event.at = Math.round(this.#owner.clock.monotonic() + this.#offset);
    event.seq = this.#head + 1;
    if (this.#ending || this.ended) return event;
    const bytes = eventSize(event);
    if (!isText || bytes > recordLimits.size) {
      mustEncode(event, bytes);
      this.digest?.add(event);
      this.billing?.add(event);
      this.#pieces = false;
      if (isTerminal(event)) this.#ending = true;
    }
    this.#head += 1;
    // A literal reserves one slot, a push to an empty array seventeen; most commits hold one event of a run.
    if (this.#buffer.length === 0) this.#buffer = [event];
    else this.#buffer.push(event);
    this.waiting += bytes;
    this.#uncommitted += bytes;
    if (this.#uncommitted > this.#owner.maxUncommitted) this.#press();
    this.#owner.changed(this, false);
    return event;
  }

  /** Takes over the events a fork copied, which are stored with its own and were billed to the original. */
  adopt(events: readonly RunEvent[]): void {
    for (const event of events) {
      const bytes = eventSize(event);
      this.#head = event.seq;
      this.waiting += bytes;
      this.#uncommitted += bytes;
    }
    this.#buffer = [...events];
    this.#pieces = false;
    this.#owner.changed(this, false);
  }

  flush(): Promise<void> {
    if (this.signal.aborted) return Promise.reject(this.signal.reason);
    if (this.#head === this.ownership.head && this.#parking === undefined) return Promise.resolve();
    if (this.#owner.onlyEnds && !this.#ending) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ seq: this.#parking === undefined ? this.#head : Number.POSITIVE_INFINITY, resolve, reject });
      // Otherwise everything is in the commit in flight, and another one would have nothing to store.
      if (this.#buffer.length > 0 || this.#parking !== undefined) this.#owner.changed(this, true);
    });
  }

  async step(body: EventBody): Promise<RunEvent> {
    const event = this.write(body);
    await this.flush();
    return event;
  }

  park(seenSignals: number, wakeAfter?: number): Promise<void> {
    if (this.#ending || this.ended) {
      return Promise.reject(
        new VenturiError("journal.park", "internal", "the ownership has ended; it cannot be parked"),
      );
    }
    this.#ending = true;
    this.#parking = { seenSignals, ...(wakeAfter === undefined ? {} : { wakeAfter }) };
    return this.flush();
  }

  /** Takes the next append. Called once per commit, with one commit in flight. */
  take(): Append {
    const events = this.#buffer;
    this.#buffer = none;
    this.waiting = 0;
    if (this.#pieces && this.#parking === undefined) return { ownership: this.ownership, events, pieces: true };
    this.#pieces = true;
    const billed = this.billing?.take();
    const item =
      billed === undefined ? { ownership: this.ownership, events } : { ownership: this.ownership, events, billed };
    if (this.#parking !== undefined) return { ...item, state: "waiting", ...this.#parking };
    if (!this.#ending) return item;
    return { ...item, state: "done", ...this.endAfter(events) };
  }

  /** The digest, if these events end the run. */
  endAfter(events: readonly RunEvent[]): Pick<Append, "end"> {
    const last = events.at(-1);
    return last !== undefined && isTerminal(last) && this.digest !== undefined ? { end: this.digest.end(last) } : {};
  }

  /** Called when the append is durable. */
  committed(item: Append): void {
    const last = item.events.at(-1);
    if (last) this.ownership.head = last.seq;
    const durable = item.state === undefined ? this.ownership.head : Number.POSITIVE_INFINITY;
    if (item.state === "done") this.#owner.clocks.forget(this.ownership.run);
    if (item.state !== undefined) this.#end();
    for (const event of item.events) this.#uncommitted -= eventSize(event);
    if (this.#relieve !== undefined && this.#uncommitted <= this.#owner.maxUncommitted) this.#relievePressure();
    let resolved = 0;
    for (const waiter of this.#waiters) {
      if (waiter.seq > durable) break;
      resolved += 1;
      waiter.resolve();
    }
    if (resolved > 0) this.#waiters.splice(0, resolved);
  }

  /** Accepts nothing more: the owner was fenced, or the journal gave up. */
  fail(error: VenturiError): void {
    if (this.ended) return;
    this.#end();
    this.#buffer = none;
    this.waiting = 0;
    const waiters = this.#waiters;
    this.#waiters = [];
    this.#controller.abort(error);
    for (const waiter of waiters) waiter.reject(error);
    this.#relievePressure();
  }

  /** The writer is gone; later writes are dropped. */
  abandon(): void {
    if (!this.ended) this.#end();
  }

  #end(): void {
    this.ended = true;
    this.#parking = undefined;
    this.#owner.closed(this);
  }

  #press(): void {
    if (this.pressure) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.pressure = promise;
    this.#relieve = resolve;
  }

  #relievePressure(): void {
    this.#relieve?.();
    this.#relieve = undefined;
    this.pressure = undefined;
  }
}

const envelope = 96;

/** Approximate size of an event without encoding it: only long fields are measured. */
export function eventSize(event: RunEvent): number {
  switch (event.type) {
    case "text.delta":
    case "refusal.delta":
    case "tool.output":
      return envelope + event.text.length;
    case "reasoning.delta":
      return envelope + event.text.length + (event.encrypted?.length ?? 0);
    case "tool_call.delta":
    case "tool_call.rejected":
      return envelope + event.arguments.length;
    case "tool.finished":
      return envelope + (event.output?.length ?? 0) + contentBytes(event.images) + contentBytes(event.files);
    case "run.finished":
    case "run.failed":
      return envelope + event.output.length;
    default:
      return envelope * 4;
  }
}

function contentBytes(items: readonly { readonly data?: string }[] | undefined): number {
  let bytes = 0;
  if (items) for (const { data } of items) bytes += data?.length ?? envelope;
  return bytes;
}
