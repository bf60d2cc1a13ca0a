import { Database, type DatabaseOptions } from "../../../plugins/postgres/database.ts";
import { PostgresJournal } from "../../../plugins/postgres/journal.ts";

export type OpenOptions = Partial<DatabaseOptions> & { readonly lease?: number; readonly poll?: number };

export function openJournal(url: string, schema: string, options: OpenOptions = {}): PostgresJournal {
  const { lease = 30_000, poll = 50, pooler = false, ...rest } = options;
  const database = new Database({ url, schema, pool: 4, connectTimeout: 30_000, timeout: 60_000, pooler, ...rest });
  return new PostgresJournal(database, { lease, pooler, poll });
}
