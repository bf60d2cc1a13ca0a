import type { Journal } from "../core/journal.ts";

/**
 * Makes the runs of a worker that is known to be dead claimable, without waiting for its lease. Only for workers that cannot
 * come back; late writes of theirs are fenced as always.
 */
export async function freeRunsOf(worker: string, journal: Pick<Journal, "held" | "release" | "free">): Promise<number> {
  if (journal.free !== undefined) return await journal.free(worker);
  const held = await journal.held(worker);
  await Promise.all(held.map((ownership) => journal.release(ownership)));
  return held.length;
}
