import { VenturiError } from "../../core/errors/errors.ts";
import type { EventBody } from "../../core/run/events.ts";
import type { RunState } from "./run-state.ts";

/**
 * Throws when an event would break the order of a call's events: opened once, then its arguments, sealed once (ready or
 * rejected), started once by each owner, finished once. Checked before the event is written, so no reader ever sees such a
 * run. Runs written by earlier releases may have it, so reading does not check.
 */
export function mayFollow(state: RunState, event: EventBody): void {
  const problem = problemOf(state, event);
  if (problem === undefined) return;
  throw new VenturiError(
    "run.write",
    "internal",
    `${event.type} of call ${"call" in event ? event.call : ""}: ${problem}`,
  );
}

function problemOf({ round, callIds }: RunState, event: EventBody): string | undefined {
  switch (event.type) {
    case "tool_call.started":
      return callIds.has(event.call) ? "the call has already been opened" : undefined;
    case "tool_call.delta":
    case "tool_call.ready":
    case "tool_call.rejected":
      if (round?.hasOpened(event.call) !== true) return "the call has not been opened";
      return round.calls.has(event.call) ? "the call has already been sealed" : undefined;
    case "tool.started":
    case "tool.output":
    case "tool.finished": {
      const call = round?.calls.get(event.call);
      if (call === undefined) return "the call has not been sealed";
      if (call.result !== undefined) return "the call has already finished";
      if (event.type === "tool.started" && event.attempt !== call.attempts + 1)
        return "the call has already been started";
      return event.type === "tool.output" && call.attempts === 0 ? "the call has not been started" : undefined;
    }
    default:
      return undefined;
  }
}
