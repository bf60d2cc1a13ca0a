import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { SqliteJournal } from "../../plugins/sqlite/journal.ts";
import type { Journal } from "../../src/core/journal/journal.ts";
import { Cluster } from "../plugins/postgres/cluster.ts";
import { openJournal } from "../plugins/postgres/open.ts";
import type { Random } from "./random.ts";
import { postgresSkew, setPostgresSkew, setSqliteSkew, skewedUrl } from "./skew.ts";
import { Wire } from "./wire.ts";

/** What a journal's engine can suffer, and how to look at it from outside. */
export interface Engine {
  /** The `journal:` entry of replica `index`. */
  config(index: number): Promise<Readonly<Record<string, unknown>>>;
  readonly faults: Readonly<Record<string, (random: Random) => Promise<void>>>;
  open(): Promise<Journal>;
  /** Has the engine itself note where each claim found its run. Once its tables are there. */
  audit(): Promise<void>;
  /** How many runs have been taken over since. */
  takeovers(): Promise<number>;
  /** Runs under way whose owner's name begins so, where the engine can be asked. */
  heldBy?(prefix: string): Promise<number>;
  /** Who wrote what, and who claimed when. */
  ownership(run: string): Promise<Ownership>;
  close(): Promise<void>;
}

export interface Ownership {
  /** In the order of their events. */
  readonly records: readonly { readonly first: number; readonly epoch: number }[];
  /** Where the run ended when the epoch began. */
  readonly claims: readonly { readonly epoch: number; readonly head: number }[];
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export interface EngineSettings {
  /** The journal plugin's name. */
  readonly type: string;
  readonly jumps: boolean;
  /** How many servers, where the engine is a cluster. */
  readonly servers: 1 | 3;
}

/** Off by anything from a second to an hour, in either direction. */
const skewOf = (random: Random): number => random.pick([-1, 1]) * random.pick([1_000, 2_000, 10_000, 3_600_000]);

export async function sqliteEngine(folder: string, { type, jumps }: EngineSettings): Promise<Engine> {
  const file = join(folder, "journal.db");
  const busyTimeout = 1_000;
  const ask = (text: string, ...values: string[]) => {
    const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
    try {
      return database.prepare(text).all(...values);
    } finally {
      database.close();
    }
  };
  let indexed = false;
  /** The journal itself needs no index of records by run; asking for thousands of runs does. */
  const index = () => {
    if (indexed) return;
    indexed = true;
    const database = new DatabaseSync(file, { timeout: 5_000 });
    database.exec("CREATE INDEX IF NOT EXISTS records_of_run ON records (run, first)");
    database.exec("CREATE INDEX IF NOT EXISTS claims_of_run ON claims (run, epoch)");
    database.close();
  };
  return {
    config: async () => ({ type, path: file, lease: "1500ms", busyTimeout }),
    faults: {
      /** Another process sits on the file. */
      async lock(random) {
        const other = new DatabaseSync(file, { timeout: 2_000 });
        try {
          other.exec("BEGIN IMMEDIATE");
          await pause(random.between(200, 2_000));
          other.exec("ROLLBACK");
        } catch {
          // it was locked by the replicas themselves for longer than this waits
        } finally {
          other.close();
        }
      },
      ...(jumps && { jump: async (random: Random) => setSqliteSkew(file, skewOf(random)) }),
    },
    open: async () => new SqliteJournal({ file, lease: 1_500, busyTimeout: 5_000, watch: 50 }),
    async audit() {
      const database = new DatabaseSync(file, { timeout: 5_000 });
      database.exec(`CREATE TABLE claims (run INTEGER NOT NULL, epoch INTEGER NOT NULL, head INTEGER NOT NULL);
        CREATE TRIGGER claimed AFTER UPDATE OF epoch ON runs WHEN new.epoch > old.epoch BEGIN
          INSERT INTO claims VALUES (new.id, new.epoch, new.head);
        END`);
      database.close();
    },
    heldBy: async (prefix) =>
      Number(
        ask("SELECT count(*) AS count FROM runs WHERE state = 'running' AND worker LIKE ?", `${prefix}%`)[0]?.count,
      ),
    takeovers: async () => Number(ask("SELECT count(*) AS count FROM claims WHERE epoch > 1")[0]?.count),
    async ownership(run) {
      index();
      const id = "(SELECT id FROM runs WHERE run = ?)";
      const records = ask(`SELECT first, epoch FROM records WHERE run = ${id} ORDER BY first`, run);
      const claims = ask(`SELECT epoch, head FROM claims WHERE run = ${id} ORDER BY epoch`, run);
      return {
        records: records.map(({ first, epoch }) => ({ first: Number(first), epoch: Number(epoch) })),
        claims: claims.map(({ epoch, head }) => ({ epoch: Number(epoch), head: Number(head) })),
      };
    },
    close: async () => {},
  };
}

export async function postgresEngine({ type, jumps }: EngineSettings): Promise<Engine> {
  const cluster = await Cluster.start();
  if (jumps) await postgresSkew(cluster.url);
  const proxies: Wire[] = [];
  const pool = new pg.Pool({ connectionString: cluster.url, connectionTimeoutMillis: 2_000, max: 2 });
  pool.on("error", () => {}); // a crash of the server, which the next query tells of too
  const ask = async <Row extends pg.QueryResultRow>(text: string, ...values: string[]): Promise<Row[]> => {
    return (await pool.query<Row>(text, values)).rows;
  };
  return {
    async config() {
      const proxy = await Wire.to(cluster.port);
      proxies.push(proxy);
      const url = jumps ? skewedUrl(cluster.urlAt(proxy.port)) : cluster.urlAt(proxy.port);
      return { type, url, schema: "chaos", lease: "1500ms", timeout: "1500ms", connectTimeout: "1s" };
    },
    faults: {
      async crash(random) {
        await cluster.crash();
        await pause(random.between(0, 1_000));
        await cluster.up();
      },
      async blackHole(random) {
        const proxy = random.pick(proxies);
        proxy.swallow();
        await pause(random.between(500, 3_500));
        proxy.pass();
      },
      ...(jumps && { jump: (random: Random) => setPostgresSkew(cluster.url, skewOf(random)) }),
    },
    open: async () => openJournal(cluster.url, "chaos"),
    async audit() {
      await ask(`CREATE TABLE chaos.claims (run bigint NOT NULL, epoch integer NOT NULL, head integer NOT NULL);
        CREATE INDEX ON chaos.claims (run);
        CREATE FUNCTION chaos.claimed() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN INSERT INTO chaos.claims VALUES (new.id, new.epoch, new.head); RETURN NULL; END';
        CREATE TRIGGER claimed AFTER UPDATE OF epoch ON chaos.runs FOR EACH ROW WHEN (new.epoch > old.epoch)
          EXECUTE FUNCTION chaos.claimed()`);
    },
    async heldBy(prefix) {
      const text = "SELECT count(*)::int AS count FROM chaos.runs WHERE state = 'running' AND worker LIKE $1";
      const [row] = await ask<{ count: number }>(text, `${prefix}%`);
      return row?.count ?? 0;
    },
    async takeovers() {
      const [row] = await ask<{ count: number }>("SELECT count(*)::int AS count FROM chaos.claims WHERE epoch > 1");
      return row?.count ?? 0;
    },
    async ownership(run) {
      const id = "(SELECT id FROM chaos.runs WHERE run = $1)";
      return {
        records: await ask(`SELECT first, epoch FROM chaos.records WHERE run = ${id} ORDER BY first`, run),
        claims: await ask(`SELECT epoch, head FROM chaos.claims WHERE run = ${id} ORDER BY epoch`, run),
      };
    },
    async close() {
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await pool.end().catch(() => {}); // the server may be gone
      await cluster.stop();
    },
  };
}
