import { assert } from "chai";
import anthropic from "../../plugins/anthropic/index.ts";
import gemini from "../../plugins/gemini/index.ts";
import ollama from "../../plugins/ollama/index.ts";
import { startSimulator } from "../../plugins/simulator/server.ts";
import { run, tool } from "../agent/harness.ts";
import { provider } from "./vendor.ts";

const calculator = tool("calculator", ({ expression }) => `${expression} = 408`, {
  description: "Evaluates an arithmetic expression",
  parameters: { type: "object", properties: { expression: { type: "string" } }, required: ["expression"] },
});

describe("an agent on a simulated vendor", () => {
  let simulator: Awaited<ReturnType<typeof startSimulator>>;
  before(async () => {
    simulator = await startSimulator({ seed: 1, pace: 0, port: 0, faults: "", scenarios: [] });
  });
  after(() => simulator.close());

  for (const [plugin, base] of [
    [anthropic, ""],
    [gemini, "/v1beta"],
    [ollama, ""],
  ] as const) {
    for (const stream of [true, false]) {
      it(`calls a tool and answers with its result over ${plugin.name}, ${stream ? "streamed" : "whole"}`, async () => {
        const model = await provider(plugin, { baseUrl: simulator.url + base, stream });
        const request = { input: { text: "What is 12 * 34?" } };
        const bench = await run({ model, tools: [calculator], request });
        assert.equal(bench.terminal.type, "run.finished", JSON.stringify(bench.terminal));
        assert.deepEqual(
          bench.of("tool.finished").map(({ name, ok }) => [name, ok]),
          [["calculator", true]],
        );
        assert.include(bench.terminal.type === "run.finished" ? bench.terminal.output : "", "408");
        await model.close?.();
      });
    }
  }
});
