import { expect } from "chai";
import { MemoryJournal } from "../../plugins/memory/journal.ts";
import { Breakers } from "../../src/agent/run/breaker.ts";
import { runAgent } from "../../src/agent/run-agent.ts";
import type { Append } from "../../src/core/journal/journal.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import { Committer } from "../../src/journal/committer.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { agentOf, tool } from "./harness.ts";

/** A memory journal that answers later, as engines in other threads and processes do, and notes what each commit holds. */
class LaterJournal extends MemoryJournal {
  readonly commits: string[][] = [];

  override append(batch: readonly Append[]) {
    this.commits.push(batch.flatMap(({ events }) => events.map(({ type }) => type)));
    const answer = super.append(batch);
    return new Promise<Awaited<typeof answer>>((resolve) => setImmediate(resolve, answer));
  }
}

describe("the end of a round", () => {
  it("is committed before the next request, and the last one with the run's end", async () => {
    const clock = new VirtualClock();
    const journal = new LaterJournal({ keep: 10, lease: 10_000, clock });
    const committer = new Committer({ journal, clock });
    const request = { agent: "tester", input: { text: "go" } };
    const row = { run: "run-1", tenant: "default", session: undefined, request };
    const { claim } = await journal.enqueue({ ...row, claimFor: "w" });
    if (claim === undefined) throw new Error("the run was not claimed");
    const model = new ScriptedModel([[say.call(0, "look", {})], ["done"]]);
    const parts = {
      agent: agentOf({ model, tools: [tool("look", () => "seen")] }),
      request,
      runLog: committer.openLog(claim.ownership),
      history: [],
      session: [],
      clock,
      log: silentLog,
      breakers: new Breakers(clock),
    };
    const never = new AbortController().signal;
    await runAgent(parts, { feed: { subscribe: () => () => {} }, release: never, interrupt: never });
    const ends = journal.commits.filter((types) => types.includes("round.finished"));
    expect(ends.map((types) => types.slice(types.indexOf("round.finished")))).to.deep.equal([
      ["round.finished"],
      ["round.finished", "run.finished"],
    ]);
    committer.close();
    await journal.close();
  });
});
