import type { VenturiError } from "../core/errors.ts";
import { type EventBody, noTiming, type RunEvent } from "../core/events.ts";
import type { Append } from "../core/journal.ts";

/** The terminal event of a run that cannot go on and cannot tell itself: it says why, and nothing that could be refused. */
export const failedWith = (error: VenturiError): EventBody => ({
  type: "run.failed",
  error: { op: error.op, code: error.code, err: error.message },
  output: "",
  usage: {},
  rounds: 0,
  timing: noTiming,
});

/**
 * What is stored in place of a batch that the engine will never take: the run ends after what it has stored. A run that has
 * stored nothing begins first, without what it was asked; its request has that.
 */
export function endInstead(item: Append, error: VenturiError): Append {
  const { ownership } = item;
  const first = item.events[0];
  const agent = first?.type === "run.started" ? first.agent : "";
  const bodies: EventBody[] = ownership.head > 0 ? [] : [{ type: "run.started", agent, input: {} }];
  bodies.push(failedWith(error));
  const at = first?.at ?? Date.now();
  const events = bodies.map(
    (body, index) => ({ ...body, run: ownership.run, seq: ownership.head + 1 + index, at }) as RunEvent, // completed here
  );
  return { ownership, events, state: "done" };
}
