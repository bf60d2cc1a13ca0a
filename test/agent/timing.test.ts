import { expect } from "chai";
import fc from "fast-check";
import { sleep } from "../../src/core/ports/clock.ts";
import { noTiming } from "../../src/core/run/timing.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import type { Generation } from "../../src/testing/model.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { Bench, tool } from "./harness.ts";

const ms = fc.integer({ min: 0, max: 5_000 });
const piece = fc.oneof(
  ms.map((wait) => say.wait(wait)),
  fc.constant("text"),
  ms.map((work) => ({ work })),
);

describe("timing", () => {
  it("adds up to the run's wall time within 1 ms, for any run", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(piece, { maxLength: 6 }), { maxLength: 3 }),
        fc.boolean(),
        async (rounds, cancel) => {
          const clock = new VirtualClock();
          const start = clock.monotonic();
          let calls = 0;
          const script: Generation[] = rounds.map((pieces) => {
            let index = 0;
            return pieces.map((each) =>
              typeof each !== "string" && "work" in each
                ? say.call(index++, calls++ % 2 ? "look" : "pay", { work: each.work, calls }, `c${calls}`)
                : each,
            );
          });
          const work = (input: Record<string, unknown>, { signal }: { signal: AbortSignal }) =>
            sleep(clock, Number(input.work), signal);
          const tools = [tool("look", work), tool("pay", work, { effect: "effectful" })];
          const bench = new Bench({ model: new ScriptedModel([...script, ["end"]], { clock }), tools, clock });
          let over = false;
          const running = bench.run().then(() => {
            over = true;
          });
          if (cancel) bench.signal("cancel", {});
          while (!over && (await clock.next()));
          await running;
          const { timing } = bench.terminal;
          const sum = Object.values(timing).reduce((total, part) => total + part, 0);
          expect(Math.abs(sum - (clock.monotonic() - start))).to.be.lessThan(1);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("gives each wait to the part that caused it", async () => {
    const clock = new VirtualClock();
    const model = new ScriptedModel(
      [
        [say.wait(300), "a", say.wait(200), say.call(0, "pay", {})],
        [say.wait(50), "b"],
      ],
      { clock },
    );
    const pay = tool("pay", (_, { signal }) => sleep(clock, 1_000, signal), { effect: "effectful" });
    const bench = new Bench({ model, tools: [pay], clock });
    let over = false;
    const running = bench.run().then(() => {
      over = true;
    });
    while (!over && (await clock.next()));
    await running;
    expect(bench.terminal.timing).to.deep.equal({ ...noTiming, providerWait: 350, providerStream: 200, tool: 1_000 });
  });
});
