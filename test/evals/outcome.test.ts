import { expect } from "chai";
import type { RunEvent } from "../../src/core/run/events.ts";
import { outcomeOf } from "../../src/evals/scoring/outcome.ts";

describe("a run as scorers see it", () => {
  it("has the calls of the attempt that stood, in the order in which their arguments were complete", () => {
    const round = { round: 1 };
    const started = (call: string) => ({ type: "tool_call.started", ...round, call, name: call, index: 0 });
    const ready = (call: string, at: number) => ({
      type: "tool_call.ready",
      ...round,
      call,
      name: call,
      arguments: { at },
    });
    const bodies = [
      { type: "run.started", agent: "a", input: {} },
      { type: "round.started", ...round, model: "m", attempt: 1 },
      started("one"),
      ready("one", 1),
      { type: "round.retracted", ...round, reason: "the connection broke" },
      { type: "round.started", ...round, model: "n", attempt: 2 },
      started("one"),
      started("two"),
      ready("two", 2),
      ready("one", 3),
      { type: "run.finished", finish: "stop", output: "", usage: {}, rounds: 1, timing: {} },
    ];
    const events = bodies.map((body, at) => ({ ...body, run: "r", seq: at + 1, at }) as RunEvent);
    expect(outcomeOf(events)?.calls).to.deep.equal([
      { name: "two", arguments: { at: 2 } },
      { name: "one", arguments: { at: 3 } },
    ]);
  });
});
