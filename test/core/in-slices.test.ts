import { setImmediate as turn } from "node:timers/promises";
import { assert } from "chai";
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
});
