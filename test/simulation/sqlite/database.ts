import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { Database, PreparedStatement, Sqlite3Static } from "@sqlite.org/sqlite-wasm";
import { vfsName } from "./vfs.ts";

type Values = readonly (SQLInputValue | Readonly<Record<string, SQLInputValue>>)[];

/** As much of `DatabaseSync` as the store uses, over SQLite compiled to WebAssembly. */
export function openDatabase(sqlite: Sqlite3Static, file: string): DatabaseSync {
  const database = new sqlite.oo1.DB({ filename: file, flags: "c", vfs: vfsName });
  // Without shared memory the log needs the file for itself.
  database.exec("PRAGMA locking_mode = EXCLUSIVE");
  const opened = {
    exec: (text: string) => asNode(() => database.exec(text)),
    prepare: (text: string) => asNode(() => statement(sqlite, database, text)),
    close: () => database.close(),
    get isTransaction() {
      return database.pointer !== undefined && sqlite.capi.sqlite3_get_autocommit(database.pointer) === 0;
    },
  };
  return opened as unknown as DatabaseSync; // the rest is not used
}

function statement(sqlite: Sqlite3Static, database: Database, text: string) {
  const prepared = database.prepare(text);
  const rows = function* (values: Values) {
    try {
      bind(sqlite, prepared, values);
      while (prepared.step()) yield prepared.get({});
    } finally {
      prepared.reset(true);
    }
  };
  return {
    run: (...values: Values) =>
      asNode(() => {
        for (const _ of rows(values)); // until it is done
        return {
          changes: database.changes(),
          lastInsertRowid: Number(sqlite.capi.sqlite3_last_insert_rowid(database)),
        };
      }),
    get: (...values: Values) => asNode(() => [...rows(values)][0]),
    all: (...values: Values) => asNode(() => [...rows(values)]),
    iterate: (...values: Values) => asNode(() => [...rows(values)].values()),
  };
}

function bind(sqlite: Sqlite3Static, prepared: PreparedStatement, values: Values): void {
  for (const [at, value] of values.entries()) {
    if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) {
      prepared.bind(at + 1, value as never);
      continue;
    }
    for (const [name, one] of Object.entries(value)) {
      const index = ["", ":", "@", "$"]
        .map((sign) => sqlite.capi.sqlite3_bind_parameter_index(prepared, sign + name))
        .find((found) => found > 0);
      if (index === undefined) throw new Error(`no parameter ${name}`);
      prepared.bind(index, one as never);
    }
  }
}

/** Errors as Node's have them. */
function asNode<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof Error && "resultCode" in thrown) Object.assign(thrown, { errcode: thrown.resultCode });
    throw thrown;
  }
}
