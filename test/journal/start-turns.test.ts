import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { systemClock } from "../../src/core/ports/clock.ts";
import { StartTurns } from "../../src/journal/start-turns.ts";

describe("the starts of runs", () => {
  it("begin at once when there are few, and eight to a turn of the event loop in a burst, in order", async () => {
    const turns = new StartTurns(systemClock);
    const started: number[] = [];
    for (let run = 0; run < 30; run++) {
      const wait = turns.take();
      if (wait === undefined) started.push(run);
      else void wait.then(() => started.push(run));
    }
    const counts: number[] = [];
    for (let turn = 0; turn < 5; turn++) {
      counts.push(started.length);
      await nextTurn();
    }
    expect(counts[0]).to.equal(8);
    for (const [turn, count] of counts.entries())
      if (turn > 0) expect(count - (counts[turn - 1] ?? 0)).to.be.at.most(8);
    while (started.length < 30) await nextTurn();
    expect(started).to.deep.equal(Array.from({ length: 30 }, (_, run) => run));
    expect(turns.take()).to.equal(undefined);
  });
});
