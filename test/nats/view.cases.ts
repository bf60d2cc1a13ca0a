import { expect } from "chai";
import { Names } from "../../plugins/nats/names.ts";
import type { Journal } from "../../src/core/journal/journal.ts";
import { claimed, end, enqueueing, eventsAfter, finish, put, text } from "../../src/testing/journal-bench.ts";
import { NatsCluster } from "../plugins/nats/cluster.ts";
import { freshSpace, openJournal } from "../plugins/nats/open.ts";
import { jetstreamOf } from "../plugins/nats/plugin.ts";

const request = { agent: "a", input: { text: "hi" } };
const runs = 3_000;

/** Ended runs, many at a time. */
async function fill(journal: Journal, count: number): Promise<void> {
  const left = Array.from({ length: count }, (_, n) => `old_${String(n).padStart(6, "0")}`).values();
  const work = async () => {
    for (const run of left) {
      const events = eventsAfter({ run, session: undefined, epoch: 1, worker: "", head: 0 }, [{ ...end }]);
      await journal.restore({ run, tenant: "t", session: undefined, request, events, signals: [], wires: [] });
    }
  };
  await Promise.all(Array.from({ length: 32 }, work));
}

describe("nats: starting with many ended runs", () => {
  let cluster: NatsCluster;
  let space: string;
  let journal: Journal;
  before(async function () {
    this.timeout(120_000);
    cluster = await NatsCluster.start();
    space = freshSpace();
    journal = await openJournal(cluster, space);
    await journal.ping();
    await journal.enqueue(enqueueing({ run: "first", session: "s" }));
    await fill(journal, runs);
    const jetstream = await jetstreamOf(cluster);
    while ((await jetstream.last(new Names(space, 1).checkpoint(0, 0))) === undefined)
      await new Promise((next) => setTimeout(next, 20));
    await jetstream.close();
  });
  after(async () => {
    await journal?.close();
    await cluster?.stop();
  });

  it("a process reads what has not ended and what came since, and has all of it to claim", async () => {
    const other = await openJournal(cluster, space);
    await other.ping();
    expect(other.messagesRead).to.be.below(2 * runs - 4_000);
    const [claim] = await other.claim("w", 10);
    expect(claim?.ownership.run).to.equal("first");
    expect(other.messagesRead).to.be.below(2 * runs - 4_000);
    if (claim) {
      await put(other, claim.ownership, [text("x")]);
      await other.release(claim.ownership);
    }
    await other.close();
  });

  it("the others are there when someone lists or prunes, in order and once", async () => {
    const other = await openJournal(cluster, space);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await other.list({ limit: 500, oldestFirst: true, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.runs.map(({ run }) => run));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen).to.have.length(runs + 1);
    expect(seen[0]).to.equal("first");
    expect(new Set(seen).size).to.equal(runs + 1);
    expect((await other.list({ state: "done", limit: 1 })).runs[0]?.request).to.deep.equal(request);
    expect(await other.prune({ keep: 100 })).to.equal(runs - 100);
    expect((await other.list({ limit: 500 })).runs).to.have.length(101);
    await other.close();
  });

  it("a checkpoint of another stream is not believed", async () => {
    const names = new Names(freshSpace(), 1);
    const fresh = await openJournal(cluster, names.space);
    await fresh.ping();
    const { run } = await fresh.enqueue(enqueueing());
    const jetstream = await jetstreamOf(cluster);
    // It claims to know everything up to a message that this stream has not got, or has from another time.
    for (const place of ["1000 1", "1 1"]) {
      await jetstream.publish(names.checkpoint(0, 0), "[]", { S: place });
      const other = await openJournal(cluster, names.space);
      await other.ping();
      expect((await other.list({})).runs.map((row) => row.run)).to.deep.equal([run]);
      await other.close();
    }
    await jetstream.close();
    await fresh.close();
  });
});

describe("nats: retention", () => {
  it("leaves nothing of a pruned run: no message, key, line, wire or content", async () => {
    const cluster = await NatsCluster.start();
    const names = new Names(freshSpace(), 1);
    const journal = await openJournal(cluster, names.space);
    await journal.ping();
    const jetstream = await jetstreamOf(cluster);
    const before = await jetstream.messages(names.index);
    for (let n = 0; n < 5; n++) {
      const { ownership } = await claimed(journal, { key: `k${n}`, session: "s", claimFor: "w" });
      await journal.signal(ownership.run, { id: "m", kind: "message", body: {} });
      await journal.keepWire(ownership.run, { round: 1, attempt: 1, wire: "openai", bytes: new Uint8Array([1, 2]) });
      await journal.blobs.put(ownership.run, `${n}${"a".repeat(63)}`, new Uint8Array([n]));
      await put(journal, ownership, [text("x")]);
      await finish(journal, ownership);
    }
    expect(await journal.prune({ keep: 0 })).to.equal(5);
    expect(await jetstream.messages(names.stream(0))).to.equal(0);
    // The clock and one worker's heartbeat.
    expect(await jetstream.messages(names.index)).to.equal(before + 1);
    // Of content, for an hour, the bytes and the note: a run that is about to be enqueued may have put them.
    expect(await jetstream.messages(names.wires)).to.equal(10);
    await jetstream.close();
    await journal.close();
    await cluster.stop();
  });
});
