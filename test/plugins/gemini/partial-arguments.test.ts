import { assert } from "chai";
import plugin from "../../../plugins/gemini/index.ts";
import type { Wire } from "../../../src/plugin.ts";
import { callsOf, decode, fixture, of } from "../decoding.ts";

const wire = plugin.wires?.gemini as Wire; // declared by the plugin itself

const candidate = (parts: unknown[], more: object = {}): string =>
  `data: ${JSON.stringify({ candidates: [{ content: { parts, role: "model" }, index: 0, ...more }] })}\r\n\r\n`;

describe("arguments that Vertex streams by JSON path", () => {
  it("assembles arguments that are streamed by JSON path", () => {
    const decoded = decode(wire, fixture("gemini", "partial-arguments.sse"));
    assert.deepEqual(callsOf(decoded), [
      [
        "book",
        {
          port: 'Kiel "old"',
          ship: { name: "Ärger", crew: [{ age: 41, cook: false }, { age: 3.5 }] },
          "note.s": null,
        },
      ],
      ["now", {}],
      ["list", {}],
    ]);
    assert.equal(decoded.transcript.calls[0]?.signature, "cGFydGlhbA==");
    assert.isAbove(of(decoded, "tool_call").filter((delta) => delta.index === 0).length, 3, "piece by piece");
  });

  it("never runs a call whose streamed arguments were not closed, even when the stream ended well", () => {
    for (const next of [
      candidate([{ text: "" }], { finishReason: "STOP" }),
      candidate([{ functionCall: { name: "now", args: {} } }], { finishReason: "STOP" }),
    ]) {
      const begun = candidate([{ functionCall: { name: "book", willContinue: true } }]);
      const value = { jsonPath: "$.port", stringValue: "Kiel" };
      const more = candidate([{ functionCall: { partialArgs: [value], willContinue: true } }]);
      assert.deepEqual(callsOf(decode(wire, begun, next))[0], ["book", "tool_invalid_arguments"]);
      assert.deepEqual(callsOf(decode(wire, begun, more, next))[0], ["book", "tool_invalid_arguments"]);
    }
  });

  it("goes on with the open call when a piece repeats its name and id, and begins another when the id differs", () => {
    const piece = (id: string, jsonPath: string) => ({
      functionCall: { id, name: "book", partialArgs: [{ jsonPath, numberValue: 1 }], willContinue: true },
    });
    const close = { functionCall: {} };
    const parts = [piece("a", "$.x"), piece("a", "$.y"), close, piece("b", "$.z"), close];
    const decoded = decode(wire, candidate(parts, { finishReason: "STOP" }));
    assert.deepEqual(callsOf(decoded), [
      ["book", { x: 1, y: 1 }],
      ["book", { z: 1 }],
    ]);
  });

  it("does not guess when paths come back to what was closed, or are none", () => {
    for (const paths of [
      ["$.a.x", "$.b", "$.a.y"],
      ["$.a", "$.a"],
      ["$.l[1]"],
      ["$"],
      ["a"],
      ["$.a[0]", "$.a.b"],
      ["$.__proto__", "$["],
    ]) {
      const partialArgs = paths.map((jsonPath) => ({ jsonPath, numberValue: 1 }));
      const call = candidate([{ functionCall: { name: "book", partialArgs } }], { finishReason: "STOP" });
      const decoded = decode(wire, call);
      assert.deepEqual(callsOf(decoded), [["book", "tool_invalid_arguments"]], paths.join());
      assert.equal(decoded.quirks.arguments_out_of_order, 1);
    }
  });

  it("writes a path named __proto__ as an ordinary key", () => {
    const partialArgs = [{ jsonPath: "$.__proto__.polluted", boolValue: true }];
    const decoded = decode(
      wire,
      candidate([{ functionCall: { name: "book", partialArgs } }], { finishReason: "STOP" }),
    );
    assert.equal(decoded.transcript.calls[0]?.text, '{"__proto__":{"polluted":true}}');
    assert.notProperty({}, "polluted");
  });

  it("joins a string that comes in many pieces, also when the last one never closes it", () => {
    const piece = (stringValue: string, willContinue: boolean) =>
      candidate([
        { functionCall: { partialArgs: [{ jsonPath: "$.a", stringValue, willContinue }], willContinue: true } },
      ]);
    const begin = candidate([{ functionCall: { name: "book", willContinue: true } }]);
    const other = candidate([
      { functionCall: { partialArgs: [{ jsonPath: "$.b", numberValue: 1 }], willContinue: true } },
    ]);
    const close = candidate([{ functionCall: {} }], { finishReason: "STOP" });
    const said = decode(wire, begin, piece("\ud83c", true), piece("\udf0a", true), piece("!", false), close);
    assert.deepEqual(callsOf(said), [["book", { a: "🌊!" }]]);
    const open = decode(wire, begin, piece("x", true), piece("y", true), other, close);
    assert.deepEqual(callsOf(open), [["book", { a: "xy", b: 1 }]]);
  });

  it("gives each of several open calls its own pieces, and none those of an unknown one", () => {
    const call = (functionCall: object): string => candidate([{ functionCall }]);
    const piece = (id: string, key: string, numberValue: number): string =>
      call({ id, partialArgs: [{ jsonPath: `$.${key}`, numberValue }], willContinue: true });
    const decoded = decode(
      wire,
      call({ id: "a", name: "keep", willContinue: true }),
      call({ id: "b", name: "remove", willContinue: true }),
      piece("a", "x", 1),
      piece("b", "y", 2),
      piece("c", "z", 3),
      call({ id: "a" }),
      call({ id: "b" }),
      candidate([], { finishReason: "STOP" }),
    );
    assert.deepEqual(callsOf(decoded), [
      ["keep", { x: 1 }],
      ["remove", { y: 2 }],
    ]);
  });
});
