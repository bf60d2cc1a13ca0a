import { assert } from "chai";
import fc from "fast-check";
import type { ToolCallDelta } from "../../src/core/model/deltas.ts";
import { Accumulator } from "../../src/provider/accumulate.ts";
import { JsonScanner } from "../../src/provider/fast-json/scanner.ts";

const call = (fields: object) => ({ type: "tool_call", index: 0, ...fields }) as const;

describe("the name of a call", () => {
  it("is cut when no tool can have it: every event of the call repeats it", () => {
    for (const unit of ["-eyJ", "\ud83d\ude00"]) {
      const { call } = new Accumulator().push({
        type: "tool_call",
        index: 0,
        name: unit.repeat(100_000),
        arguments: "{}",
      });
      assert.isAtMost(call.name.length, 512);
      assert.isTrue(call.name.isWellFormed() && call.name.startsWith(unit) && call.name.endsWith("…"));
    }
  });
});

describe("the JSON scanner", () => {
  const scan = (pieces: readonly string[]): JsonScanner => {
    const scanner = new JsonScanner();
    for (const piece of pieces) scanner.push(piece);
    return scanner;
  };

  it("is closed exactly at the brace that ends the object, whatever the strings hold", () => {
    const text = '{"a":"}\\"}\\\\","b":[{"c":{}}]}';
    for (let end = 0; end < text.length; end++) assert.isFalse(scan([text.slice(0, end)]).closed, text.slice(0, end));
    assert.isTrue(scan([text]).closed);
    assert.isTrue(scan([...text]).closed);
  });

  it("is closed for any object however it is cut, and for none of its beginnings", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (value, seed) => {
        const text = JSON.stringify(value);
        const cut = seed % text.length;
        assert.isTrue(scan([text.slice(0, cut), text.slice(cut), " \n"]).closed);
        assert.isFalse(scan([text.slice(0, cut)]).closed);
      }),
    );
  });

  it("knows an empty object, one that is none, and one with something behind it", () => {
    assert.isTrue(scan(["{ ", "}"]).empty);
    assert.isFalse(scan(['{"']).empty);
    assert.isTrue(scan(['"text"']).broken);
    assert.isTrue(scan(['{"a":1}', "{"]).broken);
  });
});

describe("the accumulator", () => {
  it("seals a call the moment its arguments close with something in them", () => {
    const accumulator = new Accumulator();
    const first = accumulator.push(call({ id: "c1", name: "weather", arguments: '{"city":' }));
    assert.deepInclude(first, { opened: true, sealed: false });
    const second = accumulator.push(call({ arguments: '"Oslo"}' }));
    assert.deepInclude(second, { opened: false, sealed: true });
    assert.deepEqual(second.call.result(), { ok: true, arguments: { city: "Oslo" } });
    assert.deepEqual(accumulator.finish("tool_calls"), []);
  });

  it("keeps {} open until the wire moves on, since it may be a placeholder", () => {
    const accumulator = new Accumulator();
    assert.isFalse(accumulator.push(call({ name: "now", arguments: "{}" })).sealed);
    assert.isTrue(accumulator.push(call({ sealed: true })).sealed);
  });

  it("takes no arguments at all as {} after a good end and as cut after any other", () => {
    const good = new Accumulator();
    good.push(call({ name: "now", arguments: "", sealed: true }));
    assert.deepEqual(good.finish("tool_calls")[0]?.result(), { ok: true, arguments: {} });
    for (const finish of ["length", "content_filter", "refusal", "other"] as const) {
      const cut = new Accumulator();
      cut.push(call({ name: "now" }));
      assert.isFalse(cut.finish(finish)[0]?.result().ok);
    }
  });

  it("never repairs: what is no JSON object is an error with the raw text", () => {
    for (const raw of ['{"a":', "[1]", '"x"', "null", '{"a":1}{"b":2}', "{'a':1}"]) {
      const accumulator = new Accumulator();
      accumulator.push(call({ name: "tool", arguments: raw, sealed: true }));
      accumulator.finish("tool_calls");
      const result = accumulator.open[0]?.result();
      assert.isFalse(result?.ok, raw);
      if (result?.ok === false) {
        assert.equal(result.raw, raw);
        assert.equal(result.error.code, "tool_invalid_arguments");
      }
    }
  });

  it("puts the whole text in place of the fragments when the wire re-sends it", () => {
    const accumulator = new Accumulator();
    accumulator.push(call({ name: "tool", arguments: "cipher" }));
    const step = accumulator.push(call({ arguments: '{"a":1}', replace: true, sealed: true }));
    assert.isTrue(step.sealed);
    for (const repeated of ['{"a":1}', '{ "a": 1 }']) {
      const again = accumulator.push(call({ arguments: repeated, replace: true, sealed: true }));
      assert.isFalse(again.sealed);
      assert.deepInclude({ ...again.call }, { bytes: 7, text: '{"a":1}' });
    }
  });

  it("says so when the wire changes what is final", () => {
    const changes: Record<string, readonly [string, Partial<ToolCallDelta>]> = {
      "a sealed call gets other arguments": ['{"a":1}', { arguments: '{"a":2}', replace: true }],
      "a sealed call goes on": ['{"a":1}', { arguments: "}" }],
      "a sealed call starts again": ['{"a":1}', { arguments: '{"a":1}{"b":2}', replace: true }],
      "other arguments replace the beginning": ['{"a":', { arguments: '{"b":1}', replace: true }],
    };
    for (const [change, [first, second]] of Object.entries(changes)) {
      const accumulator = new Accumulator();
      accumulator.push(call({ name: "tool", arguments: first }));
      assert.isTrue(accumulator.push(call(second)).contradicted, change);
    }
  });

  it("says what sealed a call: its arguments, the wire, or the generation", () => {
    const accumulator = new Accumulator();
    const sealedBy = (delta: Partial<ToolCallDelta>) => accumulator.push(call(delta)).call.sealedBy;
    assert.equal(sealedBy({ name: "tool", arguments: '{"a":1}' }), "arguments");
    assert.equal(sealedBy({ index: 1, name: "tool", arguments: "{}" }), undefined);
    assert.equal(sealedBy({ index: 1, sealed: true }), "wire");
    assert.equal(sealedBy({ index: 2, name: "tool", arguments: "{}" }), undefined);
    assert.equal(sealedBy({ index: 3, name: "tool", sealed: true }), undefined);
    assert.deepEqual(
      accumulator.finish("tool_calls").map(({ sealedBy }) => sealedBy),
      ["generation", "generation"],
    );
  });

  it("keeps the first id and the first name, and makes an id when the wire has none", () => {
    const accumulator = new Accumulator({ run: "r" });
    accumulator.push(call({ id: "a", name: "one" }));
    const step = accumulator.push(call({ id: "b", name: "two" }));
    assert.deepInclude({ ...step.call }, { id: "a", name: "one" });
    assert.equal(accumulator.push(call({ index: 1, name: "three" })).call.id, "call_r_1");
  });

  it("counts bytes of UTF-8 and tells the observer of every step", () => {
    const steps: unknown[][] = [];
    const accumulator = new Accumulator({ observer: { accumulated: (...step) => steps.push(step.slice(0, 4)) } });
    accumulator.push(call({ name: "tool", arguments: '{"a":"ü', chunk: 3 }));
    accumulator.push(call({ arguments: '"}', chunk: 4 }));
    assert.deepEqual(steps, [
      [3, 0, 8, false],
      [4, 0, 10, true],
    ]);
  });

  it("gives the same value for any cutting of the arguments", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.integer({ min: 1, max: 9 }), (value, size) => {
        const text = JSON.stringify(value);
        const accumulator = new Accumulator();
        accumulator.push(call({ name: "tool" }));
        for (let at = 0; at < text.length; at += size) accumulator.push(call({ arguments: text.slice(at, at + size) }));
        accumulator.finish("tool_calls");
        const result = accumulator.open[0]?.result();
        assert.isTrue(result?.ok);
        if (result?.ok) assert.equal(JSON.stringify(result.arguments), JSON.stringify(JSON.parse(text)));
      }),
    );
  });
});
