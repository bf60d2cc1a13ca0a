import type { NatsJournal } from "../../../plugins/nats/journal.ts";
import { type OpenOptions, openNats } from "../../../plugins/nats/open.ts";
import type { NatsCluster } from "./cluster.ts";

let count = 0;
const base = `t${process.pid.toString(36)}`;
export const freshSpace = (): string => `${base}_${++count}`;

/** A journal on all servers of a cluster, with each message on all of them. */
export const openJournal = (
  cluster: NatsCluster,
  space: string,
  rest: Partial<OpenOptions> = {},
): Promise<NatsJournal> =>
  openNats({
    servers: cluster.servers,
    monitors: cluster.monitors,
    durability: "checked",
    replicas: cluster.size,
    shards: 1,
    space,
    lease: 30_000,
    timeout: 10_000,
    requestTimeout: 2_000,
    ...rest,
  });
