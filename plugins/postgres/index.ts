import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { Duration, definePlugin, VenturiError } from "venturi/plugin";
import { z } from "zod";
import { Database, type DatabaseOptions } from "./database.ts";
import { PostgresJournal } from "./journal.ts";
import { ReadReplica } from "./read-replica.ts";

const Tls = z.strictObject({
  ca: z.string().optional().describe("File with the certificates to trust, relative to the config."),
  cert: z.string().optional().describe("File with the client's certificate."),
  key: z.string().optional().describe("File with the client's key."),
  servername: z.string().optional().describe("The name its certificate must carry, if not the host in the URL."),
  verify: z.boolean().prefault(true).describe("False accepts any certificate: for tests only."),
});

export default definePlugin({
  name: "postgres",
  kind: "journal",
  description: "Keeps runs in PostgreSQL (14 or newer), shared by any number of replicas.",
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
      .describe("A read replica for lists of runs, which then may lag behind; the primary answers while it cannot."),
    schema: z
      .string()
      .regex(/^[a-z_][a-z0-9_]{0,50}$/, "use a-z, 0-9 and _, at most 51 of them")
      .prefault("venturi")
      .describe("The schema for its tables; created when missing."),
    pool: z
      .number()
      .int()
      .min(2)
      .prefault(8)
      .describe("Most connections of this process, besides the one that listens."),
    tls: z
      .union([z.boolean(), Tls])
      .optional()
      .describe("Encrypt the connection; counts more than `sslmode` in the URL."),
    connectTimeout: Duration.prefault("5s").describe("How long to wait for a connection."),
    timeout: Duration.prefault("10s").describe("How long to wait for an answer before the connection counts as lost."),
    lease: Duration.prefault("10s").describe("A worker without a heartbeat for this long loses its runs."),
    search: z.boolean().prefault(true).describe("Index what runs were asked and answered, for `GET /v1/runs?q=`."),
    pooler: z
      .boolean()
      .prefault(false)
      .describe("Behind a transaction pooler (PgBouncer): polls instead of LISTEN, and prepares nothing."),
    poll: Duration.prefault("250ms").describe("How often it polls then."),
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
      context.log.warn("the journal's database is not usable yet; retrying", { error: thrown.message });
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
    const files = { ...(await read("ca")), ...(await read("cert")), ...(await read("key")) };
    return { rejectUnauthorized: tls.verify, ...files, ...nameCheck(tls.servername) };
  } catch (cause) {
    throw new VenturiError("journal.open", "config_invalid", "a file named under journal.tls cannot be read", {
      cause,
    });
  }
}

/** pg always checks the host's name, so a configured name is compared here. */
const nameCheck = (name: string | undefined) =>
  name === undefined
    ? {}
    : { checkServerIdentity: (_host: string, certificate: PeerCertificate) => checkServerIdentity(name, certificate) };
