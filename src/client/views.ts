import type { RunView } from "./venturi.api.d.ts";
import type { RunEvent } from "./venturi.events.d.ts";

export type EventType = RunEvent["type"];
export type EventOf<Type extends EventType> = Extract<RunEvent, { type: Type }>;
export type TerminalEvent = EventOf<"run.finished" | "run.failed">;
export type RunStatus = RunView["status"];

export interface EventsQuery {
  /** Events after this seq. */
  readonly after?: number;
  readonly limit?: number;
  /** Leaves out stream deltas. */
  readonly steps?: boolean;
  readonly signal?: AbortSignal;
}
