import { expect } from "chai";
import type { RunEvent } from "../../src/core/run/events.ts";
import { Committer } from "../../src/journal/committer.ts";
import { Followers } from "../../src/journal/followers.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { claimed, collect, delta, finished, gated, memory, pair, seqs, started, upTo } from "./setup.ts";

describe("Followers", () => {
  it("hands a committed batch over without a read, within the turn that wrote it", async () => {
    const journal = memory();
    let reads = 0;
    const read = journal.read.bind(journal);
    journal.read = (...args) => {
      reads += 1;
      return read(...args);
    };
    const { committer, followers } = pair(journal);
    const log = committer.openLog((await claimed(journal)).ownership);
    const follower = followers.follow(log.ownership.run);
    const first = follower.next();
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    log.write(started());
    log.write(delta("a"));
    const { value } = await first;
    expect(seqs(value ?? [])).to.deep.equal([1, 2]);
    expect({ turned, reads }).to.deep.equal({ turned: false, reads: 0 });
    await follower.return();
  });

  it("gives exactly what follows a cursor, then live, then ends after the terminal event", async () => {
    const journal = memory();
    const { committer, followers } = pair(journal);
    const log = committer.openLog((await claimed(journal)).ownership);
    log.write(started());
    for (let n = 0; n < 20; n++) log.write(delta(`${n}`));
    await log.flush();
    const all = collect(followers.follow(log.ownership.run, { after: 7 }));
    for (let n = 0; n < 20; n++) {
      log.write(delta(`${n}`));
      if (n % 3 === 0) await log.flush();
    }
    await log.step(finished());
    expect(seqs(await all)).to.deep.equal(upTo(42).slice(7));
    expect(followers.size).to.equal(0);
  });

  it("a reader that does not take its events holds few in memory and reads the rest from the store", async () => {
    const journal = memory();
    const { committer, followers } = pair(journal, { maxQueued: 10, page: 7 });
    const log = committer.openLog((await claimed(journal)).ownership);
    const follower = followers.follow(log.ownership.run);
    for (let n = 0; n < 100; n++) {
      log.write(delta(`${n}`));
      await log.flush();
    }
    await log.step(finished());
    const batches: (readonly RunEvent[])[] = [];
    for await (const batch of follower) batches.push(batch);
    expect(seqs(batches.flat())).to.deep.equal(upTo(101));
    expect(Math.max(...batches.map((batch) => batch.length))).to.be.at.most(10);
  });

  it("ends at once when the cursor is at the terminal event, and rejects an unknown run with not_found", async () => {
    const journal = memory();
    const { committer, followers } = pair(journal);
    const log = committer.openLog((await claimed(journal)).ownership);
    await log.step(finished());
    expect(await collect(followers.follow(log.ownership.run, { after: 1 }))).to.deep.equal([]);
    const error = await collect(followers.follow("nobody")).catch((thrown) => thrown);
    expect(error).to.include({ op: "journal.follow", code: "not_found" });
    expect(followers.size).to.equal(0);
  });

  it("an abort ends a waiting reader", async () => {
    const journal = memory();
    const { committer, followers } = pair(journal);
    const log = committer.openLog((await claimed(journal)).ownership);
    const controller = new AbortController();
    const all = collect(followers.follow(log.ownership.run, { signal: controller.signal }));
    await log.step(started());
    controller.abort();
    expect(seqs(await all)).to.deep.equal([1]);
    expect(followers.size).to.equal(0);
  });

  it("follows a run of another process by hints", async () => {
    const journal = memory();
    const { committer } = pair(journal);
    const elsewhere = new Followers({ journal });
    const log = committer.openLog((await claimed(journal)).ownership);
    const all = collect(elsewhere.follow(log.ownership.run));
    for (let n = 0; n < 50; n++) {
      log.write(delta(`${n}`));
      if (n % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await log.step(finished());
    expect(seqs(await all)).to.deep.equal(upTo(51));
  });

  it("a lost hint costs a second, not the stream", async () => {
    const journal = memory();
    journal.onHint = () => () => {};
    const clock = new VirtualClock();
    const committer = new Committer({ journal });
    const elsewhere = new Followers({ journal, clock });
    const log = committer.openLog((await claimed(journal)).ownership);
    await log.step(started());
    const follower = elsewhere.follow(log.ownership.run);
    expect(seqs((await follower.next()).value ?? [])).to.deep.equal([1]);
    const next = follower.next();
    await log.step(finished());
    await clock.advance(1_000);
    expect(seqs((await next).value ?? [])).to.deep.equal([2]);
    expect((await follower.next()).done).to.equal(true);
    expect(clock.pending).to.equal(0);
  });

  it("readers in both processes see one order without gap or double when the run moves from one to the other", async () => {
    const journal = memory();
    const here = pair(journal);
    const there = pair(journal);
    const { ownership } = await claimed(journal);
    const readers = [here, there].map(({ followers }) => collect(followers.follow(ownership.run)));
    const log = here.committer.openLog(ownership);
    for (let n = 0; n < 10; n++) await log.step(delta(`${n}`));
    await journal.release(ownership);
    log.abandon();
    const [next] = await journal.claim("w2", 1);
    if (!next) throw new Error("nothing to claim");
    const taken = there.committer.openLog(next.ownership);
    for (let n = 0; n < 10; n++) await taken.step(delta(`${n}`));
    await taken.step(finished());
    for (const reader of readers) expect(seqs(await reader)).to.deep.equal(upTo(21));
  });

  it("a reader outlives an engine that fails for a while", async () => {
    const journal = gated();
    const { committer, followers } = pair(journal);
    const log = committer.openLog((await claimed(journal)).ownership);
    await log.step(started());
    const read = journal.read.bind(journal);
    let failures = 2;
    journal.read = async (...args) => {
      if (failures-- > 0) throw new Error("down");
      return read(...args);
    };
    const all = collect(followers.follow(log.ownership.run));
    await log.step(finished());
    expect(seqs(await all)).to.deep.equal([1, 2]);
  });
});
