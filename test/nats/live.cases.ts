import { expect } from "chai";
import { Names } from "../../plugins/nats/names.ts";
import type { Journal } from "../../src/core/journal/journal.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { Committer } from "../../src/journal/committer.ts";
import { Followers } from "../../src/journal/followers.ts";
import { claimed, end, put, text } from "../../src/testing/journal-bench.ts";
import { Wire } from "../chaos/wire.ts";
import { NatsCluster } from "../plugins/nats/cluster.ts";
import { freshSpace, openJournal } from "../plugins/nats/open.ts";
import { jetstreamOf } from "../plugins/nats/plugin.ts";

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describe("nats: followers in another process", () => {
  let cluster: NatsCluster;
  let space: string;
  let journal: Journal;
  before(async function () {
    this.timeout(60_000);
    cluster = await NatsCluster.start({ size: 3 });
  });
  beforeEach(async () => {
    space = freshSpace();
    journal = await openJournal(cluster, space);
    await journal.ping();
  });
  afterEach(() => journal.close());
  after(() => cluster?.stop());

  async function collect(followers: Followers, run: string): Promise<RunEvent[]> {
    const events: RunEvent[] = [];
    for await (const batch of followers.follow(run)) events.push(...batch);
    return events;
  }
  const seqs = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

  it("get events from what the stream republishes: fifty followed runs cost the stream a read a second, not one a record", async () => {
    const other = await openJournal(cluster, space);
    const watch = await jetstreamOf(cluster);
    let reads = 0;
    watch.connection.subscribe("$JS.API.DIRECT.GET.>", { callback: () => void reads++ });
    watch.connection.subscribe("$JS.API.STREAM.MSG.GET.>", { callback: () => void reads++ });
    const committer = new Committer({ journal });
    const followers = new Followers({ journal: other });
    const logs = [];
    for (let n = 0; n < 50; n++) logs.push(committer.openLog((await claimed(journal)).ownership));
    const following = logs.map(({ ownership }) => collect(followers, ownership.run));
    await pause(1_500); // everyone has read what was there, and listens
    reads = 0;
    const start = performance.now();
    for (let n = 0; n < 100; n++) {
      for (const log of logs) log.write({ type: "text.delta", round: 1, text: `${n}` });
      await pause(20);
    }
    await Promise.all(logs.map((log) => log.flush()));
    const [seconds, asked] = [(performance.now() - start) / 1_000, reads];
    await Promise.all(logs.map((log) => log.step({ ...end })));
    for (const events of await Promise.all(following)) expect(events.map(({ seq }) => seq)).to.deep.equal(seqs(101));
    console.log(`      ${asked} reads in ${seconds.toFixed(1)} s for 50 runs × 100 records`);
    // One multi-read a second for all of them; each run anew where a record was lost.
    expect(asked).to.be.below(500);
    await watch.close();
    await other.close();
  });

  it("miss nothing when their connection is lost in between", async () => {
    const doors = await Promise.all(cluster.ports.map((port) => Wire.to(port)));
    const servers = doors.map(({ port }) => `nats://127.0.0.1:${port}`);
    const other = await openJournal(cluster, space, { servers, requestTimeout: 500 });
    const log = new Committer({ journal }).openLog((await claimed(journal)).ownership);
    const following = collect(new Followers({ journal: other }), log.ownership.run);
    for (let n = 0; n < 60; n++) {
      log.write({ type: "text.delta", round: 1, text: `${n}` });
      await log.flush();
      if (n % 20 === 10) for (const door of doors) door.swallow();
      if (n % 20 === 15) for (const door of doors) door.pass();
    }
    await log.step({ ...end });
    expect((await following).map(({ seq }) => seq)).to.deep.equal(seqs(61));
    await other.close();
    await Promise.all(doors.map((door) => door.close()));
  });

  it("are never shown what a majority has not stored", async function () {
    this.timeout(60_000);
    const { ownership } = await claimed(journal);
    await put(journal, ownership, [text("stored")]);
    const names = new Names(space, 1);
    const leader = (await cluster.leaderOf(names.stream(0))) ?? 0;
    const followers = [0, 1, 2].filter((n) => n !== leader);
    const servers = [cluster.servers[leader] ?? ""];
    const close = await openJournal(cluster, space, { servers, durability: "unchecked", timeout: 3_000 });
    await close.read(ownership.run, 0, 10);
    const watch = await jetstreamOf(cluster, servers);
    const shown: string[] = [];
    watch.connection.subscribe(names.live(ownership.run), {
      callback: (_, message) => void shown.push(message.string()),
    });
    await watch.connection.flush();
    for (const n of followers) cluster.freeze(n);
    // The leader still leads for some seconds, and takes the message into its own log.
    const event = { ...text("alone"), run: ownership.run, seq: 2, at: 1 } as RunEvent;
    const error = await close.append([{ ownership, events: [event] }]).catch((thrown) => thrown);
    expect(error).to.include({ code: "journal_failed" });
    expect(shown).to.deep.equal([]);
    for (const n of followers) cluster.thaw(n);
    while ((await put(journal, ownership, [text("alone")]).catch(() => undefined)) === undefined);
    while (shown.length === 0) await pause(50);
    await watch.close();
    await close.close();
  });
});
