import assert from "node:assert/strict";
import { callTool, testPluginContext, toolContract, toolNamed } from "venturi/testing";
import plugin from "./index.ts";

const create = () => plugin.create(plugin.options.parse({}), testPluginContext({ name: "count" }));

toolContract("my-plugin", {
  create,
  samples: [{ tool: "count", input: { text: "one two" } }],
  misfits: [{ tool: "count", input: { text: 7 } }],
});

describe("my-plugin", () => {
  it("counts words, not characters or punctuation", async () => {
    const { output } = await callTool(toolNamed(await create(), "count"), { text: "To be, or not to be?" });
    assert.deepEqual(output, { words: 6 });
  });
});
