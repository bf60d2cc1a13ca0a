import { datasetQueries } from "../evals/queries.ts";
import { NatsCluster } from "../plugins/nats/cluster.ts";
import { freshSpace, openJournal } from "../plugins/nats/open.ts";

describe("nats", function () {
  this.timeout(60_000);
  let cluster: NatsCluster;
  before(async () => {
    cluster = await NatsCluster.start();
  });
  after(() => cluster?.stop());
  datasetQueries("in NATS", async () => {
    const journal = await openJournal(cluster, freshSpace());
    await journal.ping();
    return journal;
  });
});
