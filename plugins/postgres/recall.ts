import { Duration, definePlugin, VenturiError } from "venturi/plugin";
import { z } from "zod";
import { Database } from "./database.ts";
import { NotesInPostgres } from "./notes.ts";
import { migrateNotes } from "./notes-schema.ts";
import { readTls, Tls } from "./tls.ts";

export default definePlugin({
  name: "recall-postgres",
  kind: "memory",
  description:
    "Notes in PostgreSQL (14 or newer), found by its full-text index, and by pgvector where that is installed.",
  options: z.strictObject({
    url: z
      .string()
      .min(1)
      .describe(
        "Such as `postgres://user:password@host:5432/database`. Of several hosts (`a:5432,b:5432`) the primary is used.",
      ),
    schema: z
      .string()
      .regex(/^[a-z_][a-z0-9_]{0,50}$/, "use a-z, 0-9 and _, at most 51 of them")
      .prefault("venturi_memory")
      .describe("The schema for its tables; created when missing. Not the journal's."),
    pool: z.number().int().min(1).prefault(4).describe("Maximum connections of this process."),
    tls: z.union([z.boolean(), Tls]).optional().describe("Encrypt the connection; overrides `sslmode` in the URL."),
    connectTimeout: Duration.prefault("5s").describe("How long to wait for a connection."),
    answerTimeout: Duration.prefault("10s").describe("Response timeout, after which the connection counts as lost."),
    pooler: z.boolean().prefault(false).describe("For a transaction pooler (PgBouncer): no prepared statements."),
  }),
  async create({ tls, answerTimeout, ...options }, { folder, log }) {
    const ssl = await readTls(tls, folder);
    const servers = { ...options, timeout: answerTimeout, ...(ssl === undefined ? {} : { ssl }) };
    const store = new NotesInPostgres(new Database({ ...servers, migrate: migrateNotes }), log);
    try {
      await store.open();
    } catch (thrown) {
      // An unreachable database is retried; a permanent problem is reported at once.
      if (!VenturiError.isInstance(thrown) || thrown.details?.unusable === true) {
        await store.close();
        throw thrown;
      }
      log.warn("the memory's database is not usable yet; retrying", { error: thrown.message });
    }
    return store;
  },
});
