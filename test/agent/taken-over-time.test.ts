import { expect } from "chai";
import type { RunEvent } from "../../src/core/run/events.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { Bench, tool } from "./harness.ts";

const hour = 3_600_000;

describe("the time limit of a run that was taken over", () => {
  const limits = { time: 10_000 };
  const budgets: (number | undefined)[] = [];
  const tools = [
    tool(
      "pay",
      (_input, context) => {
        budgets.push(context.budget().time);
        return "paid";
      },
      { effect: "effectful", approval: "always" },
    ),
  ];

  /** A run that worked for `worked` ms, asked, and whose process was killed an hour later, before or after the answer. */
  async function interrupted(clock: VirtualClock, worked: number, end: "asked" | "answered"): Promise<RunEvent[]> {
    const model = new ScriptedModel([[say.call(0, "pay", {}), say.wait(worked)]], { clock });
    const bench = new Bench({ model, tools, limits, clock });
    const running = bench.run();
    await clock.advance(worked);
    await bench.when("approval.requested");
    await clock.advance(hour);
    if (end === "answered") {
      bench.log.onEvent = (event) => {
        if (event.type === "approval.resolved") bench.release.abort(new Error("killed"));
      };
      bench.signal("approve", { call: "call-pay-0", approved: true });
    } else bench.release.abort(new Error("killed"));
    await running;
    expect(bench.types.at(-1)).to.equal(end === "asked" ? "approval.requested" : "approval.resolved");
    return bench.events.slice();
  }

  for (const end of ["asked", "answered"] as const) {
    it(`does not count the hour it waited for an answer, when it was killed after it had ${end}`, async () => {
      const clock = new VirtualClock();
      const history = await interrupted(clock, 4_000, end);
      const resumed = new Bench({ model: new ScriptedModel([["ok"]], { clock }), tools, limits, clock, history });
      budgets.length = 0;
      if (end === "asked") resumed.signal("approve", { call: "call-pay-0", approved: true });
      const running = resumed.run();
      await clock.advance(0);
      if (end === "answered") {
        // Started by nobody: an approval covers one start, and this one did not happen.
        if (resumed.of("approval.requested").length > 1)
          resumed.signal("approve", { call: "call-pay-0", approved: true });
      }
      await clock.advance(1_000);
      await running;
      expect(resumed.terminal).to.include({ finish: "stop", output: "ok" });
      expect(budgets).to.deep.equal([6_000]);
    });
  }

  it("counts what it worked before, and after", async () => {
    const clock = new VirtualClock();
    const history = await interrupted(clock, 4_000, "asked");
    const model = new ScriptedModel([["half", say.silence()]], { clock });
    const resumed = new Bench({ model, tools, limits, clock, history });
    resumed.signal("approve", { call: "call-pay-0", approved: true });
    const running = resumed.run();
    await resumed.when("text.delta");
    await clock.advance(5_999);
    expect(resumed.types).not.to.include("run.finished");
    await clock.advance(1);
    await running;
    expect(resumed.terminal).to.include({ finish: "max_time", output: "half" });
  });
});
