import { expect } from "chai";
import { MemoryJournal } from "../../../plugins/memory/journal.ts";
import { systemClock } from "../../../src/core/ports/clock.ts";
import { noTiming } from "../../../src/core/run/timing.ts";
import { Sessions } from "../../../src/host/runs/sessions.ts";
import { readHistory } from "../../../src/journal/history.ts";

const tenant = "default";

/** A journal with ended turns of a session. */
async function turnsOf(runs: readonly string[]): Promise<MemoryJournal> {
  const journal = new MemoryJournal({ clock: systemClock, keep: 100, lease: 10_000 });
  for (const run of runs) {
    const input = { text: run };
    const request = { agent: "a", input, session: "s" };
    const end = { type: "run.finished", finish: "stop", output: run, usage: {}, rounds: 1, timing: noTiming } as const;
    await journal.restore({
      run,
      tenant,
      session: "s",
      request,
      signals: [],
      wires: [],
      events: [
        { type: "run.started", agent: "a", input, run, seq: 1, at: 1 },
        { ...end, run, seq: 2, at: 2 },
      ],
    });
  }
  return journal;
}

describe("a turn that is removed while its conversation is read", () => {
  it("is left out, and the others stay", async () => {
    const journal = await turnsOf(["first", "second"]);
    const list = journal.list.bind(journal);
    journal.list = async (query) => {
      const listed = await list(query);
      await journal.prune({ runs: ["first"] });
      return listed;
    };
    const messages = await new Sessions(journal).before({ tenant, session: "s", run: "third" });
    expect(JSON.stringify(messages)).to.include("second").and.not.include("first");
  });

  it("is told apart from one whose events are missing", async () => {
    const journal = await turnsOf(["first", "second"]);
    const missing = async (run: string, head: number) =>
      readHistory(journal, { run, head }).then(
        () => "nothing",
        ({ code }) => code,
      );
    expect(await missing("first", 9)).to.equal("internal");
    expect(await missing("gone", 9)).to.equal("not_found");
  });
});

describe("a turn that another process removes", () => {
  const before = async (sessions: Sessions) =>
    (await sessions.before({ tenant, session: "s", run: "next" })).flatMap(({ parts }) =>
      parts.map((part) => (part.type === "text" ? part.text : "")),
    );

  it("is not part of the conversation here any more", async () => {
    const journal = await turnsOf(["first", "second"]);
    const sessions = new Sessions(journal);
    expect(await before(sessions)).to.deep.equal(["first", "second"]);
    await journal.prune({ runs: ["first"] });
    expect(await before(sessions)).to.deep.equal(["second"]);
    await journal.prune({ runs: ["second"] });
    expect(await before(sessions), "the whole session").to.deep.equal([]);
  });

  it("is missed in a session of several pages, too", async () => {
    const names = Array.from({ length: 99 }, (_, number) => `turn ${number}`);
    const journal = await turnsOf(names);
    const sessions = new Sessions(journal);
    expect(await before(sessions)).to.deep.equal(names);
    await journal.prune({ runs: ["turn 3"] });
    expect(await before(sessions)).to.deep.equal(names.filter((name) => name !== "turn 3"));
  });

  it("costs a read of the conversation once, and nothing when none was removed", async () => {
    const journal = await turnsOf(["first", "second", "third"]);
    const sessions = new Sessions(journal);
    const read = journal.read.bind(journal);
    let reads = 0;
    journal.read = async (...given) => {
      reads += 1;
      return await read(...given);
    };
    const readsOf = async () => {
      reads = 0;
      await before(sessions);
      return reads;
    };
    expect(await readsOf()).to.equal(3);
    expect(await readsOf()).to.equal(0);
    await journal.prune({ runs: ["first"] });
    expect(await readsOf()).to.equal(2);
    expect(await readsOf()).to.equal(0);
  });
});
