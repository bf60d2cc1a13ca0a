import { expect } from "chai";
import type { Journal } from "../../src/core/journal/journal.ts";
import { systemClock } from "../../src/core/ports/clock.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { Follower } from "../../src/journal/follower.ts";

const started: RunEvent = { type: "run.started", run: "r", seq: 1, at: 0, agent: "a", input: { text: "hi" } };

const open = (journal: Journal, signal?: AbortSignal) =>
  new Follower("r", {
    journal,
    clock: systemClock,
    after: 0,
    current: false,
    maxQueued: 100,
    page: 100,
    patience: 1_000,
    signal,
    left: () => {},
  });

const hang = (hops: number) =>
  new Promise<string>((resolve) => setTimeout(resolve, 200, `lost after ${hops} microtasks`));

describe("a reader that finds its run empty", () => {
  it("gets an event that is handed over at any moment of that read", async () => {
    for (let hops = 0; hops <= 20; hops++) {
      const row = { run: "r", state: "running", head: 0 };
      const journal = { read: async () => [], get: async () => row } as unknown as Journal; // all that a reader asks
      const follower = open(journal);
      const read = follower.next();
      for (let hop = 0; hop < hops; hop++) await Promise.resolve();
      follower.hand([started]);
      expect(await Promise.race([read, hang(hops)])).to.deep.equal({ done: false, value: [started] });
    }
  });

  it("ends when it is aborted at any moment of that read, whatever the read comes to", async () => {
    const never = new Promise<never>(() => {});
    const nothing = async () => [];
    const row = async () => ({ run: "r", state: "running", head: 0 });
    const stores = [
      { read: nothing, get: row },
      { read: nothing, get: async () => undefined },
      { read: nothing, get: () => Promise.reject(new Error("down")) },
      { read: nothing, get: () => never },
      { read: () => Promise.reject(new Error("down")), get: row },
      { read: () => never, get: row },
    ];
    for (const store of stores) {
      for (let hops = 0; hops <= 20; hops++) {
        const controller = new AbortController();
        const follower = open(store as unknown as Journal, controller.signal);
        const read = follower.next().then(({ done }) => (done ? "end" : "events"));
        for (let hop = 0; hop < hops; hop++) await Promise.resolve();
        controller.abort();
        const outcome = await Promise.race([read.catch(() => "failed"), hang(hops)]);
        // An unknown run may have been noticed before the abort.
        expect(outcome).to.be.oneOf(store === stores[1] ? ["end", "failed"] : ["end"]);
      }
    }
  });
});
