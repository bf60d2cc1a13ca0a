import { Ajv } from "ajv";
import { expect } from "chai";
import fc from "fast-check";
import { z } from "zod";
import { structured } from "../../src/agent/model/structured.ts";
import { JsonSchema } from "../../src/agent/schema/json-schema.ts";
import { patternOf } from "../../src/agent/schema/pattern.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import { cpuTime } from "../cpu-time.ts";

type Schema = Record<string, unknown>;
const fits = (schema: Schema, value: unknown) => new JsonSchema(schema).problems(value).length === 0;
const refusal = (schema: Schema): string => {
  try {
    new JsonSchema(schema);
  } catch (thrown) {
    if (VenturiError.isInstance(thrown) && thrown.code === "invalid_input") return thrown.message;
    throw thrown;
  }
  return expect.fail("the schema was taken");
};
/** Generous: a blocked loop takes minutes. */
const quickly = <T>(work: () => T): T => {
  let value: T | undefined;
  expect(
    cpuTime(() => (value = work())),
    "ms",
  ).to.be.below(3_000);
  return value as T;
};

const branches = (condition: Schema, holds: Schema, otherwise: Schema): Schema => {
  const schema: Schema = { if: condition, else: otherwise };
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own word
  schema.then = holds;
  return schema;
};

const leaf = fc.oneof(
  fc.record({ type: fc.constantFrom("string", "number", "integer", "boolean", "null", "array", "object") }),
  fc.record({ const: fc.jsonValue({ maxDepth: 1 }) }),
  fc.record({ enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { minLength: 1, maxLength: 3 }) }),
  fc.record({ minimum: fc.integer({ min: -3, max: 3 }), exclusiveMaximum: fc.integer({ min: -3, max: 9 }) }),
  fc.record({ minLength: fc.nat(2), maxLength: fc.nat(4) }),
  fc.record({ minItems: fc.nat(2), uniqueItems: fc.boolean() }),
  fc.record({ maxProperties: fc.nat(3), required: fc.uniqueArray(fc.constantFrom("a", "b"), { maxLength: 2 }) }),
  fc.record({ pattern: fc.constantFrom("^a", "b$", "^[a-c]*$", "(a|b)+c?") }),
  fc.constant({}),
);
const { schema: anySchema } = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf as fc.Arbitrary<Schema>,
    fc.record({ properties: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("schema"), { maxKeys: 3 }) }),
    fc.record({ patternProperties: fc.dictionary(fc.constantFrom("^a", "b"), tie("schema"), { maxKeys: 2 }) }),
    fc.record({ properties: fc.constant({ a: {} }), additionalProperties: fc.oneof(fc.boolean(), tie("schema")) }),
    fc.record({ items: tie("schema") }),
    fc.record({ items: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }), additionalItems: fc.boolean() }),
    // Not nested: Ajv never resets the variable of an inner one.
    fc.record({ contains: leaf as fc.Arbitrary<Schema> }),
    fc.record({ propertyNames: tie("schema") }),
    fc.record({ allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
    fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie("schema") }),
    fc.tuple(tie("schema"), tie("schema"), tie("schema")).map((three) => branches(...three)),
    fc.record({ dependencies: fc.record({ a: fc.oneof(tie("schema"), fc.constant(["b"])) }) }),
  ),
}));
const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.dictionary(fc.constantFrom("a", "b", "c"), fc.jsonValue({ maxDepth: 1 })),
  fc.array(fc.integer({ min: -2, max: 4 })),
  fc.constantFrom("", "a", "abc", "bbb", 0, 1, 2.5, null, true),
);

describe("a JSON Schema", () => {
  it("judges as Ajv does", () => {
    // As JSON is parsed: Ajv's equality fails on objects without a prototype.
    const parsed = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
    const property = fc.property(anySchema.map(parsed), anyValue.map(parsed), (schema, value) => {
      const wanted = new Ajv({ strict: false, validateSchema: false, logger: false }).validate(schema, value);
      expect(fits(schema, value)).to.equal(wanted);
    });
    fc.assert(property, { numRuns: 400 });
  });

  it("follows references in the document, back to itself, and to nowhere else", () => {
    const tree = {
      $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
      $ref: "#/$defs/node",
    };
    expect(fits(tree, { next: { next: {} } })).to.equal(true);
    expect(fits(tree, { next: { next: 1 } })).to.equal(false);
    expect(fits({ $defs: { a: { $anchor: "here", type: "string" } }, $ref: "#here" }, 1)).to.equal(false);
    for (const $ref of ["http://127.0.0.1:1/schema", "file:///etc/hostname", "#/$defs/missing", "other.json"])
      expect(refusal({ $ref })).to.match(/names nothing in it/);
  });

  it("is refused when a reference leads back to itself on the same value", () => {
    const loops: Schema[] = [
      { $ref: "#" },
      { allOf: [{ $ref: "#" }] },
      { not: { $ref: "#" } },
      branches({}, { $ref: "#" }, {}),
      {
        $defs: { a: { $ref: "#/$defs/b" }, b: { anyOf: [{ $ref: "#/$defs/a" }] } },
        properties: { x: { $ref: "#/$defs/a" } },
      },
      { dependentSchemas: { x: { $ref: "#" } } },
    ];
    for (const loop of loops) expect(refusal(loop), JSON.stringify(loop)).to.match(/leads back to itself/);
  });

  it("is refused past its limits, and for malformed keywords", () => {
    let deep: Schema = {};
    for (let level = 0; level < 100; level++) deep = level % 2 ? { not: deep } : { properties: { a: deep } };
    expect(refusal(deep)).to.match(/nested deeper/);
    expect(refusal({ enum: Array(30_000).fill(0) })).to.match(/more than 20000 values/);
    expect(refusal({ description: "x".repeat(1_000_000) })).to.match(/larger than/);
    const broken = [
      { type: "text" },
      { required: true },
      { pattern: 1 },
      { minLength: -1 },
      { properties: [] },
      { allOf: {} },
    ];
    for (const schema of broken) expect(refusal(schema), JSON.stringify(schema)).to.match(/must be/);
  });

  it("never takes long, whatever the schema and the value ask for", () => {
    const two = (name: string) => ({ allOf: [{ $ref: name }, { $ref: name }] });
    const doubling = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`d${at}`, two(`#/$defs/d${at + 1}`)]));
    let nested: unknown = {};
    for (let level = 0; level < 60; level++) nested = { next: nested };
    const again = { properties: { next: { $ref: "#" } }, required: ["x"] };
    const cases: [Schema, unknown][] = [
      [{ $defs: { ...doubling, d50: { type: "string" } }, $ref: "#/$defs/d0" }, 1],
      [{ anyOf: [again, again] }, nested],
      [{ uniqueItems: true }, Array.from({ length: 40_000 }, (_, a) => ({ a }))],
      [
        { items: { enum: Array.from({ length: 5_000 }, (_, a) => ({ a })) } },
        Array.from({ length: 40_000 }, (_, a) => ({ a: -a })),
      ],
      [{ allOf: Array.from({ length: 2_000 }, () => ({ maxLength: 1 })) }, "x".repeat(4_000_000)],
      [{ allOf: Array.from({ length: 300 }, (_, at) => ({ pattern: `^(x+)+${at}$` })) }, "x".repeat(100_000)],
      [
        { patternProperties: { "^(x+)+$": false } },
        Object.fromEntries(Array.from({ length: 3_000 }, (_, a) => [`${"x".repeat(99)}!${a}`, 1])),
      ],
      [{ propertyNames: { pattern: "^(a|aa)+$" } }, { [`${"a".repeat(100_000)}!`]: 1 }],
    ];
    for (const [schema, value] of cases) quickly(() => fits(schema, value));
  });

  it("a pattern is tested in linear time", () => {
    const patterns = [
      "^(a+)+$",
      "(a|aa)+$",
      "(a|a?)+$",
      "^(([a-z])+.)+[A-Z]([a-z])+$",
      "(.*a){12}b",
      "^(?=(a+)+$)a",
      "^(?!(a|aa)+$).*$",
    ];
    for (const source of patterns) quickly(() => patternOf(source).test(`${"a".repeat(200_000)}!`));
  });

  it("a pattern means what it means in JavaScript", () => {
    const sources = [
      "^a.c$",
      "^\\d{2,3}-[\\w.]+$",
      "\\u0041|\\x42",
      "^[^\\]x]+$",
      "(?:ab)+?c",
      "\\bx\\b",
      "^(?=.*\\d)(?!.*\\.\\.)[\\w.]+$",
      "^\\p{Lu}\\p{L}*$",
      "a\\/b",
      "^$",
      "[\\s\\S]{3}",
    ];
    const texts = [
      "",
      "abc",
      "a\nc",
      "12-a.b",
      "A",
      "B",
      "]x",
      "ababc",
      "x y",
      "xy",
      "ab1.c",
      "ab1..c",
      "ab",
      "Élan",
      "a/b",
      "abc\n",
    ];
    for (const source of sources) {
      for (const text of texts) {
        expect(patternOf(source).test(text), `${source} on ${JSON.stringify(text)}`).to.equal(
          new RegExp(source, "u").test(text),
        );
      }
    }
  });

  it("a pattern that needs what is not supported says so", () => {
    for (const pattern of [
      "(a)\\1",
      "a(?=b)",
      "(?<!a)b",
      "(?<=a)b",
      "^(?=a)b|c",
      "(?<x>a)\\k<x>",
      "(".repeat(3_000),
      "a".repeat(5_000),
      "(a{1000}){1000}",
    ])
      expect(refusal({ properties: { a: { pattern } } })).to.match(/the pattern ".*" cannot be used: /);
  });

  it("takes the patterns that zod writes", () => {
    const shape = z.object({
      mail: z.email(),
      id: z.uuid(),
      at: z.iso.datetime(),
      ip: z.ipv4(),
      url: z.url(),
      day: z.iso.date(),
    });
    const schema = new JsonSchema(z.toJSONSchema(shape) as Schema);
    const value = {
      mail: "a.b@example.com",
      id: "7d444840-9dc0-41d1-b245-5ffdce74fad2",
      at: "2026-01-02T03:04:05Z",
      ip: "127.0.0.1",
      url: "https://example.com",
      day: "2026-01-02",
    };
    expect(schema.problems(value)).to.deep.equal([]);
    expect(schema.problems({ ...value, mail: "a..b@example.com" })).to.have.length(1);
  });

  it("an answer of blank lines is judged at once", () => {
    for (const text of [
      `\`\`\`${"\n".repeat(200_000)}x`,
      `\`\`\`json${" \n".repeat(200_000)}`,
      "```\n".repeat(100_000),
    ])
      quickly(() => structured(text, {}));
    expect(structured('```json\n{"a":1}\n```', {})).to.deep.equal({ ok: true, object: { a: 1 } });
  });
});
