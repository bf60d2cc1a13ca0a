import { z } from "zod";
import { VenturiError } from "../errors/errors.ts";
import { momentIn } from "../values/moment.ts";
import { named } from "../values/schema-names.ts";
import { dayOf, type UsageKey, type UsageQuery, type UsageRow, UsageSums, usageKeys, usdOf } from "./money.ts";

const figures = {
  generations: z.number().int().describe("that succeeded"),
  failed: z.number().int().describe("attempts that failed and used something"),
  unpriced: z.number().int().describe("of both, those whose cost is not known; it is not in `cost`"),
  cost: z.number().optional().describe("USD; absent when that of none is known"),
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
  reasoningTokens: z.number(),
};
const column = z.string().optional();

/** Usage and cost of generations: one row per combination of the keys in `by`. */
export const UsageReport = z.object({
  by: z.array(z.enum(usageKeys)),
  since: z.string().optional(),
  until: z.string().optional(),
  rows: z.array(
    z.object({ day: column, tenant: column, agent: column, model: column, key: column, user: column, ...figures }),
  ),
  total: z.object(figures),
});
export type UsageReport = z.output<typeof UsageReport>;
named("UsageReport", UsageReport);

export function usageReport({ by, since, until }: UsageQuery, rows: readonly UsageRow[]): UsageReport {
  const sums = new UsageSums([]);
  for (const row of rows) sums.add(row);
  const [total = nothing] = sums.rows;
  return {
    by: [...by],
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    rows: rows.map((row) => shown(row)),
    total: shown(total),
  };
}

const nothing: UsageRow = {
  generations: 0,
  failed: 0,
  unpriced: 0,
  nanos: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

function shown({ nanos, generations, failed, unpriced, ...row }: UsageRow) {
  const isKnown = unpriced === 0 || unpriced < generations + failed;
  return { ...row, generations, failed, unpriced, ...(isKnown ? { cost: usdOf({ nanos }) } : {}) };
}

/** For spreadsheets: names chosen by callers must not be read as formulas. */
export function usageCsv({ by, rows }: UsageReport): string {
  const names = [...by, ...Object.keys(figures)] as (keyof UsageReport["rows"][number])[];
  const lines = rows.map((row) => names.map((name) => cell(row[name])).join(","));
  return [names.join(","), ...lines, ""].join("\r\n");
}

function cell(value: string | number | undefined): string {
  if (typeof value !== "string") return value === undefined ? "" : plainNumber(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Without the exponent that small numbers would have. */
const plainNumber = (value: number): string =>
  Number.isInteger(value) ? String(value) : value.toFixed(9).replace(/0+$/, "");

/** Parses a query: `by` is a list of keys; `since` and `until` are days, or ages such as `7d`, `12w`. */
export function usageQuery(
  asked: { readonly by?: string | undefined; readonly since?: string | undefined; readonly until?: string | undefined },
  now: number,
): UsageQuery {
  const by = (asked.by ?? "day").split(",").filter((name) => name !== "");
  for (const [index, name] of by.entries()) {
    if (!usageKeys.includes(name as UsageKey)) throw wrong(`by: "${name}" is none of ${usageKeys.join(", ")}`);
    if (by.indexOf(name) !== index) throw wrong(`by: "${name}" is listed twice`);
  }
  const since = dayFrom("since", asked.since, now);
  const until = dayFrom("until", asked.until, now);
  return {
    by: by as UsageKey[], // Checked above.
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

function dayFrom(name: string, text: string | undefined, now: number): string | undefined {
  if (text === undefined) return undefined;
  if (/^\d{4}-\d\d-\d\d$/.test(text) && momentIn(text) !== undefined) return text;
  const [, count, unit] = /^(\d{1,4})([dw])$/.exec(text) ?? [];
  if (count === undefined) throw wrong(`${name}: expected a day such as 2026-11-17, or how long ago, such as 7d`);
  return dayOf(now - Number(count) * (unit === "w" ? 7 : 1) * 86_400_000);
}

const wrong = (message: string): VenturiError => new VenturiError("usage.report", "invalid_input", message);
