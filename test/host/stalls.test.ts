import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { z } from "zod";
import { agent, tool, type Venturi } from "../../src/index.ts";
import { say } from "../../src/testing/model.ts";
import { scripted } from "../library/scripted.ts";

describe("a stall of the process", () => {
  let venturi: Venturi | undefined;
  afterEach(() => venturi?.close());

  const grind = tool({
    name: "grind",
    description: "Blocks the event loop.",
    input: z.object({ ms: z.number() }),
    async call({ ms }) {
      for (const end = performance.now() + ms; performance.now() < end; );
      await sleep(60); // until the late sample has come
      return "ground";
    },
  });

  it("during a run is charged to it as such, in the first and in one after a rest", async () => {
    const turn = [[say.call(0, "grind", { ms: 250 })], ["done"]];
    const miller = agent({ name: "miller", model: "scripted/one", tools: [grind] });
    ({ venturi } = await scripted([...turn, ...turn], { agents: [miller] }));
    for (const rest of [200, 1_200]) {
      await sleep(rest);
      const { timing } = await venturi.agent("miller").execute("grind");
      expect(timing.stalled).to.be.above(100);
    }
  });
});
