import type { Clock } from "../../core/ports/clock.ts";

/** Limits of one model in a chain, per process. */
export interface MemberLimits {
  /** Generations in progress. */
  readonly concurrency?: number | undefined;
  /** Input and output tokens over the last minute. */
  readonly tokensPerMinute?: number | undefined;
}

/** A generation's slot at a model. */
export interface Seat {
  /** Reserves this many tokens; returns false, reserving nothing, if there is no room. */
  expect(limits: MemberLimits, tokens: number): boolean;
  /** `tokens`: actual usage if known; otherwise the estimate keeps counting. */
  leave(tokens?: number): void;
}

interface Waiter {
  readonly tokens: number;
  readonly limits: MemberLimits;
  readonly admit: () => void;
}

interface Taken {
  readonly at: number;
  tokens: number;
}

const minute = 60_000;
/** Age after which a measurement is ignored, ms. */
const stale = minute;
/** Weight of the last measurement in the mean. */
const weight = 0.3;

/** One model of one provider: generations in progress, waiters, and measured speed. */
class Member {
  readonly #clock: Clock;
  readonly #waiting: Waiter[] = [];
  readonly #taken: Taken[] = [];
  #active = 0;
  #firstMs: { readonly at: number; readonly ms: number } | undefined;
  #stopTimer: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get active(): number {
    return this.#active;
  }

  /** Mean time to the first token, ms; undefined without a recent measurement. */
  get firstMs(): number | undefined {
    const known = this.#firstMs;
    return known === undefined || this.#clock.monotonic() - known.at > stale ? undefined : known.ms;
  }

  measured(ms: number): void {
    const before = this.firstMs;
    const mean = before === undefined ? ms : before + weight * (ms - before);
    this.#firstMs = { at: this.#clock.monotonic(), ms: mean };
  }

  hasRoom(limits: MemberLimits, tokens = 0): boolean {
    return this.#waiting.length === 0 && this.#fits(limits, tokens);
  }

  take(tokens: number): Seat {
    const taken = { at: this.#clock.monotonic(), tokens };
    this.#taken.push(taken);
    this.#active += 1;
    let open = true;
    return {
      expect: (limits, expected) => {
        // Its own seat does not count against it.
        const others = {
          ...limits,
          concurrency: limits.concurrency === undefined ? undefined : limits.concurrency + 1,
        };
        if (!this.#fits(others, expected)) return false;
        taken.tokens = expected;
        return true;
      },
      leave: (used) => {
        if (!open) return;
        open = false;
        this.#active -= 1;
        if (used !== undefined) taken.tokens = used;
        this.#next();
      },
    };
  }

  /** First come, first served. Returns a function that cancels the wait. */
  wait(limits: MemberLimits, tokens: number, admit: (seat: Seat) => void): () => void {
    const waiter: Waiter = { limits, tokens, admit: () => admit(this.take(tokens)) };
    this.#waiting.push(waiter);
    this.#next();
    return () => {
      const at = this.#waiting.indexOf(waiter);
      if (at >= 0) this.#waiting.splice(at, 1);
      if (at === 0) this.#next();
    };
  }

  #next(): void {
    this.#stopTimer();
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (!this.#fits(first.limits, first.tokens)) break;
      this.#waiting.shift();
      first.admit();
    }
    const oldest = this.#taken[0];
    if (this.#waiting.length === 0 || oldest === undefined) return;
    const left = oldest.at + minute - this.#clock.monotonic();
    this.#stopTimer = this.#clock.after(Math.max(1, left), () => this.#next());
  }

  /** A request larger than a whole minute's allowance is admitted when nothing else is counted. */
  #fits({ concurrency, tokensPerMinute }: MemberLimits, tokens: number): boolean {
    if (concurrency !== undefined && this.#active >= concurrency) return false;
    if (tokensPerMinute === undefined) return true;
    const from = this.#clock.monotonic() - minute;
    while (this.#taken[0] !== undefined && this.#taken[0].at <= from) this.#taken.shift();
    const used = this.#taken.reduce((sum, each) => sum + each.tokens, 0);
    return used === 0 || used + tokens <= tokensPerMinute;
  }
}

const mostMembers = 10_000;

/** Models of all chains that route, by name; shared by all runs of the process. */
export class Members {
  readonly #clock: Clock;
  readonly #members = new Map<string, Member>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(name: string): Member {
    const known = this.#members.get(name);
    if (known !== undefined) return known;
    const member = new Member(this.#clock);
    if (this.#members.size < mostMembers) this.#members.set(name, member);
    return member;
  }
}
export type { Member };
