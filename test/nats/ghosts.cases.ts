import { connect } from "@nats-io/transport-node";
import { expect } from "chai";
import { Lines } from "../../plugins/nats/lines.ts";
import { Link } from "../../plugins/nats/link.ts";
import { Names } from "../../plugins/nats/names.ts";
import { Sessions } from "../../plugins/nats/sessions.ts";
import { fence } from "../../plugins/nats/standing.ts";
import { Store } from "../../plugins/nats/store.ts";
import { bytesOf } from "../../plugins/nats/stored.ts";
import { Tails } from "../../plugins/nats/tails.ts";
import { View } from "../../plugins/nats/view.ts";
import { claimed, enqueueing, finish } from "../../src/testing/journal-bench.ts";
import { NatsCluster } from "../plugins/nats/cluster.ts";
import { freshSpace, openJournal } from "../plugins/nats/open.ts";

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const timeout = 400;
const of = { tenant: "t", session: "s" };

describe("nats: a process that died between its session's line and its run", () => {
  let cluster: NatsCluster;
  let store: Store;
  before(async () => {
    cluster = await NatsCluster.start();
    const inbox = "_INBOX.ghosts";
    const link = new Link({
      connect: () => connect({ servers: cluster.servers }),
      timeout,
      requestTimeout: 300,
      inbox,
    });
    store = new Store(link, undefined);
  });
  after(async () => {
    await store?.link.close();
    await cluster?.stop();
  });

  /** Stands in line, and dies. */
  async function ghost(names: Names, run: string): Promise<void> {
    const [view, tails] = [new View(1, () => {}), new Tails(store, names)];
    await new Sessions({ lines: new Lines(store, names), names, view, tails }).enter("test", of, { run });
  }

  it("holds the session up for a while, and then is given up", async () => {
    const names = new Names(freshSpace(), 1);
    const journal = await openJournal(cluster, names.space, { timeout });
    await journal.ping();
    await ghost(names, "ghost");
    const { run } = await journal.enqueue(enqueueing(of));
    expect(await journal.claim("w", 10)).to.deep.equal([]);
    const started = performance.now();
    let claims = await journal.claim("w", 10);
    while (claims.length === 0) {
      await pause(20);
      claims = await journal.claim("w", 10);
    }
    expect(performance.now() - started).to.be.above(timeout);
    expect(claims[0]?.ownership.run).to.equal(run);
    expect(await journal.get("ghost")).to.equal(undefined);
    expect((await journal.list({})).runs.map((row) => row.run)).to.deep.equal([run]);
    await journal.close();
  });

  it("comes too late when it was only slow, and its key is free for another run", async () => {
    const names = new Names(freshSpace(), 1);
    const journal = await openJournal(cluster, names.space, { timeout });
    await journal.ping();
    const subject = names.key("t", "key");
    await store.write("test", { subject, fence: fence(0, subject), headers: "", data: bytesOf("ghost") });
    await ghost(names, "ghost");
    await pause(2 * timeout + 100);
    const { ownership } = await claimed(journal, of);
    await finish(journal, ownership);
    const late = await journal.enqueue({ ...enqueueing(of), run: "ghost" }).catch((thrown) => thrown);
    expect(late).to.include({ code: "conflict" });
    const retried = await journal.enqueue(enqueueing({ ...of, key: "key" }));
    expect(retried.existing).to.equal(false);
    expect(retried.run).to.not.equal("ghost");
    expect((await journal.enqueue(enqueueing({ ...of, key: "key" }))).run).to.equal(retried.run);
    await journal.close();
  });

  it("is made by whoever comes with its key before that, in its place in the line", async () => {
    const names = new Names(freshSpace(), 1);
    const journal = await openJournal(cluster, names.space);
    await journal.ping();
    const subject = names.key("t", "key");
    await store.write("test", { subject, fence: fence(0, subject), headers: "", data: bytesOf("ghost") });
    await ghost(names, "ghost");
    const { run: second } = await journal.enqueue(enqueueing(of));
    const { run } = await journal.enqueue(enqueueing({ ...of, key: "key" }));
    expect(run).to.equal("ghost");
    const [first] = await journal.claim("w", 10);
    expect(first?.ownership.run).to.equal("ghost");
    if (first) await finish(journal, first.ownership);
    expect((await journal.claim("w", 10))[0]?.ownership.run).to.equal(second);
    await journal.close();
  });
});
