import { reasonsOf } from "venturi/internal";
import { type AnyPlugin, Duration, definePlugin, VenturiError } from "venturi/plugin";
import { z } from "zod";
import { Database } from "./database.ts";
import { PostgresJournal } from "./journal.ts";
import { ReadReplica } from "./read-replica.ts";
import recall from "./recall.ts";
import { readTls, Tls } from "./tls.ts";

export default definePlugin({
  name: "postgres",
  kind: "journal",
  description: "Keeps runs in PostgreSQL (14 or newer), shared by any number of replicas.",
  also: [recall as unknown as AnyPlugin], // It has its own options.
  options: z.strictObject({
    url: z
      .string()
      .min(1)
      .describe(
        "Such as `postgres://user:password@host:5432/database`. Of several hosts (`a:5432,b:5432`) the primary is used.",
      ),
    readUrl: z
      .string()
      .min(1)
      .optional()
      .describe("A read replica for lists of runs, which may then lag behind; falls back to the primary."),
    schema: z
      .string()
      .regex(/^[a-z_][a-z0-9_]{0,50}$/, "use a-z, 0-9 and _, at most 51 of them")
      .prefault("venturi")
      .describe("The schema for its tables; created when missing."),
    pool: z.number().int().min(2).prefault(8).describe("Maximum connections of this process, plus one that listens."),
    tls: z.union([z.boolean(), Tls]).optional().describe("Encrypt the connection; overrides `sslmode` in the URL."),
    connectTimeout: Duration.prefault("5s").describe("How long to wait for a connection."),
    timeout: Duration.prefault("10s").describe("Response timeout, after which the connection counts as lost."),
    lease: Duration.prefault("10s").describe("A worker without a heartbeat for this long loses its runs."),
    search: z
      .boolean()
      .prefault(true)
      .describe("Index inputs and answers of runs for full-text search (`GET /v1/runs?q=`)."),
    pooler: z
      .boolean()
      .prefault(false)
      .describe("For a transaction pooler (PgBouncer): polls instead of LISTEN, without prepared statements."),
    poll: Duration.prefault("250ms").describe("Polling interval with `pooler`."),
  }),
  async create({ tls, ...options }, context) {
    const ssl = await readTls(tls, context.folder);
    const migrated = (from: number, to: number) =>
      context.log.info("the journal was migrated", { from, to, schema: options.schema });
    const database = new Database({ ...options, migrated, ...(ssl === undefined ? {} : { ssl }) });
    const { readUrl, ...rest } = options;
    const replica = readUrl === undefined ? undefined : new ReadReplica({ ...rest, url: readUrl, ssl });
    const journal = new PostgresJournal(database, { ...rest, replica });
    try {
      await journal.ping();
    } catch (thrown) {
      // An unreachable database is retried; a permanent problem is reported at once.
      if (!VenturiError.isInstance(thrown) || thrown.details?.unusable === true) {
        await journal.close();
        throw thrown;
      }
      context.log.warn("the journal's database is not usable yet; retrying", { error: reasonsOf(thrown).join(": ") });
    }
    return journal;
  },
});
