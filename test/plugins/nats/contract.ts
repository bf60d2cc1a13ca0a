import { journalContract } from "../../../src/testing/journal.ts";
import { NatsCluster } from "./cluster.ts";
import { freshSpace, openJournal } from "./open.ts";

/** The journal contract on a cluster of that size. */
export function natsContract(size: 1 | 3, shards: number): void {
  describe(`nats on ${size} server${size === 1 ? "" : "s"}`, function () {
    this.timeout(60_000);
    let cluster: NatsCluster;
    before(async () => {
      cluster = await NatsCluster.start({ size });
    });
    after(async function () {
      this.timeout(180_000); // hundreds of streams to remove from a busy disk
      await cluster?.stop();
    });
    let space = "";
    journalContract(`nats, R${size}, ${shards} shard${shards === 1 ? "" : "s"}`, {
      async open({ lease }) {
        space = freshSpace();
        const journal = await openJournal(cluster, space, { lease, shards });
        await journal.ping();
        return journal;
      },
      reopen: ({ lease }) => openJournal(cluster, space, { lease, shards }),
    });
  });
}
