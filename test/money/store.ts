import type { Journal } from "../../src/core/journal/journal.ts";
import { NatsCluster } from "../plugins/nats/cluster.ts";
import { openJournal as openNats } from "../plugins/nats/open.ts";
import { Cluster } from "../plugins/postgres/cluster.ts";
import { openJournal as openPostgres } from "../plugins/postgres/open.ts";

export type StoreName = "postgres" | "nats";

/** What the replicas share. */
export interface Store {
  /** Their `journal:`. */
  readonly config: Readonly<Record<string, unknown>>;
  open(): Promise<Journal>;
  stop(): Promise<void>;
}

const name = "money";
const lease = "1500ms";

export const startStore = (engine: StoreName): Promise<Store> => (engine === "nats" ? nats() : postgres());

async function postgres(): Promise<Store> {
  const cluster = await Cluster.start();
  return {
    config: { type: "postgres", url: cluster.url, schema: name, lease },
    open: async () => openPostgres(cluster.url, name),
    stop: () => cluster.stop(),
  };
}

async function nats(): Promise<Store> {
  const cluster = await NatsCluster.start();
  const shared = { space: name, shards: 2, durability: "unchecked" as const };
  return {
    config: { type: "nats", servers: cluster.servers, replicas: 1, lease, ...shared },
    open: () => openNats(cluster, name, shared),
    stop: () => cluster.stop(),
  };
}
