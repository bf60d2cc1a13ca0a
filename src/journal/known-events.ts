import { VenturiError } from "../core/errors/errors.ts";
import { RunEvent } from "../core/run/events.ts";

const known: ReadonlySet<string> = new Set(RunEvent.options.map(({ shape }) => shape.type.value));

/**
 * A run that a newer Venturi wrote events of an unknown type to cannot be continued here: without them, its state would be a
 * guess. Rejects with `unavailable`, so that the run is given back for a replica that knows them. Readers pass them on.
 */
export function refuseNewer(run: string, history: readonly RunEvent[]): void {
  for (const { type, seq } of history) {
    if (known.has(type)) continue;
    const message = `event ${seq} of ${run} is "${type}", which this Venturi does not know; a newer one has to go on with the run`;
    throw new VenturiError("journal.history", "unavailable", message, { details: { run, seq, type } });
  }
}
