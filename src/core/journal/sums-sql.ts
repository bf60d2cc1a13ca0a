import type { ListQuery } from "../run/list-query.ts";
import { shadowTenant } from "../run/shadow.ts";
import {
  asksUnended,
  barsFrom,
  barsOver,
  boundsIn,
  dayMs,
  dayName,
  type Grouping,
  inOrder,
  middleOf,
  modelsName,
  mostGroups,
  type RunSums,
  Sums,
  spans,
  stretches,
  type Totals,
  type TotalsBar,
} from "../run/totals.ts";

/**
 * Sums of ended runs in two tables, the same in every SQL engine: `sum_groups` has a row per tenant, agent, models, key, outcome and code;
 * `sums` holds their totals per time interval of each width in `spans`. Triggers on the digests maintain them, so that no way of writing or
 * removing a digest can miss them.
 */
export interface SumsEngine {
  /** Schema prefix including its dot, if any. */
  readonly schema: string;
  /** Concatenates all texts of a column. */
  readonly joined: (column: string) => string;
  readonly hasModel: (parameter: string) => string;
  readonly isOneOf: (column: string, parameter: string) => string;
  readonly list: (values: readonly string[]) => unknown;
  /** The sums have an index by time, too, and the engine knows LATERAL: one range is read where others look up each group. */
  readonly byTime: boolean;
  ask<Row>(text: string, values: readonly unknown[]): Promise<Row[]>;
}

interface SumsRow extends Omit<RunSums, "spread"> {
  readonly name: string | number | null;
  readonly spread: string | null;
}

const empty: Totals = { all: new Sums(), groups: [], bars: [] };

/** Totals of a query for which `coveredBySums` holds. */
export async function totalsFromSums(engine: SumsEngine, query: ListQuery, by: Grouping | undefined): Promise<Totals> {
  if (asksUnended(query) || stretches(query, spans[4]).length === 0) return empty;
  const bounds = engine.byTime ? boundsByTime(engine, query) : boundsOf(engine, query);
  const [{ first, last } = { first: null, last: null }] = await engine.ask<{
    first: number | null;
    last: number | null;
  }>(bounds.text, bounds.values);
  if (first === null || last === null) return empty;
  const { span, width } = barsOver(Number(first), Number(last));
  const grouped = by === "day" ? newestDays(query, Number(last)) : query;
  // Except for causes, and when there are more days than groups, every run belongs to one of the groups.
  const isWhole = by !== undefined && by !== "cause" && (grouped === query || Number(grouped.since) <= Number(first));
  const ask = async (asked: ListQuery, grouping: Grouping | undefined) => {
    const { text, values } = sumsOf(engine, asked, grouping);
    return merged(await engine.ask<SumsRow>(text, values), grouping);
  };
  const bars = barsOf(engine, query, { span, width });
  const [groups, whole, counted] = await Promise.all([
    by === undefined ? [] : ask(grouped, by),
    isWhole ? undefined : ask(query, undefined),
    // Bars of days are the groups by day.
    by === "day" && isWhole && span >= dayMs ? undefined : engine.ask<TotalsBar>(bars.text, bars.values),
  ]);
  const all = new Sums();
  for (const group of whole ?? groups) all.add(group);
  return {
    all,
    groups: inOrder(
      groups.filter(({ runs }) => runs > 0),
      by,
    ),
    bars: barsFrom(
      counted === undefined
        ? groups.map(({ name, runs, failed }) => ({ at: Date.parse(name), runs, failed }))
        : counted.map(({ at, runs, failed }) => ({ at: Number(at), runs: Number(runs), failed: Number(failed) })),
      width,
    ),
  };
}

class Conditions {
  readonly values: unknown[] = [];
  readonly #engine: SumsEngine;
  readonly text: string;

  constructor(engine: SumsEngine, query: ListQuery, by?: Grouping) {
    this.#engine = engine;
    const { tenant, agent, agents, by: key, outcome, code, model } = query;
    this.text = [
      tenant === undefined ? `g.tenant <> '${shadowTenant}'` : this.#equal("g.tenant", tenant),
      agent === undefined ? "" : this.#equal("g.agent", agent),
      agents === undefined ? "" : engine.isOneOf("g.agent", this.add(engine.list(agents))),
      key === undefined ? "" : this.#equal("g.caller", key),
      outcome === undefined ? "" : this.#equal("g.outcome", outcome),
      code === undefined ? "" : this.#equal("g.code", code),
      model === undefined ? "" : engine.hasModel(this.add(model)),
      by === "cause" ? "g.outcome = 'failed'" : "",
    ]
      .filter((condition) => condition !== "")
      .join(" AND ");
  }

  #equal(column: string, value: string): string {
    return `${column} = ${this.add(value)}`;
  }

  add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  /** The intervals that make up the query's time range, as a table. */
  within(query: ListQuery, widest: number): string {
    const rows = stretches(query, widest).map(({ span, from, to }) =>
      [span, from, to].map((value, at) => `CAST(${this.add(value)} AS bigint) AS ${["span", "since", "until"][at]}`),
    );
    return rows.map((row) => `SELECT ${row.join(", ")}`).join(" UNION ALL ");
  }

  /** Join order: groups, intervals, then the sums by their key. */
  from(query: ListQuery, widest: number): string {
    const { schema } = this.#engine;
    return `FROM ${schema}sum_groups g CROSS JOIN (${this.within(query, widest)}) t
      CROSS JOIN ${schema}sums c WHERE c.grp = g.id AND c.span = t.span AND c.at >= t.since AND c.at < t.until AND ${this.text}`;
  }
}

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** When the first and last run were created: one index lookup per group. */
function boundsOf(engine: SumsEngine, query: ListQuery): Statement {
  const conditions = new Conditions(engine, query);
  const bounds = boundsIn(query);
  const [from, to] = [conditions.add(bounds.from), conditions.add(bounds.to)];
  const edge = (which: string) => `(SELECT ${which}(c.at) FROM ${engine.schema}sums c
    WHERE c.grp = g.id AND c.span = 1 AND c.at >= CAST(${from} AS bigint) AND c.at < CAST(${to} AS bigint))`;
  const text = `SELECT min(first) AS first, max(last) AS last FROM (
    SELECT ${edge("min")} AS first, ${edge("max")} AS last FROM ${engine.schema}sum_groups g WHERE ${conditions.text}) e`;
  return { text, values: conditions.values };
}

/** The same by time: the first and last interval with a run, then what it consists of, down to the run. */
function boundsByTime(engine: SumsEngine, query: ListQuery): Statement {
  const conditions = new Conditions(engine, query);
  const { schema } = engine;
  const edge = (which: string, order: string) => {
    const within = (span: string, from: string, to: string) => `CROSS JOIN LATERAL (
      SELECT c.at FROM ${schema}sums c JOIN ${schema}sum_groups g ON g.id = c.grp
      WHERE c.span = ${span} AND c.at >= ${from} AND c.at < ${to} AND ${conditions.text} ORDER BY c.at ${order} LIMIT 1) c`;
    return `${which} (span, at) AS (
      (SELECT t.span, c.at FROM t ${within("t.span", "t.since", "t.until")} ORDER BY c.at ${order} LIMIT 1)
      UNION ALL SELECT s.span, c.at FROM ${which} e JOIN narrower s ON s.wider = e.span ${within("s.span", "e.at", "e.at + e.span")})`;
  };
  const narrower = spans.slice(1).map((wider, level) => `(CAST(${wider} AS bigint), CAST(${spans[level]} AS bigint))`);
  const text = `WITH RECURSIVE t AS (${conditions.within(query, spans[4])}), narrower (wider, span) AS (VALUES ${narrower.join(", ")}),
    ${edge("earliest", "ASC")}, ${edge("latest", "DESC")}
    SELECT (SELECT at FROM earliest WHERE span = 1) AS first, (SELECT at FROM latest WHERE span = 1) AS last`;
  return { text, values: conditions.values };
}

const names: Readonly<Record<Grouping, string>> = {
  tenant: "g.tenant",
  agent: "g.agent",
  model: "g.models",
  key: "g.caller",
  day: `c.at / ${dayMs}`,
  cause: "g.code",
};

function sumsOf(engine: SumsEngine, query: ListQuery, by: Grouping | undefined): Statement {
  const conditions = new Conditions(engine, query, by);
  const widest = by === "day" ? dayMs : spans[4];
  const when = (outcome: string) => `coalesce(sum(CASE WHEN g.outcome = '${outcome}' THEN c.runs ELSE 0 END), 0)`;
  const sum = (column: string) => `coalesce(sum(c.${column}), 0)`;
  const text = `SELECT ${by === undefined ? "NULL" : names[by]} AS name, ${sum("runs")} AS runs, ${when("failed")} AS failed,
      ${when("cancelled")} AS cancelled, ${sum("input_tokens")} AS "inputTokens", ${sum("output_tokens")} AS "outputTokens",
      ${sum("nanos")} AS nanos, ${sum("priced")} AS priced, ${engine.joined("c.spread")} AS spread
    ${conditions.from(query, widest)}${by === undefined ? "" : ` GROUP BY ${names[by]}`}`;
  return { text, values: conditions.values };
}

function barsOf(
  engine: SumsEngine,
  query: ListQuery,
  bars: { readonly span: number; readonly width: number },
): Statement {
  const conditions = new Conditions(engine, query);
  const from = conditions.from(query, bars.span);
  const width = `CAST(${conditions.add(bars.width)} AS bigint)`;
  const text = `SELECT at * ${width} AS at, runs, failed FROM (SELECT c.at / ${width} AS at, sum(c.runs) AS runs,
      sum(CASE WHEN g.outcome = 'failed' THEN c.runs ELSE 0 END) AS failed ${from} GROUP BY 1) b`;
  return { text, values: conditions.values };
}

/** Limits a list by day to the newest days; otherwise it would read every day of a long period. */
const newestDays = (query: ListQuery, last: number): ListQuery => ({
  ...query,
  since: Math.max(query.since ?? 0, (Math.floor(last / dayMs) - mostGroups + 1) * dayMs),
});

const toSums = ({ name: _, spread, ...figures }: SumsRow): RunSums => ({
  ...(Object.fromEntries(Object.entries(figures).map(([figure, value]) => [figure, Number(value)])) as typeof figures), // The same keys.
  spread: readSpread(spread ?? ""),
});

/** Merges rows of the same name: different lists of models may read the same. */
function merged(rows: readonly SumsRow[], by: Grouping | undefined): (RunSums & { name: string })[] {
  const groups = new Map<string, Sums>();
  for (const row of rows) {
    const name = nameOf(row.name, by);
    const group = groups.get(name) ?? new Sums();
    groups.set(name, group);
    group.add(toSums(row));
  }
  return [...groups].map(([name, sums]) => ({ name, ...sums }));
}

function nameOf(name: string | number | null, by: Grouping | undefined): string {
  if (by === "day") return dayName(Number(name) * dayMs);
  if (by === "model") return modelsName(JSON.parse(String(name)) as string[]); // Written from `Digest.models`.
  return String(name ?? "") || (by === "cause" ? "unknown" : "none");
}

/** Adds up consecutive JSON objects such as `{"110":3,"121":1}`. Parsed by hand, since there may be a hundred thousand of them. */
function readSpread(texts: string): Map<number, number> {
  const spread = new Map<number, number>();
  let floor = 0;
  let number = 0;
  let inside = false;
  for (let at = 0; at < texts.length; at++) {
    const code = texts.charCodeAt(at);
    if (code >= 48 && code <= 57) {
      number = number * 10 + code - 48;
      inside = true;
    } else if (code === 58) {
      floor = number;
      number = 0;
      inside = false;
    } else if (inside && code !== 34) {
      if (number > 0) spread.set(floor, (spread.get(floor) ?? 0) + number);
      number = 0;
      inside = false;
    }
  }
  return new Map([...spread].map(([each, runs]) => [middleOf(each), runs]));
}
