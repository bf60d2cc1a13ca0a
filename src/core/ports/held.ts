import { token } from "../values/token.ts";

/** What memory is held for. */
export type Holding = "body" | "frame" | "run" | "reply" | "fork" | "blob";

/** Bytes held for one tenant. `release` may be called any number of times. */
export interface Charge {
  readonly bytes: number;
  /** Throws `unavailable` as `charge` does, charging nothing. */
  grow(bytes: number): void;
  /** Adds memory that is already allocated. */
  add(bytes: number): void;
  shrink(bytes: number): void;
  /** A second handle on the same bytes, which count once until every handle is released. */
  share(): Charge;
  release(): void;
}

/** The account of one tenant. */
export interface Account {
  /** Throws `unavailable` with `retryAfterMs` when memory is short and the tenant already has its share. */
  charge(bytes: number, what: Holding): Charge;
  /** Counts memory that is already allocated and cannot be refused. */
  hold(bytes: number, what: Holding): Charge;
}

/** The tenant that holds the most memory, and its share of the total. */
export interface Holder {
  readonly tenant: string;
  readonly bytes: number;
  readonly held: number;
}

/** Memory this process holds for its callers, by tenant. */
export interface Memory {
  of(tenant: string): Account;
  /** Total held. */
  readonly held: number;
  /** How much can be taken before shares apply; negative when more is held. */
  readonly free: number;
  /** Amount held by each tenant, if any. */
  readonly tenants: ReadonlyMap<string, number>;
  /**
   * From now on, calls `note` with the largest holder whenever much was taken: once the process runs out of memory it is too late to ask.
   */
  noteTo(note: (holder: Holder) => void): void;
}
export const Memory = token<Memory>("Memory");

/** Memory per byte of a body or run input: its text, the parsed values, and a copy being encoded. */
export const inputWeight = 3;

/** Memory per byte of a reply being sent: its text and the encoded bytes. */
export const replyWeight = 2;

const uncounted: Charge = {
  bytes: 0,
  grow: () => {},
  add: () => {},
  shrink: () => {},
  share: () => uncounted,
  release: () => {},
};

/** An account without a limit, for programs that serve only themselves. */
export const unlimited: Account = { charge: () => uncounted, hold: () => uncounted };
