import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { definePlugin, VenturiError } from "venturi/plugin";
import { z } from "zod";
import { Database, type DatabaseOptions } from "./database.ts";
import { PostgresJournal } from "./journal.ts";

const Tls = z.strictObject({
  /** Files, relative to the config. */
  ca: z.string().optional(),
  cert: z.string().optional(),
  key: z.string().optional(),
  /** False accepts any certificate: for tests only. */
  verify: z.boolean().default(true),
});

export default definePlugin({
  name: "postgres",
  kind: "journal",
  description: "Keeps runs in PostgreSQL (14 or newer), shared by any number of replicas.",
  options: z.strictObject({
    /** `postgres://user:password@host:5432/database`. */
    url: z.string().min(1),
    /** The schema for its tables; made when it is not there. */
    schema: z
      .string()
      .regex(/^[a-z_][a-z0-9_]{0,50}$/)
      .default("venturi"),
    /** Most connections of this process, besides the one that listens. */
    pool: z.number().int().min(2).default(8),
    tls: z.union([z.boolean(), Tls]).optional(),
    /** How long to wait for a connection, ms. */
    connectTimeout: z.number().int().positive().default(5_000),
    /** How long to wait for an answer before the connection counts as lost, ms. */
    timeout: z.number().int().positive().default(10_000),
    /** A worker not heard of for this long has lost its runs, ms. */
    lease: z.number().int().min(100).default(10_000),
    /** Behind a transaction pooler (PgBouncer): polls instead of LISTEN, and prepares nothing. */
    pooler: z.boolean().default(false),
    /** How often it polls then, ms. */
    poll: z.number().int().positive().default(250),
  }),
  async create({ tls, ...options }, context) {
    const ssl = await readTls(tls, context.folder);
    const database = new Database({ ...options, ...(ssl === undefined ? {} : { ssl }) });
    const journal = new PostgresJournal(database, options);
    try {
      await journal.ping();
    } catch (thrown) {
      // A database that cannot be reached now is waited for; one that will never do is told at once.
      if (!(thrown instanceof VenturiError) || thrown.details?.unusable === true) {
        await journal.close();
        throw thrown;
      }
      context.log.warn("the journal's database cannot be used yet; trying again", { error: thrown.message });
    }
    return journal;
  },
});

async function readTls(
  tls: boolean | z.output<typeof Tls> | undefined,
  folder: string,
): Promise<DatabaseOptions["ssl"]> {
  if (tls === undefined || typeof tls === "boolean") return tls;
  const read = async (name: "ca" | "cert" | "key") => {
    const path = tls[name];
    return path === undefined ? {} : { [name]: await readFile(resolve(folder, path), "utf8") };
  };
  try {
    return { rejectUnauthorized: tls.verify, ...(await read("ca")), ...(await read("cert")), ...(await read("key")) };
  } catch (cause) {
    throw new VenturiError("journal.open", "config_invalid", "a file named under journal.tls cannot be read", {
      cause,
    });
  }
}
