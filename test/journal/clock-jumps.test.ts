import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { SqliteJournal } from "../../plugins/sqlite/journal.ts";
import type { Journal } from "../../src/core/journal/journal.ts";
import { type Clock, systemClock } from "../../src/core/ports/clock.ts";
import { isTerminal, type RunEvent } from "../../src/core/run/events.ts";
import { Committer } from "../../src/journal/committer.ts";
import type { Work } from "../../src/journal/work.ts";
import { Worker } from "../../src/journal/worker.ts";
import { type PluginCopy, pluginCopy } from "../chaos/plugin-copy.ts";
import { postgresSkew, setPostgresSkew, setSqliteSkew, skewedUrl, sqliteSkew } from "../chaos/skew.ts";
import { openJournal } from "../plugins/postgres/open.ts";
import { freshSchema, sharedCluster } from "../plugins/postgres/shared.ts";
import { claimed, delta, finished, freshRun, seqs, started, upTo } from "./setup.ts";

const lease = 450;
/** Longer than a busy machine stops for. */
const longLease = 20_000;
const hour = 3_600_000;
const request = { agent: "a", input: { text: "hi" } };
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

interface Engine {
  open(): Promise<Journal>;
  /** Its clock is this much off from now on, ms. */
  skew(ms: number): Promise<void>;
}

describe("a clock that jumps", () => {
  const folder = mkdtempSync(join(tmpdir(), "venturi-clock-"));
  const opened: { close(): Promise<void> }[] = [];
  let copy: PluginCopy;
  let count = 0;

  before(() => {
    copy = pluginCopy("sqlite", "skewed-sqlite", sqliteSkew);
  });
  afterEach(async () => {
    for (const journal of opened.splice(0).reverse()) await journal.close();
  });
  after(() => {
    copy.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const keep = <T extends { close(): Promise<void> }>(journal: T): T => {
    opened.push(journal);
    return journal;
  };
  const engines: Record<string, (lease: number) => Promise<Engine>> = {
    async sqlite(ms) {
      const file = join(folder, `${++count}.db`);
      const { SqliteJournal: Skewed } = (await import(`${copy.folder}/journal.js`)) as {
        SqliteJournal: typeof SqliteJournal; // a copy of that very class
      };
      return {
        open: async () => keep(new Skewed({ file, lease: ms, busyTimeout: 5_000, watch: 20 })),
        skew: async (off) => setSqliteSkew(file, off),
      };
    },
    async postgres(ms) {
      const { url } = await sharedCluster();
      await postgresSkew(url);
      const schema = freshSchema();
      return {
        open: async () => keep(openJournal(skewedUrl(url), schema, { lease: ms })),
        skew: (off) => setPostgresSkew(url, off),
      };
    },
  };

  for (const [name, engine] of Object.entries(engines)) {
    describe(`of ${name}`, () => {
      for (const [jump, ms] of [
        ["an hour forwards", hour],
        ["an hour backwards", -hour],
        ["back by less than a lease", -0.8 * lease],
      ] as const) {
        it(`${jump} does not keep a dead worker's run from being claimed`, async () => {
          const { open, skew } = await engine(lease);
          const journal = await open();
          const { ownership } = await claimed(journal, "dead");
          await skew(ms);
          const start = performance.now();
          const epochs = await claimAll(journal);
          console.log(`        claimed after ${(performance.now() - start).toFixed(0)} ms (lease ${lease} ms)`);
          expect(epochs).to.deep.equal([2]);
          const zombie = await journal.append([
            { ownership, events: [{ ...started(), run: ownership.run, seq: 1, at: 0 } as RunEvent] }, // a body and its place
          ]);
          expect(zombie.size).to.equal(1);
        });
      }

      it("there and back costs runs at most one takeover each time: they end once, complete and in order", async () => {
        const { open, skew } = await engine(lease);
        const journal = await open();
        const works = [await startWorker(journal, systemClock), await startWorker(await open(), systemClock)];
        const runs = Array.from({ length: 6 }, freshRun);
        for (const run of runs) await journal.enqueue({ run, tenant: "default", session: undefined, request });
        const jumps = [hour, 0, -hour, 0, 2 * lease, -2 * lease, 0];
        for (const ms of jumps) {
          await pause(80);
          await skew(ms);
        }
        let epochs = 0;
        for (const run of runs) epochs += await checkEnded(journal, run);
        expect(epochs).to.be.at.most(runs.length * (jumps.length + 1));
        console.log(`        ${runs.length} runs, ${jumps.length} jumps, ${epochs - runs.length} takeovers`);
        for (const worker of works) await worker.stop();
      });
    });

    it(`of a worker over ${name} changes nothing: the run stays where it is, in order`, async () => {
      const { open } = await engine(longLease);
      const journal = await open();
      let off = 0;
      const clock: Clock = { ...systemClock, now: () => Date.now() + off };
      const owner = await startWorker(journal, clock);
      const run = freshRun();
      await journal.enqueue({ run, tenant: "default", session: undefined, request });
      while (owner.active === 0) await pause(5);
      const other = await startWorker(await open(), systemClock);
      for (const jump of [hour, -hour, 0, -10 * hour]) {
        await pause(110);
        off = jump;
      }
      expect(await checkEnded(journal, run)).to.equal(1);
      const at = (await journal.read(run, 0, 1_000)).map((event) => event.at);
      // Times of one owner come from a clock that nobody sets.
      expect(at).to.deep.equal(at.toSorted((a, b) => a - b));
      expect(Math.max(...at) - Math.min(...at)).to.be.below(hour);
      await owner.stop();
      await other.stop();
    });
  }
});

/** In time: a jump of an hour would delay it by one. */
async function claimAll(journal: Journal): Promise<number[]> {
  for (;;) {
    const claims = await journal.claim("next", 10);
    if (claims.length > 0) return claims.map(({ ownership }) => ownership.epoch);
    await pause(20);
  }
}

/** Its runs write a number every few milliseconds and go on counting where the last attempt stopped. */
async function startWorker(journal: Journal, clock: Clock): Promise<Worker> {
  const committer = new Committer({ journal, clock });
  const worker = new Worker({ journal, committer, clock, execute: countOn, poll: 50 });
  await worker.start();
  return worker;
}

async function countOn({ history, log, signal }: Work): Promise<void> {
  if (history.length === 0) await log.step(started());
  while (log.head < 80 && !signal.aborted) {
    log.write(delta(`${log.head}`));
    await pause(8);
  }
  if (!signal.aborted) await log.step(finished());
}

/** Waits for the end; answers how many epochs it took. */
async function checkEnded(journal: Journal, run: string): Promise<number> {
  for (;;) {
    const row = await journal.get(run);
    if (row?.state !== "done") {
      await pause(20);
      continue;
    }
    const events = await journal.read(run, 0, 1_000);
    expect(seqs(events)).to.deep.equal(upTo(81));
    expect(events.filter(isTerminal)).to.have.length(1);
    const counted = events.flatMap((event) => (event.type === "text.delta" ? [event.text] : []));
    expect(counted).to.deep.equal(upTo(79).map(String));
    return row.epoch;
  }
}
