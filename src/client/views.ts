import type { RunView } from "./venturi.api.d.ts";

export type RunStatus = RunView["status"];

export interface EventsQuery {
  /** Events after this seq. */
  readonly after?: number;
  readonly limit?: number;
  /** Leaves out stream deltas. */
  readonly steps?: boolean;
  readonly signal?: AbortSignal;
}
