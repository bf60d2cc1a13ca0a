import type { Caller } from "../../core/channel.ts";
import type { Scope } from "../../core/scopes.ts";

/** A caller with the limits of its key. */
export interface KeyHolder extends Caller {
  readonly may: ReadonlySet<Scope>;
  readonly requestsPerMinute: number | undefined;
  readonly concurrentRuns: number | undefined;
  /** When its token is over, ms since 1970. */
  readonly expiresAt?: number;
}
