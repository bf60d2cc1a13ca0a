import { join } from "node:path";
import { jetstreamManager, type StreamConfig } from "@nats-io/jetstream";
import { connect, headers } from "@nats-io/transport-node";
import plugin from "../../../plugins/nats/index.ts";
import type { VenturiError } from "../../../src/core/errors/errors.ts";
import type { Journal } from "../../../src/core/journal/journal.ts";
import { systemClock } from "../../../src/core/ports/clock.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import type { NatsCluster } from "./cluster.ts";

/** Certificates for 127.0.0.1 and journal.test. */
export const fixtures = join(process.cwd(), "test/plugins/postgres/fixtures");
const context = {
  name: "journal",
  log: silentLog,
  clock: systemClock,
  folder: fixtures,
  runs: () => {
    throw new Error("not here");
  },
  resolve: () => {
    throw new Error("no container here");
  },
  plugin: () => Promise.reject(new Error("not here")),
};

type Options = Readonly<Record<string, unknown>>;

/** As the host opens it, from what a configuration says. */
export const openPlugin = async (options: Options): Promise<Journal> =>
  plugin.create(plugin.options.parse({ connectTimeout: 2_000, ...options }), context);

export const failureOf = (options: Options): Promise<VenturiError> =>
  openPlugin(options).then(
    async (journal) => {
      await journal.close();
      throw new Error("it was opened");
    },
    (thrown) => thrown,
  );

/** Streams as someone else sees and changes them. */
export async function jetstreamOf(cluster: NatsCluster, servers = cluster.servers) {
  const connection = await connect({ servers });
  const manager = await jetstreamManager(connection);
  return {
    connection,
    update: (stream: string, config: Partial<StreamConfig>) => manager.streams.update(stream, config),
    async publish(subject: string, data: string, values: Readonly<Record<string, string>>): Promise<void> {
      const head = headers();
      for (const [name, value] of Object.entries(values)) head.set(name, value);
      await connection.request(subject, data, { headers: head, timeout: 2_000 });
    },
    /** The sequence of the last message under a subject. */
    async last(subject: string): Promise<number | undefined> {
      const stream = await manager.streams.find(subject);
      return (await manager.streams.getMessage(stream, { last_by_subj: subject }))?.seq;
    },
    messages: async (stream: string): Promise<number> => (await manager.streams.info(stream)).state.messages,
    close: () => connection.close(),
  };
}
