import { VenturiError } from "../../core/errors.ts";
import type { RunRequest, Signal } from "../../core/journal.ts";
import { excessOf, recordLimits, valueLimits } from "../../core/value-limits.ts";

const op = "run.start";

/** Checks that a request can be stored and carried along, whichever channel, command or agent it came from. */
export function checkBounds(request: RunRequest, { metadata }: { readonly metadata: number }): void {
  const { session } = request;
  if (session !== undefined && !isName(session)) {
    throw new VenturiError(op, "invalid_input", "a session's name has 1 to 256 characters, none of them a NUL");
  }
  const excess = excessOf(request.metadata ?? {}, { ...valueLimits, size: metadata });
  if (excess !== undefined) {
    throw new VenturiError(op, "too_large", `the metadata ${excess}; limits.metadata sets its size`);
  }
  const whole = excessOf(request, { ...valueLimits, size: recordLimits.size });
  if (whole !== undefined) throw new VenturiError(op, "invalid_input", `the request ${whole}`);
}

export function checkSignal(body: Signal["body"]): void {
  const excess = excessOf(body);
  if (excess !== undefined) throw new VenturiError("run.signal", "invalid_input", `what is sent ${excess}`);
}

/** What every engine stores and finds again as it is. */
export const isName = (text: string): boolean =>
  text !== "" && text.length <= 256 && !text.includes("\0") && text.isWellFormed();
