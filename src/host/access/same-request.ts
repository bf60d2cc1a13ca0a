import { createHash } from "node:crypto";
import { VenturiError } from "../../core/errors/errors.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import { canonicalJson } from "../../core/values/canonical-json.ts";

/** 32 bits: enough to notice a reused key, too few to guess what a guard removed from the stored request. */
export const fingerprint = (sent: unknown): string =>
  createHash("sha256").update(canonicalJson(sent)).digest("hex").slice(0, 8);

/** Reusing a key with a different request is a client error; running neither is safe. Older runs have no fingerprint. */
export function mustBeSame({ run, request }: RunRow, sent: string | undefined): void {
  if (request.sent === undefined || sent === undefined || request.sent === sent) return;
  throw new VenturiError("run.start", "conflict", different, { details: { run } });
}

const different = "this Idempotency-Key was used for a different request";

/** The row of a key's run. One that was erased meanwhile is not named: whoever repeats the key may never have seen it. */
export const rowOfKey = async (row: Promise<RunRow>): Promise<RunRow> =>
  await row.catch((thrown: unknown) => {
    throw VenturiError.is(thrown, "not_found") ? new VenturiError("run.start", "not_found", erased) : thrown;
  });

const erased = "the run of this Idempotency-Key was removed; send another key to start a new one";

/** The key was used for a run that the caller may not know of: the same error, without the run. */
export const usedForHidden = (): VenturiError => new VenturiError("run.start", "conflict", different);
