import type { Client, ClientBase, Pool, PoolClient, QueryResultRow } from "pg";
import { VenturiError } from "venturi/plugin";
import { explain, isConnectionLost, isPermanent, isQueueFull, isTransient } from "./failures.ts";
import { migrations } from "./migrations.ts";
import { migrate } from "./schema.ts";
import { type Opened, refuseReadOnly, type ServerOptions, Servers } from "./servers.ts";

export interface DatabaseOptions extends ServerOptions {
  readonly schema: string;
  /** Creates or migrates the tables; returns the previous version if it was an older one. Default: the journal's tables. */
  readonly migrate?: (client: ClientBase, schema: string) => Promise<number | undefined>;
  /** Called when the schema was migrated from an older version. */
  readonly migrated?: (from: number, to: number) => void;
}

type Values = readonly unknown[];
export type Ask = <Row extends QueryResultRow>(text: string, values: Values) => Promise<Row[]>;

const transientTries = 5;
const goodbye = 500;

/**
 * The connection pool. Opened on first use; migrates the schema before the first query. When one connection is lost all are
 * replaced, since the others lead to the same dead server.
 */
export class Database {
  readonly schema: string;
  /** Called whenever the connections were lost, so that others can check theirs. */
  readonly lost = new Set<() => void>();
  readonly #options: DatabaseOptions;
  readonly #servers: Servers;
  readonly #names = new Map<string, string>();
  #pool: Promise<Opened<Pool>> | undefined;
  #closed = false;

  constructor(options: DatabaseOptions) {
    this.schema = options.schema;
    this.#options = options;
    this.#servers = new Servers(options);
  }

  /** Checks that it accepts writes: a standby that responds is of no use. */
  async ping(op: string): Promise<void> {
    await this.#retrying(op, (pool) => refuseReadOnly(pool));
  }

  /** One statement in its own transaction. Deadlocks and serialisation failures are retried. */
  async query<Row extends QueryResultRow>(op: string, text: string, values: Values): Promise<Row[]> {
    return this.#retrying(op, async (pool) => {
      const { rows } = await pool.query<Row>(this.#statement(text, values));
      return rows;
    });
  }

  /** As `query`, for what only reads: no stored text has a NUL, which the server refuses, so nothing is found by one. */
  async find<Row extends QueryResultRow>(op: string, text: string, values: Values): Promise<Row[]> {
    return values.some(hasNul) ? [] : await this.query<Row>(op, text, values);
  }

  async transaction<T>(op: string, work: (ask: Ask) => Promise<T>): Promise<T> {
    return this.#retrying(op, async (pool) => {
      const client = await pool.connect();
      let failure: Error | undefined;
      try {
        // A replica that vanishes between two statements must not keep its locks until TCP notices.
        await client.query(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${this.#options.timeout}`);
        const value = await work(this.#asking(client));
        await client.query("COMMIT");
        return value;
      } catch (thrown) {
        // Closing the connection rolls back, even where a ROLLBACK would no longer get through.
        failure = thrown instanceof Error ? thrown : new Error(String(thrown));
        throw thrown;
      } finally {
        client.release(failure ?? false);
      }
    });
  }

  /** A connection outside the pool, for LISTEN. Its owner closes it. */
  connect(): Promise<Opened<Client>> {
    return this.#servers.openClient();
  }

  async close(): Promise<void> {
    this.#closed = true;
    const pool = this.#pool;
    this.#pool = undefined;
    await pool?.then((opened) => opened.end(goodbye)).catch(() => {}); // One that never opened has nothing to close.
  }

  async #retrying<T>(op: string, work: (pool: Pool) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      if (this.#closed) throw new VenturiError(op, "journal_failed", "the journal has been closed");
      const opening = this.#pool ?? this.#open();
      this.#pool = opening;
      try {
        const { link } = await opening;
        return await work(link);
      } catch (thrown) {
        if (VenturiError.isInstance(thrown)) throw thrown; // Our own error, not the connection's.
        if (isConnectionLost(thrown)) this.#drop(opening);
        if (isQueueFull(thrown)) await this.#freeQueue();
        if (isTransient(thrown) && tries < transientTries) continue;
        const { message, unusable } = explain(thrown);
        const details = unusable ? { details: { unusable } } : {};
        const code = isPermanent(thrown) ? "record_invalid" : "journal_failed";
        throw new VenturiError(op, code, message, { cause: thrown, ...details });
      }
    }
  }

  async #open(): Promise<Opened<Pool>> {
    try {
      return await this.#servers.openPool(async (client) => {
        const from = await (this.#options.migrate ?? migrate)(client, this.schema);
        if (from !== undefined) this.#options.migrated?.(from, migrations.length);
      });
    } catch (thrown) {
      this.#pool = undefined;
      throw thrown;
    }
  }

  /** A full queue of notifications stays full, also when all have been read, until somebody asks how full it is. */
  async #freeQueue(): Promise<void> {
    const opened = await this.#pool?.catch(() => undefined);
    await opened?.link.query("SELECT pg_notification_queue_usage()").catch(() => {}); // The failure is reported as it is.
  }

  #drop(pool: Promise<Opened<Pool>>): void {
    if (this.#pool !== pool) return;
    this.#pool = undefined;
    this.#servers.lost();
    // Running queries may continue until their timeout.
    pool.then((opened) => opened.end(this.#options.timeout)).catch(() => {});
    for (const tell of this.lost) tell();
  }

  #asking(client: PoolClient): Ask {
    return async <Row extends QueryResultRow>(text: string, values: Values) => {
      const { rows } = await client.query<Row>(this.#statement(text, values));
      return rows;
    };
  }

  #statement(text: string, values: Values): { name?: string; text: string; values: unknown[] } {
    if (this.#options.pooler) return { text, values: [...values] };
    let name = this.#names.get(text);
    if (name === undefined) {
      name = `venturi_${this.#names.size}`;
      this.#names.set(text, name);
    }
    return { name, text, values: [...values] };
  }
}

const hasNul = (value: unknown): boolean =>
  typeof value === "string" ? value.includes("\0") : Array.isArray(value) && value.some(hasNul);
