import type { Digest } from "../../core/run/digest.ts";

/** Maximum durations kept per interval; enough for percentiles. */
const mostDurations = 2_000;

export interface Interval {
  readonly ended: number;
  readonly failed: number;
  readonly durations: readonly number[];
  /** Waits for a first token, ms, and the number of rounds. */
  readonly waited: number;
  readonly rounds: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number | undefined;
  readonly retried: number;
  readonly failedOver: number;
  readonly commits: number;
  readonly commitMs: number;
  readonly longestCommitMs: number;
}

const empty = () => ({
  ended: 0,
  failed: 0,
  durations: [] as number[],
  waited: 0,
  rounds: 0,
  inputTokens: 0,
  outputTokens: 0,
  cost: undefined as number | undefined,
  retried: 0,
  failedOver: 0,
});

/** Counts commits and ended runs since the last read; never per token. */
export class Figures {
  readonly #commits: { count: number; ms: number; longestMs: number };
  #now = empty();

  /** `commits` is reset whenever the figures are read. */
  constructor(commits: { count: number; ms: number; longestMs: number }) {
    this.#commits = commits;
  }

  ended({ status, ms, timing, usage, cost, rounds, models }: Digest): void {
    const now = this.#now;
    now.ended += 1;
    if (status === "failed") now.failed += 1;
    if (now.durations.length < mostDurations) now.durations.push(ms);
    now.waited += timing.providerWait;
    now.rounds += rounds;
    now.inputTokens += usage.inputTokens ?? 0;
    now.outputTokens += usage.outputTokens ?? 0;
    if (cost !== undefined) now.cost = (now.cost ?? 0) + cost;
    if (timing.retryWait > 0) now.retried += 1;
    if (models.length > 1) now.failedOver += 1;
  }

  take(): Interval {
    const { count, ms, longestMs } = this.#commits;
    const taken = { ...this.#now, commits: count, commitMs: ms, longestCommitMs: longestMs };
    Object.assign(this.#commits, { count: 0, ms: 0, longestMs: 0 });
    this.#now = empty();
    return taken;
  }
}
