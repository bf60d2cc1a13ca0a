import type { EventOf, RunEvent } from "./events.ts";
import { type FoldedCall, RunFold } from "./run-fold.ts";

// Beside `RunFold`: the console's page, whose size is bounded, needs none of it.

export function foldOf(events: Iterable<RunEvent>): RunFold {
  const fold = new RunFold();
  for (const event of events) fold.take(event);
  return fold;
}

export type CompleteCall = FoldedCall & { sealed: EventOf<"tool_call.ready"> };

/** Calls with complete arguments, in the order in which these were complete; those of retracted attempts are among them. */
export function completeCallsIn(events: Iterable<RunEvent>): CompleteCall[] {
  const calls = foldOf(events).rounds.flatMap((round) => round.calls);
  const complete = calls.filter((call): call is CompleteCall => call.sealed?.type === "tool_call.ready");
  return complete.sort((one, other) => one.sealed.seq - other.sealed.seq);
}
