import type { Digest } from "./digest.ts";
import type { Outcome } from "./events.ts";
import type { ListQuery, RunsQuery } from "./list-query.ts";
import type { RunRow } from "./run-row.ts";

export const groupings = ["tenant", "agent", "model", "key", "day", "cause"] as const;
export type Grouping = (typeof groupings)[number];

/** Sums over ended runs. */
export interface RunSums {
  readonly runs: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Billionths of a USD over the runs with a known cost, and the number of those runs. */
  readonly nanos: number;
  readonly priced: number;
  /** Number of runs by duration, ms. Sums stored by a journal have one value per `floorOf`. */
  readonly spread: ReadonlyMap<number, number>;
}

/** Runs created within one bar of the chart. */
export interface TotalsBar {
  readonly at: number;
  readonly runs: number;
  readonly failed: number;
}

export interface Totals {
  readonly all: RunSums;
  /** Largest first; days: newest first. */
  readonly groups: readonly (RunSums & { readonly name: string })[];
  /** From the first to the last run, without gaps. */
  readonly bars: readonly TotalsBar[];
}

/** `newest`: the sums cover only the newest matching runs, because there are no stored sums for this query and too many runs to read. */
export interface Counted extends Totals {
  readonly counted: "all" | "newest";
}

export const mostGroups = 50;
export const dayMs = 86_400_000;

/** Widths of the time intervals that sums are kept for, ms. Each is a multiple of the previous one. */
export const spans = [1, 60_000, 3_600_000, dayMs, 16 * dayMs] as const;

/**
 * The next floor for durations: each is a tenth above the last, so that a percentile is at most 5 % off. Repeated in the SQL of migrations.
 */
export const nextFloor = (floor: number): number => Math.max(floor + 1, Math.floor((floor * 11 + 9) / 10));

const floors: number[] = [];
for (let floor = 0; floors.length === 0 || (floors.at(-1) ?? 0) < 10_000_000_000; floor = nextFloor(floor))
  floors.push(floor);

/** The largest floor not above a duration. */
export function floorOf(ms: number): number {
  let low = 0;
  for (let high = floors.length - 1; low < high; ) {
    const middle = (low + high + 1) >> 1;
    if ((floors[middle] ?? 0) <= ms) low = middle;
    else high = middle - 1;
  }
  return floors[low] ?? 0;
}

/** The value that represents all durations of a floor. */
export const middleOf = (floor: number): number => Math.round((floor + nextFloor(floor) - 1) / 2);

/** The duration that this share of the runs does not exceed, ms. */
export function percentile(spread: ReadonlyMap<number, number>, share: number): number {
  const counted = [...spread].sort(([one], [other]) => one - other);
  let left = Math.ceil(counted.reduce((sum, [, runs]) => sum + runs, 0) * share);
  for (const [ms, runs] of counted) {
    left -= runs;
    if (left <= 0) return ms;
  }
  return 0;
}

/** Whether sums by tenant, agent, model, key, outcome, code and time can answer the query. */
export const coveredBySums = (query: RunsQuery): boolean =>
  [query.text, query.tool, query.minMs, query.session, query.metadata, query.feedback].every(
    (asked) => asked === undefined,
  );

/** Whether no ended run can match. */
export const asksUnended = ({ state, waiting }: ListQuery): boolean =>
  waiting === true || (state !== undefined && state !== "done");

/** Intervals of one width; several together cover a time range with the widest possible ones. */
export interface Stretch {
  readonly span: number;
  readonly from: number;
  readonly to: number;
}

export const forever = Number.MAX_SAFE_INTEGER;

/** The query's time in whole ms that every engine can store. */
export function boundsIn({ since = 0, until = forever }: ListQuery): { readonly from: number; readonly to: number } {
  const within = (at: number) => Math.min(forever, Math.max(0, Math.ceil(at)));
  return { from: within(since), to: within(until) };
}

/** `widest`: maximum width of the intervals. */
export function stretches(query: ListQuery, widest: number): Stretch[] {
  const cover = (from: number, to: number, level: number): Stretch[] => {
    if (from >= to) return [];
    const span = spans[level] ?? 1;
    const first = Math.ceil(from / span) * span;
    const end = to === forever ? forever : Math.floor(to / span) * span;
    if (first >= end) return cover(from, to, level - 1);
    return [...cover(from, first, level - 1), { span, from: first, to: end }, ...cover(end, to, level - 1)];
  };
  const { from, to } = boundsIn(query);
  return cover(
    from,
    to,
    spans.findLastIndex((span) => span <= widest),
  );
}

/** Width of the chart's bars, and of the sums they are made from: few enough to read quickly and to see. */
export function barsOver(first: number, last: number): { readonly span: number; readonly width: number } {
  const range = last - first;
  if (range <= 120_000) return { span: 1, width: 1_000 * Math.max(1, Math.ceil(range / 60_000)) };
  const span = spans.find((each) => each > 1 && range / each <= 127) ?? spans[4];
  return { span, width: span * Math.max(1, Math.ceil(range / span / 63)) };
}

/** Fills gaps between bars. */
export function barsFrom(found: readonly TotalsBar[], width: number): TotalsBar[] {
  const places = found.map(({ at }) => Math.floor(at / width));
  const from = places.reduce((least, place) => Math.min(least, place), forever);
  const to = places.reduce((most, place) => Math.max(most, place), 0);
  if (found.length === 0) return [];
  const bars = Array.from({ length: to - from + 1 }, (_, index) => ({
    at: (from + index) * width,
    runs: 0,
    failed: 0,
  }));
  for (const { at, runs, failed } of found) {
    const bar = bars[Math.floor(at / width) - from];
    if (bar === undefined) continue;
    bar.runs += runs;
    bar.failed += failed;
  }
  return bars;
}

/** Sums runs one by one; stored sums must equal its result. */
export class TotalsFold {
  readonly #by: Grouping | undefined;
  readonly #all = new Sums();
  readonly #groups = new Map<string, Sums>();
  readonly #created: TotalsBar[] = [];

  constructor(by: Grouping | undefined) {
    this.#by = by;
  }

  /** Runs without a digest do not count. */
  add(row: RunRow): void {
    if (row.digest === undefined) return;
    const sums = sumsOfRun(row.digest, row.outcome);
    this.#all.add(sums);
    this.#created.push({ at: Math.floor(row.createdAt), runs: 1, failed: sums.failed });
    const name = this.#by && nameIn(this.#by, row);
    if (name === undefined) return;
    const group = this.#groups.get(name) ?? new Sums();
    this.#groups.set(name, group);
    group.add(sums);
  }

  get runs(): number {
    return this.#all.runs;
  }

  totals(): Totals {
    const times = this.#created.map(({ at }) => at);
    const first = times.reduce((least, at) => Math.min(least, at), forever);
    const last = times.reduce((most, at) => Math.max(most, at), 0);
    return {
      all: this.#all,
      groups: inOrder(
        [...this.#groups].map(([name, sums]) => ({ name, ...sums })),
        this.#by,
      ),
      bars: barsFrom(this.#created, barsOver(first, last).width),
    };
  }
}

/** The groups to return, the most important first. */
export const inOrder = <T extends RunSums & { readonly name: string }>(groups: readonly T[], by?: Grouping): T[] =>
  groups
    .toSorted((one, other) =>
      by === "day" ? compare(other.name, one.name) : other.runs - one.runs || compare(one.name, other.name),
    )
    .slice(0, mostGroups);

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

export class Sums implements RunSums {
  runs = 0;
  failed = 0;
  cancelled = 0;
  inputTokens = 0;
  outputTokens = 0;
  nanos = 0;
  priced = 0;
  readonly spread = new Map<number, number>();

  add(other: RunSums): void {
    this.runs += other.runs;
    this.failed += other.failed;
    this.cancelled += other.cancelled;
    this.inputTokens += other.inputTokens;
    this.outputTokens += other.outputTokens;
    this.nanos += other.nanos;
    this.priced += other.priced;
    for (const [ms, runs] of other.spread) this.spread.set(ms, (this.spread.get(ms) ?? 0) + runs);
  }
}

/** A called agent's tokens are in its own run, as its cost is: its caller's count without them. */
const sumsOfRun = ({ ownUsage, usage, cost, ms }: Digest, outcome: Outcome | undefined): RunSums => ({
  runs: 1,
  failed: outcome === "failed" ? 1 : 0,
  cancelled: outcome === "cancelled" ? 1 : 0,
  inputTokens: (ownUsage ?? usage).inputTokens ?? 0,
  outputTokens: (ownUsage ?? usage).outputTokens ?? 0,
  // Bounded, so that an absurd price cannot produce sums that no longer subtract exactly.
  nanos: cost === undefined ? 0 : Math.floor(Math.min(cost, 1e6) * 1e9 + 0.5),
  priced: cost === undefined ? 0 : 1,
  spread: new Map([[ms, 1]]),
});

function nameIn(by: Grouping, row: RunRow): string | undefined {
  const { tenant, agent, outcome, createdAt, request, digest } = row;
  if (by === "tenant") return tenant;
  if (by === "agent") return agent;
  if (by === "model") return modelsName(digest?.models ?? []);
  if (by === "key") return request.caller?.id || "none";
  if (by === "day") return dayName(createdAt);
  return outcome === "failed" ? digest?.code || "unknown" : undefined;
}

export const modelsName = (models: readonly string[]): string => models.join(" → ") || "none";
export const dayName = (at: number): string => new Date(at).toISOString().slice(0, 10);
