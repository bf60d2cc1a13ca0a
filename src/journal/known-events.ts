import { VenturiError } from "../core/errors/errors.ts";
import { RunEvent } from "../core/run/events.ts";

const known: ReadonlySet<string> = new Set(RunEvent.options.map(({ shape }) => shape.type.value));

/**
 * Refuses to continue a run with events of a type only a newer Venturi knows: its state would be a guess. Rejects with `unavailable`, so
 * that a newer replica can claim it. Readers pass such events on.
 */
export function refuseNewer(run: string, history: readonly RunEvent[]): void {
  for (const { type, seq } of history) {
    if (known.has(type)) continue;
    const message = `event ${seq} of ${run} is "${type}", which this Venturi does not know; a newer one has to go on with the run`;
    throw new VenturiError("journal.history", "unavailable", message, { details: { run, seq, type } });
  }
}
