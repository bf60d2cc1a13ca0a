import { connect } from "@nats-io/transport-node";
import { expect } from "chai";
import type { NatsJournal } from "../../../plugins/nats/journal.ts";
import { Link } from "../../../plugins/nats/link.ts";
import { Names } from "../../../plugins/nats/names.ts";
import { originText, standingText } from "../../../plugins/nats/standing.ts";
import { Store } from "../../../plugins/nats/store.ts";
import { bytesOf, empty } from "../../../plugins/nats/stored.ts";
import { claimed, enqueueing, finish } from "../../../src/testing/journal-bench.ts";
import { NatsCluster } from "./cluster.ts";
import { freshSpace, openJournal } from "./open.ts";
import { jetstreamOf } from "./plugin.ts";
import { findServer } from "./server.ts";

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Ended runs as the journal writes them, in batches: hundreds of thousands in a minute. */
async function publishEnded(cluster: NatsCluster, names: Names, count: number): Promise<void> {
  const inbox = "_INBOX.fill";
  const connecting = () => connect({ servers: cluster.servers });
  const link = new Link({ connect: connecting, timeout: 10_000, requestTimeout: 10_000, inbox });
  const store = new Store(link, undefined);
  const standing = { epoch: 1, head: 0, signals: 0, cancelled: false, worker: "w", asking: 0, wake: 0 };
  const ready = standingText({ ...standing, epoch: 0, state: "ready", outcome: undefined, worker: "" });
  const done = standingText({ ...standing, state: "done", outcome: "finished" });
  const origin = originText({ agent: "a", tenant: "t" });
  const request = bytesOf(JSON.stringify({ agent: "a", input: { text: "hi" } }));
  for (let from = 0; from < count; from += 500) {
    const runs = Array.from({ length: Math.min(500, count - from) }, (_, n) => `old_${from + n}`);
    const messages = runs.flatMap((run) => [
      { subject: names.run(run, "q"), headers: `V: ${ready}\r\nQ: ${origin}\r\n`, data: request },
      { subject: names.run(run, "x"), headers: `V: ${done}\r\n`, data: empty },
    ]);
    expect((await store.send("test", messages)).kind).to.equal("stored");
  }
  await link.close();
}

async function checkpointOf(cluster: NatsCluster, names: Names): Promise<number> {
  const jetstream = await jetstreamOf(cluster);
  let seq: number | undefined;
  while (seq === undefined) {
    seq = await jetstream.last(names.checkpoint(0, 0));
    await pause(20);
  }
  await jetstream.close();
  return seq;
}

const runsOf = async (journal: NatsJournal) => (await journal.list({ limit: 10_000 })).runs.map(({ run }) => run);

describe("nats: opening a journal with history", function () {
  this.timeout(180_000);
  let cluster: NatsCluster;
  let names: Names;
  const opened: NatsJournal[] = [];
  const open = async () => {
    const journal = await openJournal(cluster, names.space);
    opened.push(journal);
    await journal.ping();
    return journal;
  };
  before(async function () {
    if (findServer() === undefined) this.skip();
    cluster = await NatsCluster.start();
  });
  beforeEach(() => {
    names = new Names(freshSpace(), 1);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((journal) => journal.close()));
  });
  after(() => cluster?.stop());

  it("a process that finds many changes and no checkpoint writes one, so that the next reads little", async () => {
    await (await open()).enqueue(enqueueing({ run: "first" }));
    await Promise.all(opened.splice(0).map((journal) => journal.close()));
    await publishEnded(cluster, names, 3_000);
    const cold = await open();
    expect(cold.messagesRead).to.equal(6_001);
    await checkpointOf(cluster, names);
    const next = await open();
    expect(next.messagesRead).to.be.below(10);
    // Open runs are known at once; a list of all waits for the others.
    expect((await next.list({ state: "ready" })).runs.map(({ run }) => run)).to.deep.equal(["first"]);
    const lists = await Promise.all([runsOf(next), runsOf(next)]);
    for (const runs of lists) expect(new Set(runs).size).to.equal(3_001);
    expect((await next.claim("w", 5)).map(({ ownership }) => ownership.run)).to.deep.equal(["first"]);
  });

  it("changes are followed from a checkpoint, whatever their kind", async () => {
    await open();
    await publishEnded(cluster, names, 3_000);
    const journal = await open();
    await checkpointOf(cluster, names);
    const { ownership } = await claimed(journal, { claimFor: "w" });
    await journal.signal(ownership.run, { id: "m", kind: "message", body: {} });
    const other = await open();
    expect((await other.held("w")).map(({ run }) => run)).to.deep.equal([ownership.run]);
    await finish(journal, ownership);
    expect((await other.list({ limit: 1 })).runs[0]?.run).to.equal(ownership.run);
  });

  it("a checkpoint of the last release, which does not name its stream, is believed", async () => {
    const journal = await open();
    const { run } = await journal.enqueue(enqueueing());
    const { ownership } = await claimed(journal, { claimFor: "w" });
    await finish(journal, ownership);
    const jetstream = await jetstreamOf(cluster);
    const [row] = (await journal.list({ state: "done" })).runs;
    const known = {
      ...{ run, shard: 0, agent: "assistant", tenant: "default", created: 1, place: 1, seq: 1, time: 1 },
      ...{ epoch: 0, head: 0, state: "ready", signals: 0, cancelled: false, worker: "", asking: 0, wake: 0 },
    };
    const seq = await jetstream.last(names.run(ownership.run, "x"));
    await jetstream.publish(names.checkpoint(0, 0), JSON.stringify([known]), { S: `${seq} ${row?.updatedAt}` });
    await jetstream.close();
    const other = await open();
    expect(other.messagesRead).to.equal(0);
    expect((await other.claim("w2", 5)).map((claim) => claim.ownership.run)).to.deep.equal([run]);
    expect(new Set(await runsOf(other))).to.deep.equal(new Set([run, ownership.run]));
  });

  it("a checkpoint of a stream that was replaced is not believed, even where its message would have been pruned", async () => {
    const journal = await open();
    const { run } = await journal.enqueue(enqueueing());
    const { ownership } = await claimed(journal, { claimFor: "w" });
    await finish(journal, ownership);
    const jetstream = await jetstreamOf(cluster);
    const seq = (await jetstream.last(names.run(ownership.run, "x"))) ?? 0;
    await journal.prune({ keep: 0 });
    await journal.enqueue(enqueueing());
    await jetstream.publish(names.checkpoint(0, 0), "[]", { S: `${seq} 1`, C: "2020-01-01T00:00:00Z" });
    await jetstream.close();
    const other = await open();
    expect(await runsOf(other))
      .to.include(run)
      .and.to.have.length(2);
  });

  it("rejects searches that need digests or an index, with invalid_input", async () => {
    const journal = await open();
    const queries = [
      ...[{ text: "word" }, { tool: "t" }, { model: "m" }, { code: "timeout" }, { minMs: 1 }, { sort: "longest" }],
      ...[{ by: "key" }, { metadata: { name: "value" } }],
    ] as Parameters<NatsJournal["list"]>[0][];
    for (const query of queries) {
      const thrown = await journal.list(query).catch((error: unknown) => error);
      expect(thrown, JSON.stringify(query)).to.include({ op: "journal.list", code: "invalid_input" });
      expect((thrown as Error).message).to.match(
        /a journal in NATS (keeps no digests|has no index of metadata or keys)/,
      );
    }
  });
});
