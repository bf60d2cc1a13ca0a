import { complaintsOf } from "../../core/errors/complaints.ts";
import { VenturiError } from "../../core/errors/errors.ts";
import { isSignalKind, type SignalBody, type SignalKind, signalBodies } from "../../core/run/signals.ts";
import { didYouMean } from "../../core/values/suggest.ts";

const op = "run.signal";

/** Validates a signal: types do not protect against external or plain JavaScript callers. */
export function checkSignal<Kind extends SignalKind>(kind: Kind, body: unknown): SignalBody<Kind> {
  if (!isSignalKind(kind)) {
    const kinds = Object.keys(signalBodies);
    const near = didYouMean(String(kind), kinds);
    throw new VenturiError(
      op,
      "invalid_input",
      `"${String(kind)}" is not a signal${near}; the signals are: ${kinds.join(", ")}`,
    );
  }
  const parsed = signalBodies[kind].safeParse(body);
  if (parsed.success) return parsed.data as SignalBody<Kind>; // Parsed with that kind's schema.
  const issues = complaintsOf(signalBodies[kind], body, parsed.error);
  const [first] = issues;
  const message = `the signal ${kind}: ${first?.path || "body"}: ${first?.message ?? "is not valid"}`;
  throw new VenturiError(op, "invalid_input", message, { details: { issues } });
}
