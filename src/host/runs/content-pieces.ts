import type { ContentStore } from "../../agent/run/content.ts";
import { VenturiError } from "../../core/errors/errors.ts";
import type { Journal } from "../../core/journal/journal.ts";

/** Content of the run that has this hash; content of another run is not told of. */
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
