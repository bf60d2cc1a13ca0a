import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import { retry } from "../../src/journal/retry.ts";
import { VirtualClock } from "../../src/testing/clock.ts";

const down = () => new VenturiError("journal.read", "journal_failed", "down");

describe("asking a journal that fails", () => {
  const clock = new VirtualClock();
  const never = new AbortController().signal;
  const options = { op: "run.follow", clock, signal: () => never };
  const settle = () => new Promise((resolve) => setImmediate(resolve));

  it("waits 50 ms, then twice as long each time, up to two seconds", async () => {
    const asked: number[] = [];
    const begun = clock.monotonic();
    const answer = retry(async (tries) => {
      asked.push(clock.monotonic() - begun);
      if (tries < 8) throw down();
      return tries;
    }, options);
    await clock.advance(10_000);
    expect(await answer).to.equal(8);
    expect(asked.slice(1).map((at, index) => at - (asked[index] ?? 0))).to.deep.equal([
      50, 100, 200, 400, 800, 1_600, 2_000, 2_000,
    ]);
  });

  it("gives up after its patience, with the last error wrapped in the caller's operation", async () => {
    const failures: number[] = [];
    const answer = retry(() => Promise.reject(down()), {
      ...options,
      patience: 100,
      onFailure: (_error, tries) => failures.push(tries),
    }).catch((thrown: unknown) => thrown);
    await clock.advance(200);
    const error = await answer;
    expect(error).to.include({ op: "run.follow", code: "journal_failed", message: "down" });
    expect(failures).to.deep.equal([0, 1]);
  });

  it("asks once when the failure is not the engine's, and names it as the caller says", async () => {
    let asked = 0;
    const broken = async () => {
      asked += 1;
      throw new TypeError("does not encode");
    };
    const error = await retry(broken, { ...options, otherwise: "record_invalid" }).catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: "record_invalid", message: "does not encode" });
    expect(asked).to.equal(1);
  });

  it("stops waiting when the signal aborts", async () => {
    const closing = new AbortController();
    const answer = retry(() => Promise.reject(down()), { ...options, signal: () => closing.signal }).catch(
      (thrown: unknown) => thrown,
    );
    await settle();
    closing.abort(new Error("closed"));
    expect(await answer).to.have.property("message", "closed");
  });
});
