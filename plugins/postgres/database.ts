import type { ConnectionOptions } from "node:tls";
import type { Client, Pool, PoolClient, QueryResultRow } from "pg";
import { VenturiError } from "venturi/plugin";
import { explain, isConnectionLost, isTransient } from "./failures.ts";
import { migrate } from "./schema.ts";

export interface DatabaseOptions {
  readonly url: string;
  readonly schema: string;
  readonly pool: number;
  readonly ssl?: boolean | ConnectionOptions | undefined;
  readonly connectTimeout: number;
  readonly timeout: number;
  readonly pooler: boolean;
}

type Values = readonly unknown[];
export type Ask = <Row extends QueryResultRow>(text: string, values: Values) => Promise<Row[]>;

const transientTries = 5;

/**
 * The connections. They are opened when first needed, the schema is brought up to date before the first question, and when
 * one connection is lost all are replaced: the others lead to the same dead end.
 */
export class Database {
  readonly schema: string;
  readonly #options: DatabaseOptions;
  readonly #names = new Map<string, string>();
  #pool: Promise<Pool> | undefined;
  #closed = false;

  constructor(options: DatabaseOptions) {
    this.schema = options.schema;
    this.#options = options;
  }

  /** One statement, which is one transaction. Deadlocks and the like are tried again. */
  async query<Row extends QueryResultRow>(op: string, text: string, values: Values): Promise<Row[]> {
    return this.#retrying(op, async (pool) => {
      const { rows } = await pool.query<Row>(this.#statement(text, values));
      return rows;
    });
  }

  async transaction<T>(op: string, work: (ask: Ask) => Promise<T>): Promise<T> {
    return this.#retrying(op, async (pool) => {
      const client = await checkOut(pool);
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

  /** A connection apart from the pool, to listen on. Its owner ends it. */
  async connect(): Promise<Client> {
    const { default: pg } = await import("pg");
    const client = new pg.Client(this.#settings());
    client.on("error", () => {}); // what is asked of it fails by itself; its owner listens for its end
    await client.connect();
    return client;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const pool = this.#pool;
    this.#pool = undefined;
    await pool?.then((opened) => opened.end()).catch(() => {}); // one that never opened has nothing to close
  }

  async #retrying<T>(op: string, work: (pool: Pool) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      if (this.#closed) throw new VenturiError(op, "journal_failed", "the journal has been closed");
      const opening = this.#pool ?? this.#open();
      this.#pool = opening;
      try {
        return await work(await opening);
      } catch (thrown) {
        if (isConnectionLost(thrown)) this.#drop(opening);
        if (thrown instanceof VenturiError) throw thrown;
        if (isTransient(thrown) && tries < transientTries) continue;
        const { message, unusable } = explain(thrown);
        const details = unusable ? { details: { unusable } } : {};
        throw new VenturiError(op, "journal_failed", message, { cause: thrown, ...details });
      }
    }
  }

  async #open(): Promise<Pool> {
    const { default: pg } = await import("pg");
    const pool = new pg.Pool({ ...this.#settings(), max: this.#options.pool, idleTimeoutMillis: 60_000 });
    pool.on("error", () => {}); // an idle connection that breaks is replaced when it is next needed
    try {
      const client = await checkOut(pool);
      try {
        await migrate(client, this.schema);
      } finally {
        client.release();
      }
      return pool;
    } catch (thrown) {
      this.#pool = undefined;
      pool.end().catch(() => {}); // it is the connecting that failed, and that is told
      throw thrown;
    }
  }

  #drop(pool: Promise<Pool>): void {
    if (this.#pool === pool) this.#pool = undefined;
    pool.then((opened) => opened.end()).catch(() => {}); // those under way fail by themselves
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

  #settings() {
    const { url, ssl, connectTimeout, timeout } = this.#options;
    return {
      connectionString: url,
      ...(ssl === undefined ? {} : { ssl }),
      connectionTimeoutMillis: connectTimeout,
      query_timeout: timeout,
      keepAlive: true,
      application_name: "venturi",
    };
  }
}

/** A connection that breaks while it is out tells so by an event as well, which would end the process if nobody listened. */
async function checkOut(pool: Pool): Promise<PoolClient> {
  const client = await pool.connect();
  if (client.listenerCount("error") === 0) client.on("error", () => {});
  return client;
}
