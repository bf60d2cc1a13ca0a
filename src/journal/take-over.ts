import { VenturiError } from "../core/errors/errors.ts";
import type { Journal } from "../core/journal/journal.ts";
import type { Holder } from "../core/ports/held.ts";
import type { Crash } from "../core/run/signals.ts";
import type { RequestDoing } from "../core/values/doing.ts";

/** What is known about the end of a process. */
export interface Death {
  /** The run it was working for. */
  readonly run?: string;
  /** As the end of a sentence that begins with the run. */
  readonly cause: string;
  readonly stack?: string;
  /** Ms since the epoch. */
  readonly at?: number;
  /** The request it was working for, when it was no run. */
  readonly request?: RequestDoing;
  /** Who held most of its memory. */
  readonly holder?: Holder;
}

type Held = Pick<Journal, "held" | "release" | "free" | "signal">;

const atOnce = 64;

/**
 * Makes the runs of a worker that is known to be dead claimable, without waiting for its lease. Only for workers that cannot
 * come back; late writes of theirs are fenced as always. If its death is known to be one run's doing, that is left beside its runs
 * first: whoever claims that run knows, and the others are not suspected.
 */
export async function freeRunsOf(worker: string, journal: Held, death?: Death): Promise<number> {
  if (death !== undefined) await testify(worker, journal, death);
  if (journal.free !== undefined) return await journal.free(worker);
  const held = await journal.held(worker);
  await Promise.all(held.map((ownership) => journal.release(ownership)));
  return held.length;
}

async function testify(worker: string, journal: Held, { run, cause, stack, at }: Death): Promise<void> {
  const held = await journal.held(worker);
  // Its lease may have ended meanwhile, and somebody may have claimed it: it counts the next time.
  const epoch = held.find((ownership) => ownership.run === run)?.epoch ?? 0;
  const tell = async (about: string, crash: Crash): Promise<boolean> => {
    try {
      await journal.signal(about, { id: `crashed ${worker}`, kind: "crashed", body: { ...crash } });
      return true;
    } catch (thrown) {
      if (!VenturiError.isInstance(thrown) || thrown.code !== "not_found") throw thrown;
      return false;
    }
  };
  const when = at === undefined ? {} : { at };
  const isKnown =
    run !== undefined &&
    (await tell(run, { epoch, blamed: true, cause, ...when, ...(stack === undefined ? {} : { stack }) }));
  if (!isKnown && at === undefined) return;
  const others = held.filter((ownership) => ownership.run !== run);
  for (let at = 0; at < others.length; at += atOnce) {
    const group = others.slice(at, at + atOnce);
    await Promise.all(
      group.map((each) =>
        tell(each.run, {
          epoch: each.epoch,
          blamed: false,
          ...when,
          ...(isKnown ? {} : { unknown: true as const, cause }),
        }),
      ),
    );
  }
}
