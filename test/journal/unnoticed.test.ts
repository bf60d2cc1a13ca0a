// Small changes of the journal that no other test noticed: each was found by `npm run mutate`.
import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import { WriteWatch } from "../../src/journal/write-watch.ts";
import { VirtualClock } from "../../src/testing/clock.ts";

describe("what is known about a journal's writes", () => {
  const full = new VenturiError("journal.append", "journal_failed", "the disk is full");

  it("is nothing bad at first, and nothing bad once one worked", () => {
    const watch = new WriteWatch();
    expect([watch.doubted, watch.failing]).to.deep.equal([false, undefined]);
    watch.doubted = true;
    watch.failed("append", full);
    watch.worked();
    expect([watch.doubted, watch.failing]).to.deep.equal([false, undefined]);
  });

  it("is why the last one failed, if that was since then and the journal's fault", async () => {
    const clock = new VirtualClock();
    const failures: string[] = [];
    const watch = new WriteWatch({ clock, onFailure: (operation) => failures.push(operation) });
    const before = clock.monotonic();
    watch.failed("signal", new VenturiError("journal.signal", "not_found", "no such run"));
    expect([watch.failedSince(before), watch.failing, failures]).to.deep.equal([undefined, undefined, []]);
    await clock.advance(10);
    watch.failed("append", full);
    expect(watch.failing).to.include({ code: "journal_failed" });
    expect(watch.failedSince(before)).to.contain("the disk is full");
    expect(watch.failedSince(clock.monotonic())).to.contain("the disk is full");
    expect(watch.failedSince(clock.monotonic() + 1)).to.equal(undefined);
    watch.worked();
    expect(watch.failedSince(before)).to.contain("the disk is full");
    expect(failures).to.deep.equal(["append"]);
  });

  it("comes from the writes of the journal it watches, and not from its reads", async () => {
    const failures: string[] = [];
    const watch = new WriteWatch({ onFailure: (operation) => failures.push(operation) });
    let error: VenturiError | undefined = full;
    const answer = async () => {
      if (error !== undefined) throw error;
      return "done";
    };
    const journal = watch.watch({ signal: answer, get: answer, heartbeat: answer } as never);
    const tried = (promise: Promise<unknown>) => promise.catch((thrown: unknown) => thrown);
    expect(await tried(journal.get("r"))).to.equal(full);
    expect([watch.failing, failures]).to.deep.equal([undefined, []]);
    expect(await tried(journal.signal("r", {} as never))).to.equal(full);
    expect([watch.failing?.code, failures]).to.deep.equal(["journal_failed", ["signal"]]);
    error = undefined;
    expect(await journal.get("r")).to.equal("done");
    expect(watch.failing?.code).to.equal("journal_failed");
    expect(await journal.signal("r", {} as never)).to.equal("done");
    expect(watch.failing).to.equal(undefined);
  });
});
