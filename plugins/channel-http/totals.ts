import { named, type RunsQuery } from "venturi/internal";
import type { Digest, RunRow, Runs } from "venturi/plugin";
import { z } from "zod";

/** Maximum ended runs summed, newest first. */
export const mostAdded = 5_000;
const page = 200;
const mostGroups = 50;

export const groupings = ["tenant", "agent", "model", "key", "day", "cause"] as const;
export type Grouping = (typeof groupings)[number];

const sums = {
  runs: z.number().int(),
  failed: z.number().int(),
  cancelled: z.number().int(),
  p50: z.number().describe("ms"),
  p95: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  cost: z.number().exactOptional().describe("USD, where prices are known"),
};
const Sums = z.object(sums);
type Sums = z.output<typeof Sums>;

/** The single definition, from which the client's and the console's types are made. */
export const TotalsView = named(
  "TotalsView",
  z.object({
    all: Sums,
    groups: z.array(z.object({ name: z.string(), ...sums })),
    times: z.array(z.object({ at: z.number(), runs: z.number().int(), failed: z.number().int() })),
    complete: z.boolean(),
  }),
);
type TotalsView = z.output<typeof TotalsView>;

/** Sums over the ended runs that match a query, from their digests. */
export async function totalsOf(runs: Runs, query: RunsQuery, by: Grouping | undefined): Promise<TotalsView> {
  const found: { readonly row: RunRow; readonly digest: Digest }[] = [];
  let cursor: string | undefined;
  do {
    const next = await runs.list({ ...query, limit: page, ...(cursor === undefined ? {} : { cursor }) });
    for (const row of next.runs) if (row.digest !== undefined) found.push({ row, digest: row.digest });
    cursor = next.cursor;
  } while (cursor !== undefined && found.length < mostAdded);
  const names = by === undefined ? [] : found.map((each) => nameOf(each.row, each.digest, by));
  const groups = new Map<string, Digest[]>();
  for (const [index, name] of names.entries()) {
    const digest = found[index]?.digest;
    if (name === undefined || digest === undefined) continue;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [digest]);
    else group.push(digest);
  }
  const digests = found.map(({ digest }) => digest);
  const summed = [...groups].map(([name, group]) => ({ name, ...sumsOf(group) }));
  return {
    all: sumsOf(digests),
    groups: summed.sort((one, other) => other.runs - one.runs).slice(0, mostGroups),
    times: timesOf(digests),
    complete: cursor === undefined,
  };
}

function nameOf({ tenant }: RunRow, digest: Digest, by: Grouping): string | undefined {
  if (by === "tenant") return tenant;
  if (by === "agent") return digest.agent;
  if (by === "model") return digest.models.join(" → ") || "none";
  if (by === "key") return digest.by ?? "none";
  if (by === "day") return new Date(digest.startedAt).toISOString().slice(0, 10);
  return digest.status === "failed" ? (digest.code ?? "unknown") : undefined;
}

function sumsOf(digests: readonly Digest[]): Sums {
  const times = digests.map(({ ms }) => ms).sort((one, other) => one - other);
  const at = (share: number) => times[Math.min(times.length - 1, Math.ceil(times.length * share) - 1)] ?? 0;
  const sum = (value: (digest: Digest) => number | undefined) =>
    digests.reduce((total, digest) => total + (value(digest) ?? 0), 0);
  const priced = digests.some(({ cost }) => cost !== undefined);
  return {
    runs: digests.length,
    failed: digests.filter(({ status }) => status === "failed").length,
    cancelled: digests.filter(({ status, code }) => status === "cancelled" || code === "stream_interrupted").length,
    p50: at(0.5),
    p95: at(0.95),
    inputTokens: sum(({ usage }) => usage.inputTokens),
    outputTokens: sum(({ usage }) => usage.outputTokens),
    ...(priced ? { cost: sum(({ cost }) => cost) } : {}),
  };
}

const bars = 60;

/** Number of runs started per time interval. */
function timesOf(digests: readonly Digest[]): TotalsView["times"] {
  const from = digests.reduce((least, { startedAt }) => Math.min(least, startedAt), Number.POSITIVE_INFINITY);
  const to = digests.reduce((most, { startedAt }) => Math.max(most, startedAt), 0);
  if (digests.length === 0) return [];
  const width = Math.max(1_000, Math.ceil((to - from + 1) / bars));
  const counted = Array.from({ length: Math.ceil((to - from + 1) / width) }, (_, index) => ({
    at: from + index * width,
    runs: 0,
    failed: 0,
  }));
  for (const { startedAt, status } of digests) {
    const bar = counted[Math.floor((startedAt - from) / width)];
    if (bar === undefined) continue;
    bar.runs += 1;
    if (status === "failed") bar.failed += 1;
  }
  return counted;
}
