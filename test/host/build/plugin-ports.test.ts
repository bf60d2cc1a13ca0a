import { expect } from "chai";
import { MemoryJournal } from "../../../plugins/memory/journal.ts";
import { HookChain } from "../../../src/agent/run/hook-chain.ts";
import { Waits } from "../../../src/agent/run/waits.ts";
import { Journal } from "../../../src/core/journal/journal.ts";
import { type Clock, sleep } from "../../../src/core/ports/clock.ts";
import type { Hooks } from "../../../src/core/ports/hooks.ts";
import { Runs } from "../../../src/core/ports/runs.ts";
import type { EventBody } from "../../../src/core/run/events.ts";
import { forPlugins } from "../../../src/host/build/plugin-ports.ts";
import { VirtualClock } from "../../../src/testing/clock.ts";
import { ScriptedModel, say } from "../../../src/testing/model.ts";
import { Bench, tool } from "../../agent/harness.ts";

type Call = (clock: Clock, wait: (ms: number) => Promise<unknown>) => Promise<unknown>;

/** A store whose every operation takes as long as it is told. */
const slow = (clock: Clock) => {
  const answer = (ms: number) => (ms === Number.POSITIVE_INFINITY ? new Promise(() => {}) : sleep(clock, ms));
  const keyValues = { get: (ms: number) => answer(ms) };
  return { read: (ms: number) => answer(ms), keyValues, get: (ms: number) => answer(ms), embed: answer };
};

/** Each way in which a plugin reaches the journal. */
const ways: readonly (readonly [string, (clock: Clock) => (ms: number) => Promise<unknown>])[] = [
  ["the journal", (clock) => (ms) => forPlugins(Journal, slow(clock) as never).read(ms as never, 0, 0)],
  [
    "its key values",
    (clock) => (ms) => forPlugins(Journal, slow(clock) as never).keyValues?.get(ms as never, "") as never,
  ],
  ["runs", (clock) => (ms) => forPlugins(Runs, slow(clock) as never).get(ms as never)],
];

/** What becomes of a hook, and what its run says it waited for. */
async function hooked(way: (clock: Clock) => (ms: number) => Promise<unknown>, work: Call) {
  const clock = new VirtualClock();
  const waits = new Waits(clock);
  const wait = way(clock);
  const hook: Hooks = { beforeGeneration: async () => void (await work(clock, wait)) };
  const context = { run: "r", agent: "a", context: "c", depth: 0, signal: new AbortController().signal };
  const chain = new HookChain([hook], { clock, waits, fail: () => {} }, context);
  const over = chain.beforeGeneration({} as never, 1).then(
    () => "done",
    (thrown) => `${thrown.code}: ${thrown.message}`,
  );
  await clock.advance(90_000);
  const body = { type: "round.started" } as EventBody;
  waits.putOn(body, 0);
  const waited = Object.fromEntries((body.waited ?? []).map(({ for: part, ms }) => [part, ms]));
  return { outcome: await Promise.race([over, "hangs"]), waited, pending: clock.pending };
}

describe("the time that a plugin waits for the journal", () => {
  for (const [name, way] of ways) {
    it(`is not the hook's own: ${name}`, async () => {
      const patient = await hooked(way, async (clock, wait) => {
        await wait(29_000);
        await sleep(clock, 29_000);
      });
      expect(patient).to.deep.equal({ outcome: "done", waited: { hook: 29_000, journal: 29_000 }, pending: 0 });
    });

    it(`is limited, and the journal is blamed for it: ${name}`, async () => {
      const hangs = await hooked(way, (_, wait) => wait(Number.POSITIVE_INFINITY));
      expect(hangs.outcome).to.equal("journal_failed: the hook beforeGeneration waited 30000 ms for the journal");
      expect(hangs).to.deep.include({ waited: { journal: 30_000 }, pending: 0 });
      const often = await hooked(way, async (_, wait) => {
        for (let count = 0; count < 4; count++) await wait(9_000);
      });
      expect(often.outcome).to.contain("journal_failed");
      const together = await hooked(way, (_, wait) => Promise.all([wait(20_000), wait(25_000), wait(29_000)]));
      expect(together.outcome).to.equal("done");
    });

    it(`leaves the blame with a hook that hangs itself: ${name}`, async () => {
      const hangs = await hooked(way, async (_, wait) => {
        await wait(10_000);
        await new Promise(() => {});
      });
      expect(hangs.outcome).to.equal("plugin_failed: the hook beforeGeneration took longer than 30000 ms");
    });

    it(`is not the tool's own: ${name}`, async () => {
      const clock = new VirtualClock();
      const wait = way(clock);
      const tools = [
        tool("patient", async () => `${await wait(900)}${await sleep(clock, 900)}ok`, { timeout: 1_000 }),
        tool("stuck", async () => `${await wait(Number.POSITIVE_INFINITY)}`, { timeout: 1_000 }),
        tool("lazy", async () => `${await wait(500)}${await new Promise(() => {})}`, { timeout: 1_000 }),
      ];
      const calls = tools.map((each, at) => say.call(at, each.name, {}));
      const bench = new Bench({ model: new ScriptedModel([calls, ["ok"]]), tools, clock });
      const over = bench.run();
      await clock.advance(5_000);
      await over;
      const ends = bench.of("tool.finished").map(({ call, ok, error }) => [call, ok, error?.code]);
      expect(Object.fromEntries(ends.map(([call, ...rest]) => [call, rest]))).to.deep.equal({
        "call-patient-0": [true, undefined],
        "call-stuck-1": [false, "journal_failed"],
        "call-lazy-2": [false, "tool_timeout"],
      });
      expect(bench.of("tool.finished").find(({ call }) => call === "call-stuck-1")?.error?.err).to.equal(
        "stuck waited 1000 ms for the journal",
      );
    });
  }

  it("does not include what a model does for a plugin", async () => {
    const asked = await hooked(
      (clock) => (ms) => forPlugins(Runs, slow(clock) as never).embed(ms as never),
      (_, wait) => wait(31_000),
    );
    expect(asked.outcome).to.contain("plugin_failed");
  });

  it("is taken from a port whose properties are read-only, too", async () => {
    const port = Object.freeze({ get: async () => "found" });
    expect(await forPlugins(Runs, port as never).get("r")).to.equal("found");
  });

  it("is taken from the port itself: the same object each time, with all it has", async () => {
    const clock = new VirtualClock();
    const journal = new MemoryJournal({ clock, keep: 10, lease: 1_000 });
    const reached = forPlugins(Journal, journal);
    expect(forPlugins(Journal, journal)).to.equal(reached);
    expect(reached.keyValues).to.equal(reached.keyValues);
    expect(reached.lease).to.equal(1_000);
    expect(reached).to.be.instanceOf(MemoryJournal);
    expect(await reached.keyValues?.put("s", { key: "k", value: "v", version: 0 })).to.equal(1);
    expect(await reached.keyValues?.get("s", "k")).to.deep.equal({ key: "k", value: "v", version: 1 });
    expect(await reached.get("nobody")).to.equal(undefined);
    const other = {};
    expect(forPlugins(Symbol("other") as never, other)).to.equal(other);
  });
});
