import { VenturiError } from "../core/errors.ts";
import type { Journal, Ownership } from "../core/journal.ts";
import type { Crash } from "../core/signals.ts";

/** What is known about the end of a process. */
export interface Death {
  /** The run it was working for. */
  readonly run?: string;
  /** As the end of a sentence that begins with the run. */
  readonly cause: string;
  readonly stack?: string;
}

type Held = Pick<Journal, "held" | "release" | "free" | "signal">;

const atOnce = 64;

/**
 * Makes the runs of a worker that is known to be dead claimable, without waiting for its lease. Only for workers that cannot
 * come back; late writes of theirs are fenced as always. If its death is known to be one run's doing, that is left beside its runs
 * first: whoever claims that run knows, and the others are not suspected.
 */
export async function freeRunsOf(worker: string, journal: Held, death?: Death): Promise<number> {
  if (death?.run !== undefined) await testify(worker, journal, death);
  if (journal.free !== undefined) return await journal.free(worker);
  const held = await journal.held(worker);
  await Promise.all(held.map((ownership) => journal.release(ownership)));
  return held.length;
}

async function testify(worker: string, journal: Held, { run, cause, stack }: Death): Promise<void> {
  const held = await journal.held(worker);
  // It may have ended, with its last event on the way; or the process was working for none.
  if (!held.some((ownership) => ownership.run === run)) return;
  const tell = async (ownership: Ownership): Promise<void> => {
    const crash: Crash =
      ownership.run === run
        ? { epoch: ownership.epoch, blamed: true, cause, ...(stack === undefined ? {} : { stack }) }
        : { epoch: ownership.epoch, blamed: false };
    try {
      await journal.signal(ownership.run, { id: `crashed ${worker}`, kind: "crashed", body: { ...crash } });
    } catch (thrown) {
      if (!VenturiError.isInstance(thrown) || thrown.code !== "not_found") throw thrown;
    }
  };
  for (let at = 0; at < held.length; at += atOnce) await Promise.all(held.slice(at, at + atOnce).map(tell));
}
