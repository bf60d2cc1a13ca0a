import { Socket } from "node:net";
import type { ConnectionOptions } from "node:tls";
import type { Client, ClientBase, Pool } from "pg";
import { addressesOf } from "./address.ts";
import { UnusableDatabase } from "./schema.ts";

export interface ServerOptions {
  /** Several hosts, separated by commas, are tried in order. */
  readonly url: string;
  readonly pool: number;
  readonly ssl?: boolean | ConnectionOptions | undefined;
  readonly connectTimeout: number;
  readonly timeout: number;
  readonly pooler: boolean;
}

/** Connections that can be closed even if the peer no longer responds. */
export interface Opened<Link> {
  readonly link: Link;
  /** Closes gracefully, and after `grace` ms forcibly. */
  end(grace: number): Promise<void>;
}

/** A primary and its standbys: connects to the one that accepts writes. */
export class Servers {
  readonly #options: ServerOptions;
  readonly #addresses: readonly string[];
  #first = 0;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#addresses = addressesOf(options.url, { tls: options.ssl !== undefined });
  }

  /** `prepare` runs on the first connection; a server that fails it is skipped. */
  openPool(prepare: (client: ClientBase) => Promise<void>): Promise<Opened<Pool>> {
    return this.#find((address) => this.#openPool(address, prepare));
  }

  openClient(): Promise<Opened<Client>> {
    return this.#find((address) => this.#openClient(address));
  }

  /** The current server failed: one that hangs may still claim to be the primary, so another is tried first. */
  lost(): void {
    this.#first += 1;
  }

  async #find<T>(open: (address: string) => Promise<T>): Promise<T> {
    const failures: unknown[] = [];
    const from = this.#first;
    for (let tries = 0; tries < this.#addresses.length; tries++) {
      const index = (from + tries) % this.#addresses.length;
      try {
        const opened = await open(this.#addresses[index] ?? this.#options.url);
        this.#first = index;
        return opened;
      } catch (thrown) {
        // This is the primary, and its contents are unusable; any other failure may be specific to that server.
        if (thrown instanceof UnusableDatabase) throw thrown;
        failures.push(thrown);
      }
    }
    throw failures.length === 1 ? failures[0] : new AggregateError(failures);
  }

  async #openPool(address: string, prepare: (client: ClientBase) => Promise<void>): Promise<Opened<Pool>> {
    const { default: pg } = await import("pg");
    const sockets = new Sockets();
    const pool = new pg.Pool({
      ...this.#settings(address, sockets),
      max: this.#options.pool,
      idleTimeoutMillis: 60_000,
      verify: (client, done) => this.#greet(client).then(() => done(), done),
    });
    pool.on("error", () => {}); // A broken idle connection is replaced on next use.
    // A checked-out connection that breaks also emits an error event, which would crash the process without a listener.
    pool.on("connect", (client) => client.on("error", () => {}));
    const opened = { link: pool, end: (grace: number) => sockets.closeAfter(grace, pool.end()) };
    try {
      const client = await pool.connect();
      try {
        await prepare(client);
      } finally {
        client.release();
      }
      return opened;
    } catch (thrown) {
      opened.end(0).catch(() => {}); // Report the failure to connect.
      throw thrown;
    }
  }

  async #openClient(address: string): Promise<Opened<Client>> {
    const { default: pg } = await import("pg");
    const sockets = new Sockets();
    const client = new pg.Client(this.#settings(address, sockets));
    client.on("error", () => {}); // Queries fail on their own; the owner listens for the end.
    const opened = { link: client, end: (grace: number) => sockets.closeAfter(grace, client.end()) };
    try {
      await client.connect();
      await this.#greet(client);
      return opened;
    } catch (thrown) {
      opened.end(0).catch(() => {}); // Report the failure to connect.
      throw thrown;
    }
  }

  async #greet(client: ClientBase): Promise<void> {
    await refuseReadOnly(client);
    if (this.#options.pooler) return; // The session is shared with others.
    // Shorter than our own timeout, or each statement abandoned while it waits for a lock would leak a connection. Not a
    // connection parameter, since poolers reject unknown ones.
    await client.query(`SET lock_timeout = ${Math.ceil(this.#options.timeout * 0.8)}`);
  }

  #settings(address: string, sockets: Sockets) {
    const { ssl, connectTimeout, timeout } = this.#options;
    return {
      connectionString: address,
      stream: () => sockets.make(),
      // A copy, because pg mutates it.
      ...(ssl === undefined ? {} : { ssl: typeof ssl === "object" ? { ...ssl } : ssl }),
      connectionTimeoutMillis: connectTimeout,
      query_timeout: timeout,
      keepAlive: true,
      application_name: "venturi",
    };
  }
}

/** A standby answers queries and could be mistaken for the primary. */
export async function refuseReadOnly(client: Pick<ClientBase, "query">): Promise<void> {
  const { rows } = await client.query("SELECT current_setting('transaction_read_only') AS value");
  if (rows[0]?.value === "on") throw new ReadOnlyServer("the server is read-only");
}

/** Same message as the server's on a write. */
class ReadOnlyServer extends Error {
  readonly code = "25006";
}

/** The underlying sockets, since an unanswered graceful close would keep them open for hours. */
class Sockets {
  readonly #open = new Set<Socket>();

  make(): Socket {
    const socket = new Socket();
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
    return socket;
  }

  async closeAfter(grace: number, goodbye: Promise<void>): Promise<void> {
    const timer = setTimeout(() => {
      for (const socket of this.#open) socket.destroy();
    }, grace);
    timer.unref();
    await goodbye;
    if (this.#open.size === 0) clearTimeout(timer);
  }
}
