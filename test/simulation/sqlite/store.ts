import type { DatabaseSync } from "node:sqlite";
import type { Sqlite3Static } from "@sqlite.org/sqlite-wasm";
import { explain, isPermanent } from "../../../plugins/sqlite/failures.ts";
import { SqliteJournal } from "../../../plugins/sqlite/journal.ts";
import type { Operation } from "../../../plugins/sqlite/protocol.ts";
import { storeIn } from "../../../plugins/sqlite/serve.ts";
import type { Asked } from "../../../plugins/sqlite/store-thread.ts";
import { VenturiError } from "../../../src/core/errors/errors.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import type { Decisions } from "../decisions.ts";
import { outside } from "../world.ts";
import { openDatabase } from "./database.ts";
import { Disk } from "./disk.ts";
import { loadSqlite, useDisk } from "./vfs.ts";

const file = "/journal.db";

export interface SqliteOptions {
  readonly lease: number;
  readonly now: () => number;
  /** Pages in the log at which it is written back to the file. */
  readonly checkpoint: number;
}

let sqlite: Sqlite3Static | undefined;

/** The product's SQLite journal with its connection in this thread, on a disk that may lose what was not synced. */
export class DiskJournal extends SqliteJournal {
  readonly disk: Disk;
  readonly #open: () => DatabaseSync;
  readonly #shut: () => void;

  static async open(options: SqliteOptions): Promise<DiskJournal> {
    sqlite ??= await loadSqlite();
    return new DiskJournal(sqlite, options);
  }

  private constructor(sqlite: Sqlite3Static, { lease, now, checkpoint }: SqliteOptions) {
    const disk = new Disk(now);
    const set = {
      file,
      lease,
      busyTimeout: 1_000,
      watch: 50,
      search: true,
      role: "all",
      pageBytes: 1_000_000,
    } as const;
    let database: DatabaseSync | undefined;
    let store: ReturnType<typeof storeIn> | undefined;
    let numbers = 0;
    let isClosed = false;
    const open = () => {
      useDisk(disk);
      database = openDatabase(sqlite, file);
      store = storeIn(database, set, () => {});
      database.exec(`PRAGMA wal_autocheckpoint = ${checkpoint}`);
      return database;
    };
    const connection: Asked = {
      // Not async: it is done when the call returns, whoever waits for the answer.
      ask: ((operation: Operation, ...args: unknown[]) => {
        try {
          if (isClosed) throw new Error("the journal has been closed");
          if (disk.off) throw new Error("the power is lost");
          useDisk(disk);
          if (store === undefined) outside(open);
          const method = store?.[operation as "ping"] as (...given: unknown[]) => unknown;
          return Promise.resolve(outside(() => method.apply(store, args)));
        } catch (thrown) {
          const code = isPermanent(thrown) ? "record_invalid" : "journal_failed";
          return Promise.reject(new VenturiError(`journal.${operation}`, code, explain(thrown, file).failure));
        }
      }) as Asked["ask"],
      close: async () => {
        isClosed = true;
        this.#shut();
      },
    };
    super(set, silentLog, { connect: () => connection, fresh: () => ++numbers });
    this.disk = disk;
    this.#open = open;
    this.#shut = () => {
      database?.close();
      database = undefined;
      store = undefined;
    };
  }

  /** The power is back: the file as it is found. Returns what SQLite finds wrong with it, or "ok". */
  restart(decisions: Decisions): string {
    this.#shut();
    this.disk.restart(decisions);
    return String(Object.values(this.#open().prepare("PRAGMA integrity_check").get() ?? {})[0]);
  }
}
