import { mostListed } from "venturi/internal";
import type { KeyValue, KeyValues } from "venturi/plugin";
import type { Database } from "./database.ts";
import type { Statements } from "./sql.ts";

const op = "journal.values";

export const keyValues = (database: Database, sql: Statements): KeyValues => ({
  async get(space, key) {
    const [found] = await database.find<KeyValue>(op, sql.getValue, [space, key]);
    return found;
  },
  async put(space, { key, value, version }) {
    const [stored] =
      version === 0
        ? await database.query<{ version: number }>(op, sql.insertValue, [space, key, value])
        : await database.query<{ version: number }>(op, sql.updateValue, [space, key, value, version]);
    return stored?.version;
  },
  async remove(space, key, version) {
    return (await database.query(op, sql.removeValue, [space, key, version])).length > 0;
  },
  list: (space, { prefix = "", after = "", limit = mostListed } = {}) =>
    database.find<KeyValue>(op, sql.listValues, [space, after, prefix, limit]),
});
