import { reasonsOf } from "venturi/internal";
import { Duration, definePlugin, VenturiError } from "venturi/plugin";
import { z } from "zod";
import { login, Tls } from "./credentials.ts";
import { openNats } from "./open.ts";

export default definePlugin({
  name: "nats",
  kind: "journal",
  description: "Keeps runs in NATS JetStream (2.12.2 or newer), replicated by Raft.",
  options: z.strictObject({
    servers: z
      .array(z.string().min(1))
      .min(1)
      .describe("Such as `nats://a:4222`; other servers of the cluster are discovered."),
    space: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/, "use letters, digits, _ and -, at most 64 of them")
      .prefault("venturi")
      .describe("Its streams are named V_space_…; created when missing."),
    replicas: z.number().int().min(1).max(5).prefault(3).describe("Replicas of each message: 1, 3 or 5."),
    shards: z
      .number()
      .int()
      .min(1)
      .max(256)
      .prefault(1)
      .describe("Number of streams that runs are spread over. Fixed once the space is created."),
    ...login,
    tls: z.union([z.boolean(), Tls]).optional().describe("Encrypt the connection. Default: if the server offers it."),
    durability: z
      .enum(["checked", "unchecked"])
      .prefault("checked")
      .describe("`unchecked` starts without verifying that every server syncs before it acknowledges."),
    monitors: z
      .array(z.url())
      .prefault([])
      .describe("Monitoring URL of each server (`http://a:8222`), used to verify how it syncs."),
    system: z
      .strictObject(login)
      .optional()
      .describe("Login of the system account, another way to verify that; only used at startup."),
    domain: z.string().optional().describe("JetStream domain, if the servers have one."),
    connectTimeout: Duration.prefault("5s").describe("How long to wait for a connection."),
    timeout: Duration.prefault("10s").describe("How long an operation is retried."),
    requestTimeout: Duration.prefault("2s").describe("Timeout of one request before it is retried."),
    lease: Duration.prefault("15s").describe(
      "A worker without a heartbeat for this long loses its runs. Longer than an election of a stream's leader (4 to 9 s).",
    ),
  }),
  async create(options, context) {
    const journal = await openNats(options, context.folder);
    try {
      await journal.ping();
    } catch (thrown) {
      // An unreachable server is retried; a permanent problem is reported at once.
      if (!VenturiError.isInstance(thrown) || thrown.details?.unusable === true) {
        await journal.close();
        throw thrown;
      }
      context.log.warn("the journal's NATS is not usable yet; retrying", { error: reasonsOf(thrown).join(": ") });
    }
    if (options.durability === "unchecked")
      context.log.warn("the journal's servers may acknowledge before they have synced (durability: unchecked)");
    return journal;
  },
});
