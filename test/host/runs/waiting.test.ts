import { expect } from "chai";
import type { Claim, Journal } from "../../../src/core/journal/journal.ts";
import { keyedRunId, newRunId, timeOfRunId } from "../../../src/core/run/run-id.ts";
import type { RunRow } from "../../../src/core/run/run-row.ts";
import { aheadOf, idleFor, queueTime } from "../../../src/host/runs/queue-time.ts";

const asked = 1_700_000_000_000;
const id = (at: number): string => newRunId(at, "01234567-89ab-4cde-8f01-23456789abcd");
const own = id(asked);

const row = (run: string, parts: Partial<RunRow> = {}): RunRow => ({
  run,
  tenant: "acme",
  agent: "assistant",
  session: "s",
  state: "done",
  outcome: "finished",
  head: 9,
  asking: 0,
  epoch: 1,
  createdAt: asked,
  updatedAt: asked,
  request: { agent: "assistant", input: { text: "" } },
  ...parts,
});

/** Rows of a session, and what was asked for. */
function listing(...runs: RunRow[]) {
  const queries: unknown[] = [];
  const list: Journal["list"] = async (query) => {
    queries.push(query);
    return { runs };
  };
  return { list, queries };
}

describe("the id of a run", () => {
  it("says when the run was asked for, and sorts by it", () => {
    expect(timeOfRunId(own)).to.equal(asked);
    expect(own).to.equal(`run_${asked.toString(36).padStart(9, "0")}0123456723456789abcd`);
    expect([id(asked + 1), own, id(5)].sort()).to.deep.equal([id(5), own, id(asked + 1)]);
    expect(timeOfRunId(id(5))).to.equal(5);
  });

  it("says nothing when somebody else made it", () => {
    for (const other of [keyedRunId("acme", "k"), "r1", `${own}0`, `x${own}`, own.toUpperCase()])
      expect(timeOfRunId(other), other).to.equal(undefined);
  });

  it("is the same for the same key of a tenant, and another for any other", () => {
    const keyed = keyedRunId("acme", "k");
    expect(keyed)
      .to.match(/^run_k[0-9a-f]{32}$/)
      .and.to.equal(keyedRunId("acme", "k"));
    expect(new Set([keyed, keyedRunId("acme", "l"), keyedRunId("acm", "ek"), keyedRunId("globex", "k")]).size).to.equal(
      4,
    );
  });
});

describe("the run that another one of its session waits for", () => {
  const within = { tenant: "acme", session: "s" };

  it("is an unfinished earlier run, or else the last earlier one to end", async () => {
    const ended = row(id(asked - 20), { updatedAt: asked + 50 });
    const endedLater = row(id(asked - 30), { updatedAt: asked + 60 });
    const running = row(id(asked - 40), { state: "running", updatedAt: asked - 40 });
    const later = row(id(asked + 1), { state: "running" });
    const { list, queries } = listing(later, ended, endedLater, running);
    expect((await aheadOf(own, within, { list }))?.run).to.equal(running.run);
    expect(queries).to.deep.equal([{ tenant: "acme", session: "s", limit: 20 }]);
    expect((await aheadOf(own, within, listing(later, ended, endedLater)))?.run).to.equal(endedLater.run);
    expect((await aheadOf(own, within, listing(later, endedLater, ended)))?.run).to.equal(endedLater.run);
  });

  it("is neither one that had already ended nor the run itself", async () => {
    const before = row(id(asked - 20), { updatedAt: asked - 1 });
    expect(await aheadOf(own, within, listing(row(own, { state: "ready" }), before))).to.equal(undefined);
    const just = row(id(asked - 20), { updatedAt: asked });
    expect(await aheadOf(own, within, listing(just))).to.equal(just);
  });

  it("is shown with the time in the queue, when that is noticeable", async () => {
    const ahead = row(id(asked - 20), { state: "running" });
    const claim = (run: string, session?: string) =>
      ({
        ownership: { run },
        tenant: "acme",
        request: session === undefined ? {} : { session },
      }) as unknown as Claim;
    const journal = listing(ahead) as unknown as Journal;
    expect(await queueTime(claim(own, "s"), journal, asked + 99)).to.equal(undefined);
    expect(await queueTime(claim(own, "s"), journal, asked + 100)).to.deep.equal({ ms: 100, name: ahead.run });
    expect(await queueTime(claim(own), journal, asked + 100)).to.deep.equal({ ms: 100, name: "" });
    expect(await queueTime(claim("somebody's"), journal, asked + 100)).to.equal(undefined);
    const broken = { list: () => Promise.reject(new Error("no journal")) } as unknown as Journal;
    expect(await queueTime(claim(own, "s"), broken, asked + 100)).to.deep.equal({ ms: 100, name: "" });
  });
});

describe("a run that nobody executes", () => {
  const never = { of: () => undefined };
  const idle = (parts: Partial<RunRow>, paused: { of(agent: string): { since: number } | undefined } = never) =>
    idleFor(row(own, { state: "ready", updatedAt: asked + 400, ...parts }), {
      journal: listing(row(id(asked - 20), { state: "running" })),
      now: asked + 1_000,
      paused,
    });

  it("waits for the run ahead of it in its session, or for room", async () => {
    expect(await idle({ head: 0 })).to.deep.equal({ part: "queue", name: id(asked - 20), ms: 1_000 });
    expect(await idle({ head: 0, session: undefined })).to.deep.equal({ part: "queue", name: "", ms: 1_000 });
  });

  it("is down since its last event once it has begun", async () => {
    expect(await idle({ head: 1 })).to.deep.equal({ part: "down", name: "", ms: 600 });
    expect(await idle({ head: 1, updatedAt: asked + 2_000 })).to.deep.equal({ part: "down", name: "", ms: 0 });
  });

  it("is not explained here when it waits for a person or runs elsewhere", async () => {
    expect(await idle({ state: "waiting" })).to.equal(undefined);
    expect(await idle({ state: "running" })).to.equal(undefined);
  });

  it("is stranded when no worker has its agent, whatever its state", async () => {
    const doing = await idle({ state: "waiting", stranded: true });
    expect(doing).to.include({ part: "down", ms: 600, stranded: true });
    expect(doing?.name).to.include("assistant");
  });

  it("is paused with its agent: from the pause on, or from when it came", async () => {
    const since = (at: number) => ({ of: (agent: string) => (agent === "assistant" ? { since: at } : undefined) });
    const paused = { part: "paused", name: "the agent assistant" };
    expect(await idle({ head: 0 }, since(asked + 700))).to.deep.equal({ ...paused, ms: 300 });
    expect(await idle({ head: 0 }, since(asked - 700))).to.deep.equal({ ...paused, ms: 1_000 });
    expect(await idle({ head: 0 }, since(asked + 1_700))).to.deep.equal({ ...paused, ms: 0 });
  });
});
