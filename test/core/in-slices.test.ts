import { setImmediate as turn } from "node:timers/promises";
import { assert } from "chai";
import { doingFor, tenantDoing } from "../../src/core/values/doing.ts";
import { inSlices } from "../../src/core/values/in-slices.ts";

/** Each step takes a slice, so that the next is in another turn. */
function* steps(count: number, done: (step: number) => void): Generator<void, number> {
  for (let step = 0; step < count; step++) {
    const until = performance.now() + 5;
    while (performance.now() < until);
    done(step);
    yield;
  }
  return count;
}

describe("work on a large value in slices", () => {
  it("leaves the thread to others between two slices", async () => {
    let turns = 0;
    let working = true;
    const others = (async () => {
      for (; working; turns++) await turn();
    })();
    const seen: number[] = [];
    assert.equal(await inSlices(steps(6, () => seen.push(turns))), 6);
    working = false;
    await others;
    assert.lengthOf(new Set(seen), 6);
  });

  it("takes two values by turns, one slice of one of them at a time", async () => {
    const order: string[] = [];
    const [one, other] = ["a", "b"].map((name) => inSlices(steps(3, () => order.push(name))));
    await Promise.all([one, other]);
    assert.equal(order.join(""), "ababab");
  });

  it("rejects with what the work throws, and goes on with the others", async () => {
    const failing = inSlices(
      steps(1, () => {
        throw new Error("broken");
      }),
    );
    const after = inSlices(steps(2, () => {}));
    const reason = await failing.catch((thrown: unknown) => thrown);
    assert.instanceOf(reason, Error);
    assert.equal(await after, 2);
  });

  it("goes by turns between tenants, however many values one of them has", async () => {
    const order: string[] = [];
    const loud = [1, 2, 3, 4].map(() =>
      inSlices(
        steps(2, () => order.push("l")),
        "loud",
      ),
    );
    const quiet = inSlices(
      steps(2, () => order.push("q")),
      "quiet",
    );
    await Promise.all([...loud, quiet]);
    assert.equal(order.join(""), "lqlqllllll");
  });

  it("rests as long when each value is asked for after the last was done", async () => {
    await new Promise((resolve) => setTimeout(resolve, 40)); // of the tests before
    const began = performance.now();
    let worked = 0;
    for (let value = 0; value < 8; value++) {
      const start = performance.now();
      await inSlices(
        steps(1, () => {
          worked += performance.now() - Math.max(start, performance.now() - 5);
        }),
      );
    }
    // All but the first wait for twice what the one before took.
    assert.isAtLeast(performance.now() - began, 2 * (worked / 8) * 7);
  });

  it("is done as whoever asked for it, so that a value that blocks is theirs", async () => {
    const seen: string[] = [];
    const ask = (tenant: string) =>
      doingFor({ run: "r", tenant }, () => inSlices(steps(2, () => seen.push(tenantDoing()))));
    await Promise.all([ask("a"), ask("b")]);
    assert.equal(seen.join(""), "abab");
  });
});
