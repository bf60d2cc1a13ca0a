import { VenturiError } from "../core/errors/errors.ts";
import type { Journal } from "../core/journal/journal.ts";
import type { Holder } from "../core/ports/held.ts";
import type { Crash } from "../core/run/signals.ts";
import type { RequestDoing } from "../core/values/doing.ts";

/** What is known about the end of a process. */
export interface Death {
  /** The run it was executing when it died, if known. */
  readonly run?: string;
  /** A phrase that continues a sentence starting with the run. */
  readonly cause: string;
  readonly stack?: string;
  /** Ms since the epoch. */
  readonly at?: number;
  /** The request it was handling when it died, if it was not executing a run. */
  readonly request?: RequestDoing;
  /** The largest memory user of the process. */
  readonly holder?: Holder;
}

type Held = Pick<Journal, "held" | "release" | "free" | "signal">;

const atOnce = 64;

/**
 * Makes the runs of a dead worker claimable without waiting for its lease. Only for workers that cannot come back; late writes are fenced
 * as always. If one run is known to have caused the death, that is recorded first, so that its next owner knows and the others are not
 * suspected.
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
  // If its lease expired and another worker claimed it meanwhile, the crash counts the next time.
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
