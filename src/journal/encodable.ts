import { VenturiError } from "../core/errors.ts";
import { type RunEvent, textOnly } from "../core/events.ts";
import { excessOf, recordLimits } from "../core/value-limits.ts";

/**
 * Throws `record_invalid` for an event that could not be stored. Whoever writes it learns that before the event has a place
 * in the run, so only its own run ends, with a terminal event, and no other run's commit ever meets it. Events of text alone
 * always encode; of those only the size is looked at, which is known.
 */
export function mustEncode(event: RunEvent, bytes: number): void {
  if (textOnly(event.type)) {
    if (bytes > recordLimits.size) throw refused(event, `is larger than ${recordLimits.size} characters`);
    return;
  }
  const excess = excessOf(event, recordLimits);
  if (excess !== undefined) throw refused(event, excess);
}

const refused = (event: RunEvent, excess: string): VenturiError =>
  new VenturiError("journal.append", "record_invalid", `the event ${event.type} cannot be stored: it ${excess}`, {
    details: { run: event.run, event: event.type },
  });
