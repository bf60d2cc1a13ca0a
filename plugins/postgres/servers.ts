import { Socket } from "node:net";
import type { ConnectionOptions } from "node:tls";
import type { Client, ClientBase, Pool } from "pg";
import { addressesOf } from "./address.ts";
import { UnusableDatabase } from "./schema.ts";

export interface ServerOptions {
  /** Several hosts, separated by commas, are tried one after the other. */
  readonly url: string;
  readonly pool: number;
  readonly ssl?: boolean | ConnectionOptions | undefined;
  readonly connectTimeout: number;
  readonly timeout: number;
  readonly pooler: boolean;
}

/** Connections that can be ended even when the other end no longer answers. */
export interface Opened<Link> {
  readonly link: Link;
  /** Says goodbye, and after `grace` ms closes what is still open. */
  end(grace: number): Promise<void>;
}

/** A primary and its standbys: connections lead to the one that takes writes. */
export class Servers {
  readonly #options: ServerOptions;
  readonly #addresses: readonly string[];
  #first = 0;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#addresses = addressesOf(options.url, { tls: options.ssl !== undefined });
  }

  /** `prepare` is done on its first connection; a server that fails it is not taken. */
  openPool(prepare: (client: ClientBase) => Promise<void>): Promise<Opened<Pool>> {
    return this.#find((address) => this.#openPool(address, prepare));
  }

  openClient(): Promise<Opened<Client>> {
    return this.#find((address) => this.#openClient(address));
  }

  /** The server in use failed: one that hangs may still call itself the primary, so another is asked first. */
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
        // This is the primary, and what it holds will not do; anything else may be that one server's own trouble.
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
    pool.on("error", () => {}); // an idle connection that breaks is replaced when it is next needed
    // One that breaks while it is out tells so by an event as well, which would end the process if nobody listened.
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
      opened.end(0).catch(() => {}); // it is the connecting that failed, and that is told
      throw thrown;
    }
  }

  async #openClient(address: string): Promise<Opened<Client>> {
    const { default: pg } = await import("pg");
    const sockets = new Sockets();
    const client = new pg.Client(this.#settings(address, sockets));
    client.on("error", () => {}); // what is asked of it fails by itself; its owner listens for its end
    const opened = { link: client, end: (grace: number) => sockets.closeAfter(grace, client.end()) };
    try {
      await client.connect();
      await this.#greet(client);
      return opened;
    } catch (thrown) {
      opened.end(0).catch(() => {}); // as above
      throw thrown;
    }
  }

  async #greet(client: ClientBase): Promise<void> {
    await refuseReadOnly(client);
    if (this.#options.pooler) return; // the session is everyone's
    // Sooner than we give up, or each statement given up while it waits for a lock would leave a connection behind.
    // Not as a parameter of the connection, since poolers refuse those they do not know.
    await client.query(`SET lock_timeout = ${Math.ceil(this.#options.timeout * 0.8)}`);
  }

  #settings(address: string, sockets: Sockets) {
    const { ssl, connectTimeout, timeout } = this.#options;
    return {
      connectionString: address,
      stream: () => sockets.make(),
      // A copy, since pg changes what it is given.
      ...(ssl === undefined ? {} : { ssl: typeof ssl === "object" ? { ...ssl } : ssl }),
      connectionTimeoutMillis: connectTimeout,
      query_timeout: timeout,
      keepAlive: true,
      application_name: "venturi",
    };
  }
}

/** A standby answers questions well enough to be taken for the primary. */
export async function refuseReadOnly(client: Pick<ClientBase, "query">): Promise<void> {
  const { rows } = await client.query("SELECT current_setting('transaction_read_only') AS value");
  if (rows[0]?.value === "on") throw new ReadOnlyServer("the server is read-only");
}

/** As the server itself says it when something is to be written. */
class ReadOnlyServer extends Error {
  readonly code = "25006";
}

/** The sockets beneath, since a goodbye that nobody answers would keep them open for hours. */
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
