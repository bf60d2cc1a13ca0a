import { VenturiError } from "../../core/errors/errors.ts";
import type { Journal } from "../../core/journal/journal.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import { isName } from "./request-bounds.ts";

/** Rejects with `not_found` when the journal has no such run. */
export async function existingRun(journal: Journal, run: string): Promise<RunRow> {
  const row = isName(run) ? await journal.get(run) : undefined;
  if (row === undefined) throw noRun("run.get", run);
  return row;
}

export const noRun = (op: string, run: string): VenturiError =>
  new VenturiError(op, "not_found", `there is no run "${run.slice(0, 256)}"`);
