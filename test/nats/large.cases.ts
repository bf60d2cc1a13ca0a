import { expect } from "chai";
import type { Journal } from "../../src/core/journal/journal.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { Committer } from "../../src/journal/committer.ts";
import { Followers } from "../../src/journal/followers.ts";
import { claimed, end, eventsAfter, finish, put, text } from "../../src/testing/journal-bench.ts";
import { NatsCluster } from "../plugins/nats/cluster.ts";
import { freshSpace, openJournal } from "../plugins/nats/open.ts";

const large = "é".repeat(150_000);

for (const size of [1, 3] as const) {
  describe(`nats on ${size} server(s): what is larger than max_payload`, () => {
    let cluster: NatsCluster;
    let journal: Journal;
    let other: Journal;
    before(async function () {
      this.timeout(60_000);
      cluster = await NatsCluster.start({ size, more: "max_payload: 65536" });
      const space = freshSpace();
      journal = await openJournal(cluster, space);
      await journal.ping();
      other = await openJournal(cluster, space);
    });
    after(async () => {
      await other?.close();
      await journal?.close();
      await cluster?.stop();
    });

    it("an event goes in parts, is read whole anywhere, and a repeated append of it is done", async () => {
      const { ownership } = await claimed(journal);
      await put(journal, ownership, [text("before")]);
      const item = {
        ownership: { ...ownership },
        events: eventsAfter(ownership, [text(large), text("x"), text(large)]),
      };
      expect((await journal.append([item])).size).to.equal(0);
      expect((await journal.append([item])).size).to.equal(0);
      ownership.head += 3;
      await put(journal, ownership, [text("after")]);
      const events = await other.read(ownership.run, 0, 100);
      expect(events.map(({ seq }) => seq)).to.deep.equal([1, 2, 3, 4, 5]);
      expect(events.slice(1, 4)).to.deep.equal(item.events);
      for (const after of [1, 2, 3, 4])
        expect((await other.readMany([{ run: ownership.run, after }], 1)).get(ownership.run)?.[0]?.seq).to.equal(
          after + 1,
        );
      await put(journal, ownership, [text(large), end], { state: "done" });
      expect((await other.get(ownership.run))?.state).to.equal("done");
      expect(await other.read(ownership.run, 5, 10)).to.have.length(2);
    });

    it("a request, a signal, a wire and content by hash, too", async () => {
      const request = { agent: "a", input: { text: large } };
      const { ownership } = await claimed(journal, { request, key: "large" });
      expect((await other.get(ownership.run))?.request).to.deep.equal(request);
      expect((await other.list({ limit: 1 })).runs[0]?.request).to.deep.equal(request);
      await other.signal(ownership.run, { id: "s1", kind: "message", body: { text: large } });
      await other.signal(ownership.run, { id: "s2", kind: "message", body: { text: "small" } });
      expect(await other.signal(ownership.run, { id: "s1", kind: "message", body: { text: large } })).to.equal(false);
      const signals = await journal.signals(ownership.run, 0);
      expect(signals.map(({ body }) => body)).to.deep.equal([{ text: large }, { text: "small" }]);
      const bytes = Buffer.alloc(1_000_000, "abc");
      await journal.keepWire?.(ownership.run, { round: 1, attempt: 1, wire: "openai", bytes });
      await journal.keepWire?.(ownership.run, { round: 1, attempt: 2, wire: "openai", bytes: new Uint8Array([1]) });
      const wires = (await other.wire?.(ownership.run)) ?? [];
      expect(wires.map((wire) => [wire.attempt, wire.bytes.length])).to.deep.equal([
        [1, 1_000_000],
        [2, 1],
      ]);
      expect(Buffer.from(wires[0]?.bytes ?? []).equals(bytes)).to.equal(true);
      await journal.blobs?.put(ownership.run, "ab".repeat(32), bytes);
      expect(Buffer.from((await other.blobs?.get("ab".repeat(32))) ?? []).equals(bytes)).to.equal(true);
      await journal.release(ownership);
      const [claim] = await other.claim("w", 1);
      expect(claim?.request).to.deep.equal(request);
      if (claim) await finish(other, claim.ownership);
    });

    it("a run of megabytes is restored in one piece", async () => {
      const run = freshSpace();
      const ownership = { run, session: undefined, epoch: 1, worker: "", head: 0 };
      const bodies = [...Array.from({ length: 2_000 }, (_, n) => text(`${n} ${"x".repeat(1_000)}`)), text(large), end];
      const events = eventsAfter(ownership, bodies);
      const request = { agent: "a", input: { text: large } };
      await journal.restore({ run, tenant: "t", session: undefined, request, events, signals: [], wires: [] });
      for (const [after, limit] of [
        [0, 3_000],
        [511, 3],
        [1_999, 10],
      ] as const)
        expect(await other.read(run, after, limit)).to.deep.equal(events.slice(after, after + limit));
    });

    it("what no batch can hold is refused for good, and nothing of it is stored", async () => {
      const { ownership } = await claimed(journal);
      const events = eventsAfter(ownership, [text("x".repeat(70_000_000))]);
      const error = await (async () => journal.append([{ ownership, events }]))().catch((thrown) => thrown);
      expect(error).to.include({ code: "record_invalid" });
      expect(error.message).to.include("raise its max_payload");
      expect(await put(journal, ownership, [text("small")])).to.equal(true);
    });

    it("a follower on another replica sees it whole and in order", async () => {
      const { ownership } = await claimed(journal);
      const log = new Committer({ journal }).openLog(ownership);
      const seen: RunEvent[] = [];
      const following = (async () => {
        for await (const batch of new Followers({ journal: other }).follow(ownership.run)) seen.push(...batch);
      })();
      for (let n = 0; n < 20; n++) {
        log.write({ type: "text.delta", round: 1, text: n % 4 === 0 ? large : `${n}` });
        await log.flush();
      }
      await log.step({ ...end });
      await following;
      expect(seen.map(({ seq }) => seq)).to.deep.equal(Array.from({ length: 21 }, (_, n) => n + 1));
    });
  });
}
