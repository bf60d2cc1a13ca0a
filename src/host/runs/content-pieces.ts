import type { ContentStore } from "../../agent/run/content.ts";
import { VenturiError } from "../../core/errors/errors.ts";
import type { Journal } from "../../core/journal/journal.ts";

/** A blob of this run by hash; blobs of other runs appear not to exist. */
export async function piecesOf(
  { blobs }: Journal,
  content: ContentStore,
  { run, hash }: { readonly run: string; readonly hash: string },
): Promise<AsyncIterable<Uint8Array>> {
  const own = (await blobs?.of(run)) ?? [];
  const pieces = own.includes(hash) ? await content.pieces(hash) : undefined;
  if (pieces !== undefined) return pieces;
  throw new VenturiError("run.content", "not_found", `the run "${run}" has no content with the hash ${hash}`);
}
