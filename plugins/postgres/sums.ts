import { type SumsEngine, totalsFromSums } from "venturi/internal";
import type { Grouping, ListQuery, Totals } from "venturi/plugin";
import type { Database } from "./database.ts";
import type { ReadReplica } from "./read-replica.ts";

interface Servers {
  readonly database: Database;
  readonly replica: ReadReplica | undefined;
}

export const totals = (servers: Servers, query: ListQuery, by: Grouping | undefined): Promise<Totals> =>
  totalsFromSums(engineOf(servers), query, by);

const engineOf = ({ database, replica }: Servers): SumsEngine => ({
  schema: `${database.schema}.`,
  joined: (column) => `string_agg(${column}::text, '')`,
  hasModel: (parameter) => `jsonb_exists(g.models::jsonb, ${parameter})`,
  isOneOf: (column, parameter) => `${column} = ANY (${parameter}::text[])`,
  byTime: true,
  list: (values) => values,
  async ask<Row>(text: string, values: readonly unknown[]) {
    const lagging = await replica?.query<Row & Record<string, unknown>>(text, values);
    return lagging ?? (await database.find<Row & Record<string, unknown>>("journal.list", text, values));
  },
});

/**
 * Removes groups without sums. Whoever adds to one holds a lock on the table until its transaction ends. This waits for all of them, and
 * only the next statement looks; otherwise it could remove a group that a sum was just added to.
 */
export async function forgetGroups(database: Database): Promise<void> {
  await database.transaction("journal.prune", async (ask) => {
    const { schema } = database;
    await ask(`LOCK TABLE ${schema}.sum_groups IN EXCLUSIVE MODE`, []);
    await ask(
      `DELETE FROM ${schema}.sum_groups g WHERE NOT EXISTS (SELECT 1 FROM ${schema}.sums c WHERE c.grp = g.id)`,
      [],
    );
  });
}
