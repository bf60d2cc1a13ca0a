import type { VenturiError } from "../core/errors/errors.ts";
import type { Append } from "../core/journal/journal.ts";
import type { Timing } from "../core/run/event-fields.ts";
import type { EventBody, RunEvent } from "../core/run/events.ts";
import { noTiming } from "../core/run/timing.ts";

/** Terminal event for a run that can no longer write its own; contains nothing the engine could reject. */
export const failedWith = (error: VenturiError, timing: Timing = noTiming): EventBody => ({
  type: "run.failed",
  error: { op: error.op, code: error.code, err: error.message },
  output: "",
  usage: {},
  rounds: 0,
  timing,
});

/**
 * Replaces a batch the engine will never accept: the run ends after its last stored event. If nothing is stored yet, a
 * `run.started` without the input comes first; the request has the input.
 */
export function endInstead(item: Append, error: VenturiError, now: number): Append {
  const { ownership } = item;
  const first = item.events[0];
  const agent = first?.type === "run.started" ? first.agent : "";
  const bodies: EventBody[] = ownership.head > 0 ? [] : [{ type: "run.started", agent, input: {} }];
  bodies.push(failedWith(error));
  const at = first?.at ?? now;
  const events = bodies.map(
    (body, index) => ({ ...body, run: ownership.run, seq: ownership.head + 1 + index, at }) as RunEvent, // Completes the event.
  );
  return { ownership, events, state: "done" };
}
