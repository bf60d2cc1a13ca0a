import { assert } from "chai";
import fc from "fast-check";
import { ExactJson, exactJson } from "../../src/core/values/exact-json.ts";
import { exactJsonBytes, sliced } from "../../src/core/values/json-bytes.ts";

const units = fc.constantFrom("x", "\n", '"', "\\", "é", "\ud83d\ude00", "\ud83d", "\u0001", "lorem ipsum ");
const long = fc
  .tuple(units, fc.integer({ min: 1_000, max: 150_000 }), fc.string({ unit: "binary" }))
  .map(([unit, length, end]) => unit.repeat(length / unit.length) + end);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(long, fc.string(), fc.integer(), fc.constant(undefined), fc.constant(new ExactJson("[1.0, 2]"))),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie("value"), { maxKeys: 4 }),
  ),
}));
const much = "m".repeat(300_000);

describe("the JSON of a request with much text", () => {
  it("has the bytes that it has in one piece", async () => {
    await fc.assert(
      fc.asyncProperty(value, async (root) => {
        const asked = { root, much, exact: new ExactJson(`{ "n": 1.0, "t": "${"é".repeat(100_000)}" }`) };
        const pieces = await exactJsonBytes(asked);
        assert.isArray(pieces);
        assert.equal(Buffer.concat(pieces as Buffer[]).toString(), Buffer.from(exactJson(asked)).toString());
      }),
      { numRuns: 25 },
    );
  });

  it("is no piece of more than some 400 KiB, so that none takes long", async () => {
    for (const unit of ["x", "\n", "\u0001", "€"]) {
      const pieces = await exactJsonBytes({ text: unit.repeat(1_000_000), many: Array(400).fill(unit.repeat(5_000)) });
      const largest = Math.max(...(pieces as Buffer[]).map(({ length }) => length));
      assert.isAtMost(largest, 6 * 65_537, JSON.stringify(unit));
    }
  });

  it("is one text while there is little", () => {
    assert.equal(exactJsonBytes({ text: "hello", exact: new ExactJson("1.0") }), '{"text":"hello","exact":1.0}');
  });

  it("is cut between characters", () => {
    const text = "a".repeat(9) + "\ud83d\ude00".repeat(20);
    const parts = [...sliced(text, 10)];
    assert.equal(parts.join(""), text);
    for (const part of parts) assert.isTrue(part.isWellFormed(), part);
  });
});
