import { expect } from "chai";
import { MemoryJournal } from "../../plugins/memory/journal.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Append, Claim, Ownership } from "../../src/core/journal/journal.ts";
import { systemClock } from "../../src/core/ports/clock.ts";
import type { EventBody, RunEvent } from "../../src/core/run/events.ts";
import { importRun } from "../../src/journal/import.ts";
import { Worker } from "../../src/journal/worker.ts";
import { claimed, collect, delta, finished, freshRun, memory, pair, started } from "./setup.ts";

function deep(levels: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { a: value };
  return value;
}
const cycle: Record<string, unknown> = {};
cycle.self = cycle;

const poisons: readonly (readonly [string, unknown])[] = [
  ["5,000 levels", deep(5_000)],
  ["100,000 levels", deep(100_000)],
  ["a cycle", cycle],
  ["a bigint", { amount: 1n }],
  ["a toJSON that throws", { toJSON: () => expect.fail() }],
  ["two million values", Array(2_000_000).fill(0)],
];

const carriers: readonly (readonly [string, (value: unknown) => EventBody])[] = [
  ["metadata", (value) => ({ type: "run.started", agent: "a", input: {}, metadata: { value } })],
  ["a provider's part", (value) => ({ type: "provider.activity", round: 1, kind: "part", wire: "w", data: value })],
  ["arguments", (value) => ({ type: "tool_call.ready", round: 1, call: "c", name: "n", arguments: { value } })],
  ["an answer", (value) => ({ ...(finished() as object), object: value }) as EventBody],
];

/** An engine that will not have a batch with a certain text in it. */
class Picky extends MemoryJournal {
  appends = 0;
  thrown: () => unknown = () => new VenturiError("journal.append", "record_invalid", "too big a row");

  override async append(batch: readonly Append[]): Promise<ReadonlySet<Ownership>> {
    this.appends += 1;
    if (batch.some(({ events }) => events.some((event) => "text" in event && event.text === "poison")))
      throw this.thrown();
    return super.append(batch);
  }
}
const picky = () => new Picky({ clock: systemClock, keep: 100, lease: 10_000 });

describe("a record that cannot be stored", () => {
  for (const [what, value] of poisons) {
    it(`is refused when it is written: ${what}, wherever it is carried`, async () => {
      for (const [, body] of carriers) {
        const journal = memory();
        const { committer } = pair(journal);
        const log = committer.openLog((await claimed(journal)).ownership);
        expect(() => log.write(body(value)))
          .to.throw(VenturiError)
          .with.property("code", "record_invalid");
        await log.step(started());
        await log.step(finished());
        expect((await journal.read(log.ownership.run, 0, 10)).map(({ seq }) => seq)).to.deep.equal([1, 2]);
      }
    });
  }

  it("ends its own run at once when only the engine notices, and the rest of the batch is committed", async () => {
    for (const thrown of [picky().thrown, () => new RangeError("Maximum call stack size exceeded")]) {
      const journal = picky();
      journal.thrown = thrown;
      const { committer, followers } = pair(journal);
      const claims = await Promise.all(Array.from({ length: 5 }, () => claimed(journal)));
      const logs = claims.map(({ ownership }) => committer.openLog(ownership));
      const steps = logs.map((log, index) => {
        if (index === 2) log.write(delta("poison"));
        return log.step(started());
      });
      const settled = await Promise.allSettled(steps);
      expect(settled.map(({ status }) => status)).to.deep.equal([
        "fulfilled",
        "fulfilled",
        "rejected",
        "fulfilled",
        "fulfilled",
      ]);
      const run = claims[2]?.ownership.run ?? "";
      const events = await collect(followers.follow(run));
      expect(events.map(({ type }) => type)).to.deep.equal(["run.started", "run.failed"]);
      expect(events.at(-1)).to.have.nested.property("error.code", "record_invalid");
      expect(await journal.get(run)).to.include({ state: "done", outcome: "failed" });
      // The batch, each of the five alone, and the end of the one.
      expect(journal.appends).to.equal(7);
    }
  });
});

describe("a run that is imported", () => {
  it("is refused where a line of it is nested too deep, with the line's number", async () => {
    const heading = { venturi: "run", version: 1, run: "r", createdAt: 1, request: { agent: "a", input: {} } };
    const deepLine = `{"event":{"type":"run.started","run":"r","seq":1,"at":1,"agent":"a","input":{},"metadata":${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}}}`;
    const failure = await importRun(memory(), `${JSON.stringify(heading)}\n${deepLine}\n`).catch((thrown) => thrown);
    expect(failure).to.include({ code: "invalid_input", message: "line 2 is nested deeper than 96 levels" });
  });
});

describe("a journal with a damaged run in it", () => {
  const request = { agent: "a", input: { text: "hi" } };
  const damage = () => new VenturiError("journal.read", "record_invalid", "a record is damaged");

  async function workOn(
    journal: MemoryJournal,
  ): Promise<{ events: (run: string) => Promise<RunEvent[]>; stop(): void }> {
    const { committer, followers } = pair(journal);
    const worker = new Worker({
      journal,
      committer,
      execute: async ({ log, history }) => {
        if (history.length === 0) await log.step(started());
        await log.step(finished());
      },
    });
    await worker.start();
    return { events: (run) => collect(followers.follow(run)), stop: () => void worker.stop() };
  }

  it("ends a run whose request cannot be read and works on the others", async () => {
    const journal = memory();
    const [bad, good] = [freshRun(), freshRun()];
    await journal.enqueue({ run: bad, tenant: "default", session: undefined, request });
    await journal.enqueue({ run: good, tenant: "default", session: undefined, request });
    const claim = journal.claim.bind(journal);
    journal.claim = async (worker, limit): Promise<Claim[]> =>
      (await claim(worker, limit)).map((each) =>
        each.ownership.run === bad ? { ...each, request: { agent: "a", input: {} }, unreadable: damage() } : each,
      );
    const { events, stop } = await workOn(journal);
    expect((await events(good)).at(-1)).to.include({ type: "run.finished" });
    expect((await events(bad)).at(-1)).to.have.nested.property("error.code", "record_invalid");
    stop();
  });

  it("ends a run whose history cannot be read, without trying again", async () => {
    const journal = memory();
    const { ownership } = await claimed(journal, "dead");
    const first = { ...started(), run: ownership.run, seq: 1, at: 1 } as RunEvent;
    await journal.append([{ ownership, events: [first], state: "ready" }]);
    const read = journal.read.bind(journal);
    let reads = 0;
    journal.read = async (run, after, limit) => {
      if (run === ownership.run && after === 0 && ++reads < 5) throw damage();
      return read(run, after, limit);
    };
    const { stop } = await workOn(journal);
    while ((await journal.get(ownership.run))?.state !== "done") await new Promise((resolve) => setImmediate(resolve));
    expect(reads).to.equal(1);
    expect((await read(ownership.run, 1, 10))[0]).to.have.nested.property("error.code", "record_invalid");
    stop();
  });
});
