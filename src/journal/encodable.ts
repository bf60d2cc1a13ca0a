import { VenturiError } from "../core/errors/errors.ts";
import { type RunEvent, textOnly } from "../core/run/events.ts";
import { excessOf, recordLimits } from "../core/values/value-limits.ts";

/**
 * Throws `record_invalid` for an event that cannot be stored, before it gets a seq: only its own run fails, with a terminal
 * event, and no group commit ever contains it. Text-only events always encode, so only their size, which is known, is checked.
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
