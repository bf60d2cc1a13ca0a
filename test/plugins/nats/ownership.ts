import { DeliverPolicy, jetstream } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { Link } from "../../../plugins/nats/link.ts";
import { Names } from "../../../plugins/nats/names.ts";
import { standingOf } from "../../../plugins/nats/standing.ts";
import { Store } from "../../../plugins/nats/store.ts";
import type { Ownership } from "../../chaos/engines.ts";
import type { NatsCluster } from "./cluster.ts";

/** Who wrote what and who claimed when, from the streams themselves: nothing in them is ever replaced. */
export async function natsOwnership(cluster: NatsCluster, { space, shards }: { space: string; shards: number }) {
  const names = new Names(space, shards);
  const connection = { servers: cluster.servers, maxReconnectAttempts: -1, reconnectTimeWait: 100 };
  const link = new Link({
    connect: () => connect(connection),
    timeout: 20_000,
    requestTimeout: 2_000,
    inbox: "_INBOX.audit",
  });
  const store = new Store(link, undefined);
  const watching = await connect(connection);
  let takeovers = 0;
  return {
    get takeovers() {
      return takeovers;
    },
    async audit(): Promise<void> {
      for (let shard = 0; shard < shards; shard++) {
        const consumer = await jetstream(watching).consumers.get(names.stream(shard), {
          filter_subjects: [names.runs(shard, "x")],
          deliver_policy: DeliverPolicy.All,
          headers_only: true,
        });
        await consumer.consume({
          callback: (message) => {
            const { claim, epoch } = standingOf(message.headers?.get("V") ?? "");
            if (claim && epoch > 1) takeovers += 1;
          },
        });
      }
    },
    async of(run: string): Promise<Ownership> {
      const records: { first: number; epoch: number }[] = [];
      const claims: { epoch: number; head: number }[] = [];
      const filter = names.run(run, "*");
      const last = await store.last("audit", names.streamOf(run), filter);
      if (!last) return { records, claims };
      for await (const message of store.scan("audit", names.streamOf(run), { filter, seq: 1, upTo: last.seq })) {
        const { first, claim, epoch, head } = standingOf(message.header("V") ?? "");
        if (claim) claims.push({ epoch, head });
        if (first > 0) records.push({ first, epoch });
      }
      return { records, claims };
    },
    async close(): Promise<void> {
      await watching.close();
      await link.close();
    },
  };
}
