import type { Clock } from "../../core/ports/clock.ts";
import type { Sample } from "../../core/ports/inspect.ts";
import type { Figures, Interval } from "./figures.ts";

/** Sample interval, ms; an hour of samples is kept. */
export const every = 5_000;
const most = 720;

export interface SeriesDeps {
  readonly clock: Clock;
  readonly figures: Figures;
  active(): number;
  followers(): number;
  blockedMs(): number;
  /** Runs no worker had claimed at the last look; undefined if the journal cannot tell. */
  queued?(): number | undefined;
}

/** Samples of the last hour, in memory. */
export class Series {
  readonly #deps: SeriesDeps;
  readonly #samples: Sample[] = [];
  #stop: (() => void) | undefined;

  constructor(deps: SeriesDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#stop ??= this.#deps.clock.after(every, () => {
      this.#stop = undefined;
      this.start();
      this.sample();
    });
  }

  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  after(time: number): readonly Sample[] {
    return this.#samples.filter(({ at }) => at > time);
  }

  sample(): void {
    const { clock, figures, active, followers, blockedMs } = this.#deps;
    const queued = this.#deps.queued?.();
    this.#samples.push({
      at: clock.now(),
      active: active(),
      followers: followers(),
      ...(queued === undefined ? {} : { queued }),
      blockedMs: blockedMs(),
      heapBytes: process.memoryUsage().heapUsed,
      ...summary(figures.take()),
    });
    if (this.#samples.length > most) this.#samples.shift();
  }
}

function summary({ durations, waited, rounds, commitMs, longestCommitMs, cost, ...counts }: Interval) {
  const sorted = [...durations].sort((left, right) => left - right);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return {
    ...counts,
    ...(cost === undefined ? {} : { cost }),
    ...(sorted.length === 0 ? {} : { p50: at(0.5), p95: at(0.95) }),
    ...(rounds === 0 ? {} : { firstToken: micro(waited / rounds) }),
    ...(counts.commits === 0
      ? {}
      : { commitMs: micro(commitMs / counts.commits), longestCommitMs: micro(longestCommitMs) }),
  };
}

const micro = (ms: number): number => Math.round(ms * 1_000) / 1_000;
