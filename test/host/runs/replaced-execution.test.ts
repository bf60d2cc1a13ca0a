import { expect } from "chai";
import { MemoryJournal } from "../../../plugins/memory/journal.ts";
import type { Claim } from "../../../src/core/journal/journal.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import type { PipelineWork } from "../../../src/core/ports/pipeline.ts";
import type { Doing } from "../../../src/core/ports/runs.ts";
import { noTelemetry } from "../../../src/core/ports/telemetry.ts";
import { Admission } from "../../../src/host/access/admission.ts";
import { HeldMemory } from "../../../src/host/memory/held-memory.ts";
import { Executor } from "../../../src/host/runs/executor.ts";
import { Feed } from "../../../src/host/runs/feed.ts";
import { Followers } from "../../../src/journal/followers.ts";
import { WriteWatch } from "../../../src/journal/write-watch.ts";
import { VirtualClock } from "../../../src/testing/clock.ts";

const run = "run_1";
const doing: Doing = { part: "tool", name: "look", ms: 5 };

/** An executor whose runs end when they are told to. */
function bench() {
  const clock = new VirtualClock();
  const journal = new MemoryJournal({ clock, keep: 10, lease: 10_000 });
  const followers = new Followers({ journal, clock });
  const works: { readonly work: PipelineWork; readonly end: () => void }[] = [];
  const open = (work: PipelineWork) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    works.push({ work, end: resolve });
    work.live?.(() => doing);
    return { run: () => promise };
  };
  const revision = { agents: new Map(), priceOf: () => undefined, pipelines: { open } };
  const watched: string[] = [];
  const executor = new Executor({
    name: "w",
    journal,
    revisions: { current: revision, acquire: () => ({ revision, release: () => {} }) } as never,
    admission: new Admission({ activeRuns: 10, queue: 10, queueWait: 1_000, clock }),
    followers,
    feed: new Feed({ journal, followers, clock, log: silentLog }),
    telemetry: noTelemetry,
    clock,
    log: silentLog,
    takeUp: "any",
    concurrency: 10,
    memory: new HeldMemory(1_000_000_000, () => {}),
    writes: new WriteWatch({ clock, log: silentLog }),
    body: 1_000,
  });
  executor.watcher = {
    began: ({ ownership }) => {
      watched.push(`began ${ownership.epoch}`);
      return undefined;
    },
    left: () => watched.push("left"),
  };
  return { clock, executor, works, watched };
}

const claimOf = (epoch: number): Claim => ({
  ownership: { run, session: undefined, epoch, worker: "w", head: 0 },
  tenant: "acme",
  request: { agent: "a", input: { text: "hi" }, user: `user${epoch}` },
  signals: 0,
});

describe("an execution that has lost its run to a newer one in the same process", () => {
  it("takes nothing of it away when it ends", async () => {
    const { clock, executor, works, watched } = bench();
    executor.started(run, "a", { paced: true });
    executor.offer(claimOf(1), undefined);
    await clock.advance(0);
    executor.offer(claimOf(2), undefined);
    await clock.advance(0);
    expect(works.map(({ work }) => work.claim.ownership.epoch)).to.deep.equal([1, 2]);
    works[0]?.end();
    await clock.advance(5_000);
    expect(executor.active).to.equal(1);
    expect(executor.ownerOf(run)).to.include({ tenant: "acme", user: "user2" });
    expect(executor.doing(run)).to.equal(doing);
    expect(executor.gateOf(run)).not.to.equal(undefined);
    expect(watched).to.deep.equal(["began 1", "began 2"]);
    works[1]?.end();
    await clock.advance(5_000);
    expect(executor.active).to.equal(0);
    expect(executor.ownerOf(run)).to.equal(undefined);
    expect(executor.doing(run)).to.equal(undefined);
    expect(executor.gateOf(run)).to.equal(undefined);
    expect(watched).to.deep.equal(["began 1", "began 2", "left"]);
  });
});
