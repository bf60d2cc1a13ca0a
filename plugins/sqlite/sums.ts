import { type SumsEngine, totalsFromSums } from "venturi/internal";
import type { Grouping, ListQuery, Totals } from "venturi/plugin";
import type { Asked } from "./store-thread.ts";

export const totals = (reads: Asked, query: ListQuery, by: Grouping | undefined): Promise<Totals> =>
  totalsFromSums(engineOf(reads), query, by);

const engineOf = (reads: Asked): SumsEngine => ({
  schema: "",
  joined: (column) => `group_concat(${column}, '')`,
  hasModel: (parameter) => `EXISTS (SELECT 1 FROM json_each(g.models) WHERE value = ${parameter})`,
  isOneOf: (column, parameter) => `${column} IN (SELECT value FROM json_each(${parameter}))`,
  byTime: false,
  list: (values) => JSON.stringify(values),
  async ask<Row>(text: string, values: readonly unknown[]) {
    return (await reads.ask("sums", text, values as (string | number)[])) as Row[]; // The statement's columns.
  },
});
