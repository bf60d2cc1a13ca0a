import { VenturiError } from "../../core/errors/errors.ts";
import type { LimitName } from "../../core/run/limit-names.ts";

/** A limit was reached. Depending on `onLimit` the run ends normally with this as its finish reason, or with an error. */
export class LimitReached extends VenturiError {
  readonly limit: LimitName;
  constructor(limit: LimitName, message: string) {
    const code = limit === "max_rounds" ? "max_rounds_exceeded" : "budget_exceeded";
    super("agent.run", code, message, { details: { limit } });
    this.limit = limit;
  }
}

/** The limit behind an error if it is this run's own; another run's limit is an ordinary error. */
export function limitIn(error: VenturiError): LimitName | undefined {
  for (let at: unknown = error; VenturiError.isInstance(at); at = at.cause)
    if (at instanceof LimitReached) return at.limit;
  return undefined;
}
