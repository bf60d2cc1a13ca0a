import { expect } from "chai";
import fc from "fast-check";
import { VenturiError } from "../../src/core/errors/errors.ts";
import { excessOf, excessOfJson, type ValueLimits } from "../../src/core/values/value-limits.ts";

const limits: ValueLimits = { depth: 4, nodes: 20, size: 100 };

function nested(depth: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = wrap(value);
  return value;
}

describe("limits on a value from outside", () => {
  it("refuses nesting past the limit, in arrays, objects and both, however deep it goes", () => {
    for (const wrap of [(inner: unknown) => [inner], (inner: unknown) => ({ a: inner })]) {
      expect(excessOf(nested(4, wrap), limits)).to.equal(undefined);
      for (const depth of [5, 5_000, 200_000]) {
        expect(excessOf(nested(depth, wrap), limits), `${depth}`).to.equal("is nested deeper than 4 levels");
      }
    }
  });

  it("refuses too many values and too much text, shared ones counted each time", () => {
    let shared: unknown = "x";
    for (let level = 0; level < 3; level++) shared = [shared, shared, shared];
    expect(excessOf(shared, limits)).to.equal("holds more than 20 values");
    expect(excessOf(Array(1e6).fill(0), limits)).to.equal("holds more than 20 values");
    expect(excessOf(new Uint8Array(1e6), limits)).to.equal("holds more than 20 values");
    expect(excessOf({ ["k".repeat(60)]: "v".repeat(60) }, limits)).to.equal("is larger than 100 characters");
  });

  it("refuses what is no JSON, without throwing", () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const getter = Object.defineProperty({}, "a", { enumerable: true, get: () => expect.fail("read") });
    const json = { toJSON: () => expect.fail("read") };
    for (const value of [cycle, 1n, [2n], getter, json]) expect(excessOf(value, limits)).to.be.a("string");
    expect(excessOf({ at: new Date(0), left: undefined }, limits)).to.equal(undefined);
  });

  it("judges a JSON text as it judges its value", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        const { depth, nodes } = limits;
        const size = Number.POSITIVE_INFINITY;
        const byText = excessOfJson(text, { depth, nodes: Number.POSITIVE_INFINITY, size });
        expect(byText).to.equal(excessOf(JSON.parse(text), { depth, nodes: Number.POSITIVE_INFINITY, size }));
        if (excessOf(JSON.parse(text), { depth: 1e9, nodes, size }) === undefined)
          expect(excessOfJson(text, { depth: 1e9, nodes: nodes * 2, size })).to.equal(undefined);
      }),
    );
  });

  it("does not take brackets inside a string for nesting", () => {
    for (const text of ['"[[[[[[[["', '"\\\\"', '{"a":"\\"[[[[[[[["}', '"\\\\\\"[[[[[[[["', '"[[[[[[[[']) {
      expect(excessOfJson(text.padEnd(50), limits), text).to.equal(undefined);
    }
  });

  it("an error whose details could not be stored is reported without them", () => {
    const cases = [{ deep: nested(5_000, (inner) => [inner]) }, { big: 1n }, { long: "x".repeat(1e6) }];
    for (const details of cases) {
      const error = new VenturiError("a.b", "tool_failed", "m".repeat(1e6), { details });
      expect(JSON.stringify(error))
        .to.have.length.below(40_000)
        .and.match(/the details are not shown/);
    }
  });
});
