import { assert } from "chai";
import { type Delta, deltasOf, generationOf, VenturiError } from "../../src/internal.ts";

const done: Delta = { type: "done", finish: "stop", raw: "end" };

describe("a generation collected from deltas", () => {
  it("keeps parts in order of appearance, joining what belongs together", () => {
    const generation = generationOf([
      { type: "response", id: "r", model: "m" },
      { type: "reasoning", text: "Look", part: 0 },
      { type: "reasoning", text: " up.", part: 0, signature: "s0" },
      { type: "reasoning", text: "", part: 1, encrypted: "e1" },
      { type: "text", text: "One " },
      { type: "text", text: "moment." },
      { type: "text", text: "", signature: "s1" },
      { type: "tool_call", index: 0, id: "a", name: "now", signature: "s2" },
      { type: "tool_call", index: 1, id: "b", name: "add", arguments: '{"x":' },
      { type: "activity", kind: "citation", wire: "w", data: "not kept" },
      { type: "activity", kind: "part", wire: "w", data: { kept: 1 }, keep: true },
      { type: "tool_call", index: 1, arguments: "1}", sealed: true },
      { type: "text", text: "Done." },
      { type: "usage", usage: { inputTokens: 1, outputTokens: 1, source: "partial" } },
      { type: "usage", usage: { outputTokens: 5, source: "reported" } },
      done,
    ]);
    assert.deepEqual(generation, {
      id: "r",
      model: "m",
      finish: "stop",
      raw: "end",
      usage: { inputTokens: 1, outputTokens: 5, source: "reported" },
      parts: [
        { type: "reasoning", text: "Look up.", signature: "s0" },
        { type: "reasoning", text: "", encrypted: "e1" },
        { type: "text", text: "One moment." },
        { type: "text", text: "", signature: "s1" },
        { type: "tool_call", call: "a", name: "now", arguments: {}, signature: "s2" },
        { type: "tool_call", call: "b", name: "add", arguments: { x: 1 } },
        { type: "opaque", wire: "w", data: { kept: 1 } },
        { type: "text", text: "Done." },
      ],
    });
  });

  it("is the same again when it is split into deltas and collected once more", () => {
    const generation = generationOf([
      { type: "reasoning", text: "Hm.", part: 0, signature: "s" },
      { type: "text", text: "Yes." },
      { type: "tool_call", index: 0, id: "a", name: "now", arguments: "{}", sealed: true },
      { type: "usage", usage: { outputTokens: 2 } },
      done,
    ]);
    assert.deepEqual(generationOf(deltasOf(generation)), generation);
  });

  it("throws the error that a delta tells", () => {
    const error = new VenturiError("provider.stream", "rate_limited", "later");
    assert.throws(
      () =>
        generationOf([
          { type: "text", text: "a" },
          { type: "error", error },
        ]),
      error,
    );
  });

  it("is none without an end, and keeps arguments that are no object as they were written", () => {
    assert.throws(() => generationOf([{ type: "text", text: "a" }]), VenturiError, "no end");
    const cut: Delta = { type: "tool_call", index: 0, name: "add", arguments: '{"x":' };
    const part = { type: "tool_call", call: "call_0", name: "add", arguments: {}, raw: '{"x":' };
    assert.deepEqual(generationOf([cut, done]).parts as unknown[], [part]);
  });
});
