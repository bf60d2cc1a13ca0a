import { createHash } from "node:crypto";
import type { Prunable, Sweep } from "./protocol.ts";
import * as sql from "./sql.ts";
import type { Statements } from "./statements.ts";

/** Maximum duration of a step, ms, because every append waits for it. Half for records, since their commit takes the other half. */
const stepMs = 8;
const sweepMs = 4;
/** Up to this many runs, records are looked up; for more, all records are read. */
const few = 64;
/** Records removed by one statement. */
const atOnce = 500;
const most = 20_000;

/** What remains of a removed run's key, hashed because it may be a person's name. The length keeps ("a", "b c") and ("a b", "c") apart. */
export const keyName = (tenant: string, key: string): string =>
  createHash("sha256").update(`${tenant.length} ${tenant} ${key}`).digest("base64url");

interface Ended {
  readonly id: number;
  readonly tail: number;
  readonly run: string;
  readonly tenant: string;
  readonly key: string | null;
}

/**
 * Removes runs in two passes. First the runs disappear, except for their records; then the records are removed in file order. Records of
 * concurrent runs share pages: removing run by run would write each page once per run on it. What is left to remove is in the table
 * `doomed`, so an interrupted prune is continued by the next. The caller holds a transaction open.
 */
export class Pruning {
  readonly #ask: Statements;
  /** Ids covered by the next statement; adapted to the step's time. */
  #stretch = atOnce;

  constructor(ask: Statements) {
    this.#ask = ask;
  }

  /** The id up to which runs are beyond the newest `keep`. */
  boundary(keep: number): number {
    return this.#ask.get<{ id: number }>(sql.findBoundary, keep)?.id ?? 0;
  }

  /** Removes some of the runs, except for their records; returns how many. */
  doom(which: Prunable, sweeper: number, limit: number): number {
    const until = performance.now() + stepMs;
    let count = 0;
    for (const { id, tail, run, tenant, key } of this.#find(which, limit)) {
      if (count > 0 && performance.now() > until) break;
      for (const statement of sql.deleteRun) this.#ask.run(statement, id);
      // Last, because a full file has no room for it earlier.
      this.#ask.run(sql.doom, id, tail, sweeper);
      if (key !== null) this.#ask.run(sql.rememberKey, keyName(tenant, key), run);
      count += 1;
    }
    return count;
  }

  /** Also takes over what another process or an earlier prune of the same kind left, but for what these sweepers are at. */
  begin(sweeper: number, except: readonly number[]): Sweep | undefined {
    this.#ask.run(sql.adoptDoomed, sweeper, JSON.stringify([...except, sweeper]), sweeper);
    const { runs = 0, tail = 0 } = this.#ask.get<{ runs: number; tail: number }>(sql.countDoomed, sweeper) ?? {};
    // An erasure's position is stored with each run, so that another process goes on from there.
    return runs === 0 ? undefined : { sweeper, after: 0, upTo: sweeper < 0 || runs <= few ? undefined : tail };
  }

  /** Removes some of the records; undefined when none are left. */
  sweep({ sweeper, after, upTo }: Sweep): Sweep | undefined {
    if (upTo === undefined) return this.#sweepRuns(sweeper) ? { sweeper, after, upTo } : undefined;
    const next = this.#ask.get<{ id: number | null }>(sql.findNextRecord, after)?.id ?? undefined;
    if (next === undefined || next > upTo) {
      this.#ask.run(sql.forgetDoomed, sweeper);
      return undefined;
    }
    const start = performance.now();
    const last = next + this.#stretch;
    this.#ask.run(sql.deleteStretch, next, last, sweeper);
    const factor = sweepMs / (performance.now() - start);
    this.#stretch = Math.round(
      Math.min(most, Math.max(atOnce / 5, this.#stretch * Math.min(2, Math.max(0.5, factor)))),
    );
    return { sweeper, after: last, upTo };
  }

  /** Works back from each run's last record; the position is stored, so that a long run takes several steps. */
  #sweepRuns(sweeper: number): boolean {
    const until = performance.now() + stepMs;
    while (performance.now() < until) {
      const doomed = this.#ask.get<{ run: number; tail: number }>(sql.findDoomed, sweeper);
      if (doomed === undefined) return false;
      const ids = this.#ask.all<{ id: number }>(sql.walkBack, { ...doomed, limit: atOnce + 1 }).map(({ id }) => id);
      const rest = ids[atOnce];
      this.#ask.run(sql.deleteRecords, JSON.stringify(ids.slice(0, atOnce)));
      if (rest === undefined) this.#ask.run(sql.forgetDoomedRun, doomed.run);
      else this.#ask.run(sql.moveTail, rest, doomed.run);
    }
    return true;
  }

  #find({ olderThan, upTo, runs }: Prunable, limit: number): Ended[] {
    const named = runs.length === 0 ? [] : this.#ask.all<Ended>(sql.findNamed, { runs: JSON.stringify(runs), limit });
    if (named.length > 0) return named;
    const old = olderThan === undefined ? [] : this.#ask.all<Ended>(sql.findOld, { olderThan, limit });
    if (old.length > 0 || upTo === undefined) return old;
    return this.#ask.all<Ended>(sql.findUpTo, { upTo, limit });
  }
}
