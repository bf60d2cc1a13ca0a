import { expect } from "chai";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { run, tool } from "./harness.ts";

const script = () => [
  [
    "Let me see. ",
    ...say.fragments({ name: "look", input: { at: "it" }, size: 3 }),
    say.usage({ inputTokens: 4, outputTokens: 2 }),
  ],
  [say.reasoning("hm"), "Seen."],
];
const look = tool("look", () => "there");

describe("a scripted model", () => {
  it("plays a provider that does not stream, with the same events except deltas", async () => {
    const whole = new ScriptedModel(script(), { streaming: false });
    expect(whole.stream).to.equal(undefined);
    expect(whole.capabilities.streaming).to.equal(false);
    const [once, streamed] = [
      await run({ model: whole, tools: [look] }),
      await run({ model: new ScriptedModel(script()), tools: [look] }),
    ];
    whole.assertUsed();
    expect(whole.requests).to.have.length(2);
    for (const bench of [once, streamed]) {
      expect(bench.terminal).to.deep.include({ type: "run.finished", output: "Let me see. Seen.", finish: "stop" });
      expect(bench.of("tool.finished").map(({ output }) => output)).to.deep.equal(["there"]);
      expect(bench.of("generation.finished")[0]?.usage).to.deep.include({ inputTokens: 4, outputTokens: 2 });
    }
    expect(streamed.of("tool_call.delta").length).to.be.above(1);
    expect(once.of("tool_call.delta")).to.have.length(1);
  });

  it("fails before any chunk, whole or streamed", async () => {
    for (const streaming of [true, false]) {
      const model = new ScriptedModel([[say.fail("llm_error", "preset")]], { streaming });
      const bench = await run({ model });
      expect(bench.terminal).to.have.nested.property("error.code", "llm_error");
      expect(bench.of("text.delta")).to.deep.equal([]);
    }
  });
});
