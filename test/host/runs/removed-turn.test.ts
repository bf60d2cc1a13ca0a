import { expect } from "chai";
import { MemoryJournal } from "../../../plugins/memory/journal.ts";
import { systemClock } from "../../../src/core/ports/clock.ts";
import { noTiming } from "../../../src/core/run/timing.ts";
import { Sessions } from "../../../src/host/runs/sessions.ts";
import { readHistory } from "../../../src/journal/history.ts";

const tenant = "default";

/** A journal with two ended turns of a session. */
async function twoTurns(): Promise<MemoryJournal> {
  const journal = new MemoryJournal({ clock: systemClock, keep: 100, lease: 10_000 });
  for (const run of ["first", "second"]) {
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
    const journal = await twoTurns();
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
    const journal = await twoTurns();
    const missing = async (run: string, head: number) =>
      readHistory(journal, { run, head }).then(
        () => "nothing",
        ({ code }) => code,
      );
    expect(await missing("first", 9)).to.equal("internal");
    expect(await missing("gone", 9)).to.equal("not_found");
  });
});
