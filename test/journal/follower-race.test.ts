import { expect } from "chai";
import type { Journal } from "../../src/core/journal/journal.ts";
import { systemClock } from "../../src/core/ports/clock.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { Follower } from "../../src/journal/follower.ts";

const started: RunEvent = { type: "run.started", run: "r", seq: 1, at: 0, agent: "a", input: { text: "hi" } };

describe("a reader that finds its run empty", () => {
  it("gets an event that is handed over at any moment of that read", async () => {
    for (let hops = 0; hops <= 20; hops++) {
      const row = { run: "r", state: "running", head: 0 };
      const journal = { read: async () => [], get: async () => row } as unknown as Journal; // all that a reader asks
      const follower = new Follower("r", {
        journal,
        clock: systemClock,
        after: 0,
        current: false,
        maxQueued: 100,
        page: 100,
        patience: 1_000,
        signal: undefined,
        left: () => {},
      });
      const read = follower.next();
      for (let hop = 0; hop < hops; hop++) await Promise.resolve();
      follower.hand([started]);
      const late = new Promise<string>((resolve) => setTimeout(resolve, 200, `lost after ${hops} microtasks`));
      expect(await Promise.race([read, late])).to.deep.equal({ done: false, value: [started] });
    }
  });
});
