import { token } from "../values/token.ts";

/** What a caller's bytes are held as. */
export type Holding = "body" | "frame" | "run" | "reply" | "fork" | "blob";

/** Bytes held for one tenant. `release` may be called any number of times. */
export interface Charge {
  readonly bytes: number;
  /** Throws `unavailable` as `charge` does; nothing is charged then. */
  grow(bytes: number): void;
  /** Counts what is in memory already. */
  add(bytes: number): void;
  shrink(bytes: number): void;
  /** A second handle on the same bytes: they count once, until every handle is released. */
  share(): Charge;
  release(): void;
}

/** The account of one tenant. */
export interface Account {
  /** Throws `unavailable` with `retryAfterMs` when memory is short and the tenant has its share already. */
  charge(bytes: number, what: Holding): Charge;
  /** Counts what is in memory already and cannot be refused any more. */
  hold(bytes: number, what: Holding): Charge;
}

/** The tenant that holds most, and how much that is of all. */
export interface Holder {
  readonly tenant: string;
  readonly bytes: number;
  readonly held: number;
}

/** Bytes that this process holds for its callers, by tenant. */
export interface Memory {
  of(tenant: string): Account;
  /** All that is held. */
  readonly held: number;
  /** What can be taken before shares are looked at; negative when more is held. */
  readonly free: number;
  /** Held by each tenant that holds something. */
  readonly tenants: ReadonlyMap<string, number>;
  /** From here on, tells who holds most whenever much was taken: where the process runs out of memory, there is nobody left to ask. */
  noteTo(note: (holder: Holder) => void): void;
}
export const Memory = token<Memory>("Memory");

/** What a byte of a body or of a run's input costs in memory: its text, the values parsed from it, and a copy being encoded. */
export const inputWeight = 3;

/** A reply being sent: its text and the bytes on their way. */
export const replyWeight = 2;

const uncounted: Charge = {
  bytes: 0,
  grow: () => {},
  add: () => {},
  shrink: () => {},
  share: () => uncounted,
  release: () => {},
};

/** An account without a limit, for programs that serve nobody else. */
export const unlimited: Account = { charge: () => uncounted, hold: () => uncounted };
