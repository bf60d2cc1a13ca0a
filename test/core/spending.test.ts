import { expect } from "chai";
import type { Usage } from "../../src/core/model/usage.ts";
import { endOfRun } from "../../src/core/run/digest.ts";
import type { EventBody, RunEvent } from "../../src/core/run/events.ts";
import { Spending } from "../../src/core/run/spending.ts";
import { noTiming } from "../../src/core/run/timing.ts";

const events = (...bodies: EventBody[]): RunEvent[] =>
  bodies.map((body, index) => ({ ...body, run: "run_1", seq: index + 1, at: index }) as RunEvent); // body + place = event

const started = (fork?: { run: string; after: number }): EventBody => ({
  type: "run.started",
  agent: "a",
  input: { text: "hi" },
  ...(fork === undefined ? {} : { fork }),
});
const round = (model = "p/m"): EventBody => ({ type: "round.started", round: 1, model, attempt: 1 });
const generated = (usage: Usage): EventBody => ({
  type: "generation.finished",
  round: 1,
  attempt: 1,
  finish: "stop",
  usage,
});
const used = (usage: Usage): EventBody => ({
  type: "tool.finished",
  round: 1,
  call: "c",
  name: "look",
  ok: true,
  ms: 1,
  usage,
});

function billOf(...bodies: EventBody[]) {
  const spending = new Spending();
  for (const event of events(...bodies)) spending.apply(event);
  return spending.bill;
}

describe("a run's spending", () => {
  const both = { inputTokens: 1, outputTokens: 2 };

  it("is listed by purpose only when that says more than the total", () => {
    expect(billOf(started(), round())).to.deep.equal({ usage: {} });
    expect(billOf(started(), round(), generated(both), generated({ inputTokens: 3 }))).to.deep.equal({
      usage: { inputTokens: 4, outputTokens: 2 },
    });
    expect(billOf(started(), round(), generated(both), used({ outputTokens: 5 }))).to.deep.equal({
      usage: { inputTokens: 1, outputTokens: 7 },
      spent: [
        { by: "generation", name: "p/m", count: 1, usage: both },
        { by: "tool", name: "look", count: 1, usage: { outputTokens: 5 } },
      ],
    });
  });

  it("of a fork has what it took over apart, and says so also when that is nothing", () => {
    const prefix = [started({ run: "run_0", after: 4 }), round("p/old"), generated(both), used({ inputTokens: 9 })];
    const own = [round("p/new"), generated({ inputTokens: 5, outputTokens: 6 })];
    expect(billOf(...prefix, ...own)).to.deep.equal({
      usage: { inputTokens: 5, outputTokens: 6 },
      inherited: {
        usage: { inputTokens: 10, outputTokens: 2 },
        spent: [
          { by: "generation", name: "p/old", count: 1, usage: both },
          { by: "tool", name: "look", count: 1, usage: { inputTokens: 9 } },
        ],
      },
    });
    expect(billOf(started({ run: "run_0", after: 1 }))).to.deep.equal({
      usage: {},
      inherited: { usage: {}, spent: [] },
    });
  });

  it("of a fork that an earlier release ended is told apart from its events", () => {
    const ended: EventBody = {
      type: "run.finished",
      finish: "stop",
      output: "",
      usage: { inputTokens: 6, outputTokens: 8 }, // with what it took over
      rounds: 2,
      timing: noTiming,
    };
    const fork = { run: "run_0", after: 3 };
    const all = events(
      started(fork),
      round(),
      generated(both),
      round(),
      generated({ inputTokens: 5, outputTokens: 6 }),
      ended,
    );
    const priceOf = (model: string) => (model === "p/m" ? { input: 1_000_000, output: 0 } : undefined);
    const request = { agent: "a", input: { text: "hi" } };
    expect(endOfRun({ run: "run_1", request, priceOf }, all)?.digest).to.deep.include({
      usage: { inputTokens: 5, outputTokens: 6 },
      cost: 5,
      inherited: { usage: both, cost: 1 },
    });
  });
});
