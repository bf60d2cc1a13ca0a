import type { Digest } from "./digest.ts";
import type { Outcome } from "./events.ts";
import type { RunRequest } from "./run-request.ts";

/**
 * `ready`: can be claimed. `running`: under a lease. `waiting`: parked until a signal or a timeout. `done`: has its terminal
 * event.
 */
export type RunState = "ready" | "running" | "waiting" | "done";

export interface RunRow {
  readonly run: string;
  readonly tenant: string;
  readonly agent: string;
  readonly session: string | undefined;
  readonly state: RunState;
  /** From the terminal event, once there is one. */
  readonly outcome: Outcome | undefined;
  readonly head: number;
  /** Number of unanswered approvals: the sum of `questionsOpened` over its events. */
  readonly asking: number;
  readonly epoch: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly request: RunRequest;
  /** No worker here can continue it: its agent is no longer configured. Not stored. */
  readonly stranded?: true;
  /** Only for ended runs, in a journal that keeps digests. */
  readonly digest?: Digest;
}
