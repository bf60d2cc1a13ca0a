import { Database, type DatabaseOptions } from "../../../plugins/postgres/database.ts";
import { PostgresJournal } from "../../../plugins/postgres/journal.ts";
import { Cluster } from "./cluster.ts";

let starting: Promise<Cluster> | undefined;

/** One server for all tests; each journal gets a schema of its own. */
export const sharedCluster = (): Promise<Cluster> => {
  starting ??= Cluster.start();
  return starting;
};

after(async () => {
  await (await starting)?.stop();
});

let count = 0;
export const freshSchema = (): string => `venturi_${++count}`;

export type OpenOptions = Partial<DatabaseOptions> & { readonly lease?: number; readonly poll?: number };

export function openJournal(url: string, schema: string, options: OpenOptions = {}): PostgresJournal {
  const { lease = 30_000, poll = 50, pooler = false, ...rest } = options;
  const database = new Database({ url, schema, pool: 4, connectTimeout: 2_000, timeout: 5_000, pooler, ...rest });
  return new PostgresJournal(database, { lease, pooler, poll });
}
