import type { Journal } from "../../core/journal/journal.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import { readHistory } from "../../journal/history.ts";
import { notesOf } from "../../journal/notes.ts";
import { outcomeOf } from "../scoring/outcome.ts";
import { groupedInterval, type Interval, meanOf } from "./bootstrap.ts";

const measures = ["ms", "tokens", "cost", "rating", "failed"] as const;
export type SplitMeasure = (typeof measures)[number];

export interface SplitMemberReport {
  readonly member: string;
  readonly runs: number;
  readonly sessions: number;
  /** Undefined if no run has a value: unknown price, no feedback. */
  readonly means: Readonly<Record<SplitMeasure, number | undefined>>;
  /** Differences to the first member; the first has none. */
  readonly differences: Readonly<Record<SplitMeasure, Interval | undefined>>;
}

export interface SplitReport {
  readonly split: string;
  readonly members: readonly SplitMemberReport[];
  /** There were more runs than were examined. */
  readonly cut: boolean;
}

export interface SplitQuery {
  readonly split: string;
  readonly agent?: string | undefined;
  /** Ms since the epoch. */
  readonly since: number;
}

interface Seen {
  readonly member: string;
  readonly session: string;
  readonly values: Readonly<Record<SplitMeasure, number | undefined>>;
}

const mostRuns = 20_000;

/** Compares the sessions of a split's members. The member with the most runs comes first and is the baseline. */
export async function splitReport(journal: Journal, query: SplitQuery): Promise<SplitReport> {
  const seen: Seen[] = [];
  let cursor: string | undefined;
  let looked = 0;
  do {
    const { agent, since } = query;
    const asked = { state: "done" as const, since, limit: 200, ...(agent === undefined ? {} : { agent }) };
    const page = await journal.list(cursor === undefined ? asked : { ...asked, cursor });
    for (const row of page.runs) {
      const found = await seenIn(journal, row, query.split);
      if (found !== undefined) seen.push(found);
    }
    looked += page.runs.length;
    cursor = page.cursor;
  } while (cursor !== undefined && looked < mostRuns);
  const byMember = [...Map.groupBy(seen, ({ member }) => member)].sort(
    ([left, some], [right, others]) => others.length - some.length || (left < right ? -1 : 1),
  );
  const [first] = byMember;
  const members = byMember.map(([member, runs]): SplitMemberReport => {
    const figures = <T>(read: (measure: SplitMeasure) => T) =>
      Object.fromEntries(measures.map((measure) => [measure, read(measure)])) as Record<SplitMeasure, T>;
    return {
      member,
      runs: runs.length,
      sessions: new Set(runs.map(({ session }) => session)).size,
      means: figures((measure) => mean(groups(runs, measure).flat())),
      differences: figures((measure) =>
        first === undefined || member === first[0]
          ? undefined
          : groupedInterval(groups(first[1], measure), groups(runs, measure)),
      ),
    };
  });
  return { split: query.split, members, cut: cursor !== undefined };
}

const mean = (values: readonly number[]): number | undefined => (values.length === 0 ? undefined : meanOf(values));

/** Values grouped by session. */
const groups = (runs: readonly Seen[], measure: SplitMeasure): number[][] =>
  [...Map.groupBy(runs, ({ session }) => session).values()]
    .map((session) => session.flatMap(({ values }) => values[measure] ?? []))
    .filter((values) => values.length > 0);

/** Undefined for a run outside the split, one that is not user traffic, or one that a person cancelled. */
async function seenIn(journal: Journal, row: RunRow, split: string): Promise<Seen | undefined> {
  const { request, outcome, run, tenant, session } = row;
  if (request.fork !== undefined || request.parent !== undefined || outcome === "cancelled") return undefined;
  // The digest has neither the split nor, on every engine, the rest.
  const events = await readHistory(journal, row);
  const member = events.flatMap((event) =>
    event.type === "round.started" && event.split?.of === split ? [event.split.chose] : [],
  )[0];
  const found = member === undefined ? undefined : outcomeOf(events);
  if (member === undefined || found === undefined) return undefined;
  const ratings = (await notesOf(journal, row)).feedback.flatMap(({ score }) => score ?? []);
  const { ms, tokens, cost, ok } = found;
  return {
    member,
    session: session === undefined ? run : JSON.stringify([tenant, session]),
    values: { ms, tokens, cost, rating: mean(ratings), failed: ok ? 0 : 1 },
  };
}
