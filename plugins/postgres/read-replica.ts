import type { Pool, QueryResultRow } from "pg";
import { isPermanent } from "./failures.ts";
import type { ServerOptions } from "./servers.ts";

type Options = Pick<ServerOptions, "pool" | "ssl" | "connectTimeout" | "timeout" | "pooler"> & { readonly url: string };

/** After a failure the replica is left alone for this long, ms. */
const rest = 5_000;

/** A standby for reads that may lag behind. It is an optimisation: whenever it fails, the caller asks the primary. */
export class ReadReplica {
  readonly #options: Options;
  #pool: Promise<Pool> | undefined;
  #restUntil = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Undefined when it cannot answer now. */
  async query<Row extends QueryResultRow>(text: string, values: readonly unknown[]): Promise<Row[] | undefined> {
    if (performance.now() < this.#restUntil) return undefined;
    try {
      this.#pool ??= this.#open();
      const { rows } = await (await this.#pool).query<Row>(text, [...values]);
      return rows;
    } catch (thrown) {
      if (isPermanent(thrown)) return undefined; // The values are to blame, and must not keep others from it.
      this.#restUntil = performance.now() + rest;
      return undefined;
    }
  }

  async close(): Promise<void> {
    const pool = await this.#pool?.catch(() => undefined);
    this.#pool = undefined;
    await pool?.end().catch(() => {}); // Its connections are gone.
  }

  async #open(): Promise<Pool> {
    const { default: pg } = await import("pg");
    const { url, ssl, connectTimeout, timeout, pool: max } = this.#options;
    const pool = new pg.Pool({
      connectionString: url,
      max,
      connectionTimeoutMillis: connectTimeout,
      query_timeout: timeout,
      ...(ssl === undefined ? {} : { ssl }),
    });
    pool.on("error", () => {}); // A broken idle connection is replaced on next use.
    pool.on("connect", (client) => client.on("error", () => {}));
    return pool;
  }
}
