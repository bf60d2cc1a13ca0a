import type { Clock } from "../core/clock.ts";
import { VenturiError } from "../core/errors.ts";
import { type EventBody, isTerminal, type RunEvent } from "../core/events.ts";
import type { Append, Ownership, RunLog } from "../core/journal.ts";
import { keepOne } from "../core/keep-one.ts";
import { mustEncode } from "./encodable.ts";
import { eventSize } from "./event-size.ts";

/** Who commits what logs hold. */
export interface LogOwner {
  readonly clock: Clock;
  /** Bytes that one log may hold uncommitted before it asks its writer to wait. */
  readonly maxUncommitted: number;
  /** The log has something to commit; `urgent` when someone waits for it. */
  changed(log: OwnedLog, urgent: boolean): void;
  closed(log: OwnedLog): void;
}

interface Waiter {
  /** Resolved when this is durable; Infinity = when the end of the ownership is. */
  readonly seq: number;
  readonly resolve: () => void;
  readonly reject: (error: VenturiError) => void;
}

/** The log of one owner. The buffer dies with it, so events of a fenced owner can never be written later. */
export class OwnedLog implements RunLog {
  readonly ownership: Ownership;
  /** Bytes not yet taken into a commit. */
  waiting = 0;
  /** Whether the owner has it on its list. */
  listed = false;
  #head: number;
  #uncommitted = 0;
  #buffer: RunEvent[] = [];
  #state: "open" | "ending" | "ended" = "open";
  #parking: number | undefined;
  #waiters: Waiter[] = [];
  #pressure: { promise: Promise<void>; resolve: () => void } | undefined;
  readonly #owner: LogOwner;
  readonly #controller = new AbortController();

  constructor(ownership: Ownership, owner: LogOwner) {
    this.ownership = ownership;
    this.#head = ownership.head;
    this.#owner = owner;
    keepOne(this);
  }

  get head(): number {
    return this.#head;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get pressure(): Promise<void> | undefined {
    return this.#pressure?.promise;
  }

  /** Whether the ownership is over: terminal event or park committed, fenced, or given up. */
  get ended(): boolean {
    return this.#state === "ended";
  }

  write(body: EventBody): RunEvent {
    const event = body as RunEvent; // completed in place on the next lines: a copy per token would be the hot path's largest cost
    event.run = this.ownership.run;
    event.at = this.#owner.clock.now();
    event.seq = this.#head + 1;
    if (this.#state !== "open") return event;
    const bytes = eventSize(event);
    mustEncode(event, bytes);
    this.#head += 1;
    this.#buffer.push(event);
    this.waiting += bytes;
    this.#uncommitted += bytes;
    if (this.#uncommitted > this.#owner.maxUncommitted) this.#press();
    if (isTerminal(event)) this.#state = "ending";
    this.#owner.changed(this, false);
    return event;
  }

  flush(): Promise<void> {
    if (this.signal.aborted) return Promise.reject(this.signal.reason);
    if (this.#head === this.ownership.head && this.#parking === undefined) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ seq: this.#parking === undefined ? this.#head : Number.POSITIVE_INFINITY, resolve, reject });
      this.#owner.changed(this, true);
    });
  }

  async step(body: EventBody): Promise<RunEvent> {
    const event = this.write(body);
    await this.flush();
    return event;
  }

  park(seenSignals: number): Promise<void> {
    if (this.#state !== "open") {
      return Promise.reject(
        new VenturiError("journal.park", "internal", "the ownership has ended; it cannot be parked"),
      );
    }
    this.#state = "ending";
    this.#parking = seenSignals;
    return this.flush();
  }

  /** What is to be committed now. The owner asks once per commit, and has one commit in flight. */
  take(): Append {
    const events = this.#buffer;
    this.#buffer = [];
    this.waiting = 0;
    if (this.#parking !== undefined) {
      return { ownership: this.ownership, events, state: "waiting", seenSignals: this.#parking };
    }
    return this.#state === "ending"
      ? { ownership: this.ownership, events, state: "done" }
      : { ownership: this.ownership, events };
  }

  /** The item is durable. */
  committed(item: Append): void {
    const last = item.events.at(-1);
    if (last) this.ownership.head = last.seq;
    const durable = item.state === undefined ? this.ownership.head : Number.POSITIVE_INFINITY;
    if (item.state !== undefined) this.#end();
    for (const event of item.events) this.#uncommitted -= eventSize(event);
    if (this.#uncommitted <= this.#owner.maxUncommitted) this.#relieve();
    let settled = 0;
    for (const waiter of this.#waiters) {
      if (waiter.seq > durable) break;
      settled += 1;
      waiter.resolve();
    }
    if (settled > 0) this.#waiters.splice(0, settled);
  }

  /** Nothing more goes in: the owner was fenced, or the journal gave up. */
  fail(error: VenturiError): void {
    if (this.#state === "ended") return;
    this.#end();
    this.#buffer = [];
    this.waiting = 0;
    const waiters = this.#waiters;
    this.#waiters = [];
    this.#controller.abort(error);
    for (const waiter of waiters) waiter.reject(error);
    this.#relieve();
  }

  /** Its writer is gone; whatever it still tries to write goes nowhere. */
  abandon(): void {
    if (this.#state !== "ended") this.#end();
  }

  #end(): void {
    this.#state = "ended";
    this.#parking = undefined;
    this.#owner.closed(this);
  }

  #press(): void {
    if (this.#pressure) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pressure = { promise, resolve };
  }

  #relieve(): void {
    this.#pressure?.resolve();
    this.#pressure = undefined;
  }
}
