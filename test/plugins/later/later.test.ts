import { expect } from "chai";
import later from "../../../plugins/later/index.ts";
import { MemoryJournal } from "../../../plugins/memory/journal.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { StoredSchedules } from "../../../src/core/ports/schedules.ts";
import type { Tool, ToolContext } from "../../../src/core/ports/tool.ts";
import type { RunRequest } from "../../../src/core/run/run-request.ts";
import { VirtualClock } from "../../../src/testing/clock.ts";

const minute = 60_000;
const day = 86_400_000;

describe("the tool later", () => {
  let clock: VirtualClock;
  let journal: MemoryJournal;
  let request: Partial<RunRequest>;
  /** Of single runs. */
  let requests: Record<string, Partial<RunRequest>>;
  beforeEach(() => {
    clock = new VirtualClock();
    journal = new MemoryJournal({ clock, keep: 10, lease: 10_000 });
    request = {};
    requests = {};
  });

  async function make(options: Record<string, unknown> = {}, kept: unknown = journal): Promise<Tool> {
    return (await later.create(later.options.parse(options), {
      name: "remind",
      log: silentLog,
      clock,
      folder: ".",
      runs: () => ({ get: async (run: string) => ({ tenant: "acme", request: requests[run] ?? request }) }) as never,
      resolve: () => kept as never,
      plugin: () => Promise.reject(new Error("not used")),
    })) as Tool;
  }
  let calls = 0;
  const call = async (tool: Tool, input: Record<string, unknown>, context: Partial<ToolContext> = {}) =>
    (await tool.call({ task: "feed the cat", ...input }, {
      run: "r1",
      call: `c${++calls}`,
      agent: "writer",
      session: undefined,
      ...context,
    } as ToolContext)) as { schedule: string; at: string };
  const refusal = async (tool: Tool, input: Record<string, unknown>, context: Partial<ToolContext> = {}) => {
    const error = await call(tool, input, context).then(
      () => ({ code: "" }),
      (thrown: { code: string }) => thrown,
    );
    return error.code;
  };
  const stored = async () => {
    const { keyValues } = journal;
    const found = [];
    for await (const each of new StoredSchedules(keyValues).all({ tenant: "acme", prefix: "later." })) found.push(each);
    return found;
  };

  it("keeps a schedule for the run's tenant, agent and caller, at the time it was asked for", async () => {
    request = { caller: { id: "key:1", concurrentRuns: 2 } as never };
    const now = clock.now();
    const { schedule, at } = await call(await make(), { in: "15m" });
    expect(schedule).to.equal("later.r1.1");
    expect(at).to.equal(new Date(now + 15 * minute).toISOString());
    const [kept] = await stored();
    expect(kept).to.deep.include({
      name: "later.r1.1",
      tenant: "acme",
      agent: "writer",
      input: { text: "feed the cat" },
      at: now + 15 * minute,
      timezone: "UTC",
      overlap: "queue",
      jitter: 0,
      catchUp: 7 * day,
      createdAt: now,
      by: "key:1",
      concurrentRuns: 2,
      origin: { run: "r1", call: `c${calls}`, depth: 1 },
    });
    expect(kept).not.to.have.property("session");
  });

  it("takes a moment with its offset, a minute late at most", async () => {
    const tool = await make();
    const in7 = new Date(clock.now() + 7 * minute);
    const there = `${new Date(in7.getTime() + 60 * minute).toISOString().slice(0, 19)}+01:00`;
    expect((await call(tool, { at: there })).at).to.equal(in7.toISOString());
    const late = new Date(clock.now() - minute);
    expect((await call(tool, { at: late.toISOString() })).at).to.equal(late.toISOString());
    const [, past] = await stored();
    expect(past?.createdAt).to.equal(late.getTime());
    expect(await refusal(tool, { at: new Date(clock.now() - minute - 1).toISOString() })).to.equal("tool_failed");
  });

  it("refuses what is no time, both times, none, and one too far ahead", async () => {
    const tool = await make({ longest: "1d" });
    const in1h = new Date(clock.now() + 60 * minute).toISOString();
    for (const input of [
      {},
      { in: "1h", at: in1h },
      { in: "soon" },
      { at: in1h.slice(0, 19) },
      { at: "noonZ" },
      { in: "25h" },
    ])
      expect(await refusal(tool, input), JSON.stringify(input)).to.equal("tool_failed");
    expect(await stored()).to.deep.equal([]);
    await call(tool, { in: "1d" });
  });

  it("answers a repeated call with the schedule it made", async () => {
    const tool = await make();
    const first = await call(tool, { in: "1h" }, { call: "same" });
    await clock.advance(5_000);
    expect(await call(tool, { in: "1h" }, { call: "same" })).to.deep.equal(first);
    expect(await call(tool, { in: "1h" }, { call: "other" })).to.include({ schedule: "later.r1.2" });
    expect(await stored()).to.have.length(2);
  });

  it("has as many slots as a run may make, of which another run takes none", async () => {
    const tool = await make({ most: 2 });
    await call(tool, { in: "1h" });
    await call(tool, { in: "1h" });
    expect(await refusal(tool, { in: "1h" })).to.equal("tool_failed");
    expect((await call(tool, { in: "1h" }, { run: "r10" })).schedule).to.equal("later.r10.1");
  });

  it("goes on the conversation when it is asked to, and there is one", async () => {
    const tool = await make({ agent: "reader" });
    expect(await refusal(tool, { in: "1h", here: true })).to.equal("tool_failed");
    await call(tool, { in: "1h", here: true }, { session: "s" });
    await call(tool, { in: "1h" }, { session: "s" });
    const [here, apart] = await stored();
    expect([here?.session, here?.agent, apart?.session]).to.deep.equal(["s", "reader", undefined]);
  });

  it("follows itself as often as the chain may be long", async () => {
    const tool = await make({ chain: 2 });
    request = { metadata: { laterDepth: 1 } };
    await call(tool, { in: "1h" });
    expect((await stored())[0]?.origin?.depth).to.equal(2);
    request = { metadata: { laterDepth: 2 } };
    expect(await refusal(tool, { in: "1h" })).to.equal("tool_failed");
  });

  it("counts a called run in the chain of the run that called it", async () => {
    const tool = await make({ chain: 2 });
    const called = (run: string): Partial<RunRequest> => ({ parent: { run, call: "c", depth: 1 } });
    requests = { r1: called("r2"), r2: called("r3"), r3: { metadata: { laterDepth: 1 } } };
    await call(tool, { in: "1h" });
    expect((await stored())[0]?.origin?.depth).to.equal(2);
    requests = { r1: called("r2"), r2: called("r3"), r3: { metadata: { laterDepth: 2 } } };
    expect(await refusal(tool, { in: "1h" })).to.equal("tool_failed");
  });

  it("counts from the beginning where metadata has something else in the chain's place", async () => {
    for (const laterDepth of ["x", null, -1_000, {}]) {
      request = { metadata: { laterDepth } };
      const { schedule } = await call(await make({ most: 100 }), { in: "5m" });
      const kept = (await stored()).find(({ name }) => name === schedule);
      expect(kept?.origin?.depth, String(laterDepth)).to.equal(1);
    }
  });

  it("needs a journal that keeps schedules, and an agent that there is", async () => {
    expect(await refusal(await make({}, { keyValues: undefined }), { in: "1h" })).to.equal("tool_failed");
    const check = (agent?: string) =>
      later.check?.(later.options.parse(agent === undefined ? {} : { agent }), { agents: ["writer"] } as never);
    expect([check(), check("writer")]).to.deep.equal([[], []]);
    expect(check("nobody")).to.have.length(1);
    expect((await make()).effect).to.equal("idempotent");
  });
});
