import { expect } from "chai";
import { VenturiError } from "../../../src/core/errors/errors.ts";
import { Readiness } from "../../../src/host/http/readiness.ts";
import { WriteWatch } from "../../../src/journal/write-watch.ts";
import { VirtualClock } from "../../../src/testing/clock.ts";

const full = () => new VenturiError("journal.append", "journal_failed", "the disk is full");

describe("readiness", () => {
  const clock = new VirtualClock();

  it("fails while the journal does not respond, and recovers when it does", async () => {
    let answer = () => {};
    let asked = 0;
    const ask = () => {
      asked += 1;
      return new Promise<void>((resolve) => (answer = resolve));
    };
    const readiness = new Readiness({ ask, writes: new WriteWatch(), clock, patience: 20 });
    for (let tries = 0; tries < 3; tries++) {
      const error = await readiness.check().catch((thrown) => thrown);
      expect(error).to.include({ op: "server.ready", code: "journal_failed" });
    }
    expect(asked).to.equal(1);
    const ready = readiness.check();
    answer();
    await ready;
  });

  it("tells the journal's own error", async () => {
    const ask = () => Promise.reject(new Error("down"));
    const readiness = new Readiness({ ask, writes: new WriteWatch(), clock });
    expect(await readiness.check().catch((thrown) => thrown.message)).to.equal("down");
  });

  it("after a failed write only a successful one restores it, and one is tried every ten seconds anyway", async () => {
    const writes = new WriteWatch();
    let room = true;
    const asked: unknown[] = [];
    const ask = async (bytes?: number) => {
      asked.push(bytes);
      if (bytes !== undefined && !room) throw full();
    };
    const readiness = new Readiness({ ask, writes, clock });
    const isReady = () =>
      readiness.check().then(
        () => true,
        () => false,
      );
    expect(await isReady()).to.equal(true);
    expect(await isReady()).to.equal(true);
    expect(asked).to.deep.equal([32_768, undefined]);
    room = false;
    expect(await isReady(), "nothing has been written since").to.equal(true);
    writes.failed("append", full());
    expect(await isReady()).to.equal(false);
    expect(await isReady()).to.equal(false);
    expect(asked.slice(-2), "more than a disk's last free blocks").to.deep.equal([1024 ** 2, 1024 ** 2]);
    room = true;
    expect(await isReady()).to.equal(true);
    room = false;
    await clock.advance(10_001);
    expect(await isReady(), "found without anyone writing").to.equal(false);
    writes.worked();
    room = true;
    expect(await isReady()).to.equal(true);
    room = false;
    expect(await isReady(), "tried just now").to.equal(true);
    writes.doubted = true; // by another process
    expect(await isReady()).to.equal(false);
    writes.worked(); // a commit that was retried
    await clock.advance(1);
    room = true;
    expect(await isReady()).to.equal(true);
  });

  it("a write refused because of its content does not count as a journal failure", () => {
    const writes = new WriteWatch();
    writes.failed("enqueue", new VenturiError("journal.enqueue", "rate_limited", "too many"));
    writes.failed("append", new VenturiError("journal.append", "record_invalid", "too large"));
    writes.failed("append", new TypeError("a bug"));
    expect(writes.failing).to.equal(undefined);
  });
});
