import { Decisions } from "./decisions.ts";
import { type History, history } from "./history.ts";

/** The violation without names and numbers: another history that ends with it shows the same fault. */
export const kindOf = (violation: string | undefined): string =>
  (violation ?? "none")
    .replace(/run_\w+/g, "run")
    .replace(/\b[cw]\d+(\.\d+)?(_\d+)?\b/g, "#")
    .replace(/\d+/g, "#");

/** Zeroes choices of a failing history, larger spans first, as long as it fails in the same way. */
export async function shrink(failing: History, tries: number, store: "memory" | "sqlite"): Promise<History> {
  const kind = kindOf(failing.violations[0]);
  let best = failing;
  let left = tries;
  const attempt = async (log: readonly number[]): Promise<boolean> => {
    left -= 1;
    const one = await history(Decisions.replayed(log), { most: 60_000, store });
    if (kindOf(one.violations[0]) !== kind) return false;
    best = { ...one, decisions: trimmed(one.decisions) };
    return true;
  };
  for (
    let size = Math.ceil(best.decisions.length / 2);
    size >= 1 && left > 0;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let from = 0; from < best.decisions.length && left > 0; from += size) {
      const log = best.decisions;
      if (log.slice(from, from + size).every((choice) => choice === 0)) continue;
      await attempt(log.map((choice, at) => (at >= from && at < from + size ? 0 : choice)));
    }
  }
  return best;
}

/** Past the end of a log every choice is 0. */
function trimmed(log: readonly number[]): readonly number[] {
  return log.slice(0, log.findLastIndex((choice) => choice !== 0) + 1);
}
