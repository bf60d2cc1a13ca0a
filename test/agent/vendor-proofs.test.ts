import { expect } from "chai";
import type { Message } from "../../src/core/model/messages.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { run, tool } from "./harness.ts";

const now = tool("now", () => "noon");
const signed = [
  say.reasoning("Look at the clock.", { part: 0, signature: "sig-1" }),
  { deltas: [{ type: "text" as const, text: "", signature: "sig-2" }] },
  "One moment.",
  { deltas: [{ type: "activity" as const, kind: "part" as const, wire: "w", data: { kept: 1 }, keep: true }] },
  {
    deltas: [
      {
        type: "tool_call" as const,
        index: 0,
        id: "c1",
        name: "now",
        arguments: "{}",
        sealed: true,
        signature: "sig-3",
      },
    ],
  },
];
const said = (messages: readonly Message[] = []) => messages.find((message) => message.role === "assistant")?.parts;

describe("what one vendor signed", () => {
  it("goes back to the provider that signed it", async () => {
    const model = new ScriptedModel([signed, ["Noon."]]);
    await run({ model, tools: [now] });
    expect(said(model.requests[1]?.messages)).to.deep.equal([
      { type: "reasoning", text: "Look at the clock.", signature: "sig-1" },
      { type: "text", text: "", signature: "sig-2" },
      { type: "text", text: "One moment." },
      { type: "opaque", wire: "w", data: { kept: 1 } },
      { type: "tool_call", call: "c1", name: "now", arguments: {}, signature: "sig-3" },
    ]);
  });

  it("does not go to another provider that takes over, which gets only what was said and called", async () => {
    const first = new ScriptedModel([signed, [say.fail("unavailable")]]);
    const second = new ScriptedModel([["Noon."]]);
    const bench = await run({ model: [first, second], tools: [now] });
    expect(bench.terminal).to.include({ type: "run.finished", output: "One moment.Noon." });
    expect(said(second.requests[0]?.messages)).to.deep.equal([
      { type: "text", text: "One moment." },
      { type: "tool_call", call: "c1", name: "now", arguments: {} },
    ]);
  });
});
