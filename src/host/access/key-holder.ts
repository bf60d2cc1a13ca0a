import type { NativeGrants } from "../../core/model/native-rules.ts";
import type { Caller } from "../../core/ports/channel.ts";
import type { Scope } from "../../core/ports/scopes.ts";

/** A caller with its key's limits. */
export interface KeyHolder extends Caller {
  readonly may: ReadonlySet<Scope>;
  readonly requestsPerMinute: number | undefined;
  readonly concurrentRuns: number | undefined;
  /** Native fields its calls may set beyond what the agents allow. */
  readonly overrides?: NativeGrants;
  /** Expiry of its token, ms since the epoch. */
  readonly expiresAt?: number;
  /** Context of the runs it starts, for agents that take one. */
  readonly context?: unknown;
  /** Merged into the metadata of the runs it starts. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}
