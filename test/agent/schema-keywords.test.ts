import { expect } from "chai";
import { JsonSchema, readSchema } from "../../src/agent/schema/json-schema.ts";
import { patternOf } from "../../src/agent/schema/pattern.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";

type Schema = Record<string, unknown>;

/** The problems of a value as `path: message`. */
const problems = (schema: Schema, value: unknown): string[] =>
  new JsonSchema(schema).problems(value).map(({ path, message }) => `${path}: ${message}`);

const refusal = (schema: Schema): string => {
  try {
    new JsonSchema(schema);
  } catch (thrown) {
    if (VenturiError.isInstance(thrown) && thrown.op === "schema.read" && thrown.code === "invalid_input")
      return thrown.message;
    throw thrown;
  }
  return expect.fail(`${JSON.stringify(schema)} was taken`);
};

const smile = "\u{1f600}";

/** A schema, values that fit, and values that do not with what is said of them. */
const table: readonly (readonly [Schema, readonly unknown[], readonly (readonly [unknown, ...string[]])[]])[] = [
  [{ type: "null" }, [null], [[0, ": must be null"]]],
  [{ type: "boolean" }, [true, false], [["true", ": must be boolean"]]],
  [
    { type: "number" },
    [0, -1.5],
    [
      ["1", ": must be number"],
      [Number.NaN, ": must be number"],
    ],
  ],
  [
    { type: "integer" },
    [0, 2, -3, 1e20],
    [
      [1.5, ": must be integer"],
      ["1", ": must be integer"],
    ],
  ],
  [{ type: "string" }, ["", "a"], [[1, ": must be string"]]],
  [{ type: "array" }, [[], [1]], [[{}, ": must be array"]]],
  [
    { type: "object" },
    [{}],
    [
      [[], ": must be object"],
      [null, ": must be object"],
      ["", ": must be object"],
    ],
  ],
  [{ type: ["string", "null"] }, ["", null], [[1, ": must be string,null"]]],
  [{ type: "string", nullable: true }, ["", null], [[1, ": must be string,null"]]],
  [{ type: ["null"], nullable: true }, [null], [[1, ": must be null"]]],
  [{ type: "string", nullable: false }, [""], [[null, ": must be string"]]],
  [
    { const: null },
    [null],
    [
      [0, ": must be equal to constant"],
      [undefined, ": must be equal to constant"],
    ],
  ],
  [
    { const: { a: [1, { b: 2 }] } },
    [{ a: [1, { b: 2 }] }],
    [
      [{ a: [1, { b: 3 }] }, ": must be equal to constant"],
      [{ a: [1] }, ": must be equal to constant"],
      [{ a: { 0: 1, 1: { b: 2 } } }, ": must be equal to constant"],
      [{ a: [1, { b: 2 }], c: 1 }, ": must be equal to constant"],
      [{ b: [1, { b: 2 }] }, ": must be equal to constant"],
      [[["a"]], ": must be equal to constant"],
      [null, ": must be equal to constant"],
      ["a", ": must be equal to constant"],
    ],
  ],
  [{ const: { a: 1, b: 2 } }, [{ b: 2, a: 1 }], [[{ a: 1, c: 2 }, ": must be equal to constant"]]],
  [{ enum: [1, "a", [2]] }, [1, "a", [2]], [[2, ": must be equal to one of the allowed values"]]],
  [{ enum: [] }, [], [[1, ": must be equal to one of the allowed values"]]],
  [{ maximum: 3 }, [3, 2.9, "x"], [[3.1, ": must be <= 3"]]],
  [{ minimum: 3 }, [3, 3.1, "x"], [[2.9, ": must be >= 3"]]],
  [{ exclusiveMaximum: 3 }, [2.9, "x"], [[3, ": must be < 3"]]],
  [{ exclusiveMinimum: 3 }, [3.1, "x"], [[3, ": must be > 3"]]],
  // OpenAPI 3.0: a boolean beside the limit.
  [{ maximum: 3, exclusiveMaximum: true }, [2.9], [[3, ": must be < 3"]]],
  [{ minimum: 3, exclusiveMinimum: true }, [3.1], [[3, ": must be > 3"]]],
  [{ maximum: 3, exclusiveMaximum: false }, [3], [[3.1, ": must be <= 3"]]],
  [{ minimum: 3, exclusiveMinimum: false }, [3], [[2.9, ": must be >= 3"]]],
  [{ exclusiveMaximum: true, exclusiveMinimum: true }, [0], []],
  [{ multipleOf: 0.1 }, [0.3, 0, -0.7, 1e6, "x"], [[0.35, ": must be multiple of 0.1"]]],
  [
    { multipleOf: 3 },
    [9, -3],
    [
      [10, ": must be multiple of 3"],
      [2, ": must be multiple of 3"],
    ],
  ],
  [{ maxLength: 2 }, ["", "ab", smile + smile, 123], [["abc", ": must NOT have more than 2 characters"]]],
  [{ maxLength: 0 }, [""], [["a", ": must NOT have more than 0 characters"]]],
  [
    { minLength: 2 },
    ["ab", smile + smile, 1],
    [
      [smile, ": must NOT have fewer than 2 characters"],
      ["a", ": must NOT have fewer than 2 characters"],
    ],
  ],
  // Two halves that are no pair count as two.
  [{ minLength: 2 }, ["\ude00\ud83d", "\ud83dx"], []],
  [{ pattern: "^a+$" }, ["a", "aa", 1], [["b", ': must match pattern "^a+$"']]],
  [
    { items: { type: "integer" } },
    [[], [1, 2], "x"],
    [[[1, "a", 2, null], "/1: must be integer", "/3: must be integer"]],
  ],
  [{ items: [{ type: "string" }] }, [["a", 1], []], [[[1], "/0: must be string"]]],
  [{ items: [{ type: "string" }], additionalItems: { type: "null" } }, [["a", null]], [[["a", 1], "/1: must be null"]]],
  [{ items: [{ type: "string" }], additionalItems: false }, [["a"]], [[["a", 1], "/1: must not be there"]]],
  [
    { prefixItems: [{ type: "string" }], items: { type: "null" } },
    [["a", null], []],
    [[[null, 1], "/0: must be string", "/1: must be null"]],
  ],
  [{ prefixItems: [{ type: "string" }], additionalItems: false }, [["a", 1]], []],
  [{ items: {}, additionalItems: false }, [[1, 2]], []],
  [{ minItems: 2 }, [[1, 2], "x"], [[[1], ": must NOT have fewer than 2 items"]]],
  [{ maxItems: 2 }, [[1, 2], []], [[[1, 2, 3], ": must NOT have more than 2 items"]]],
  [{ maxItems: 0 }, [[]], [[[1], ": must NOT have more than 0 items"]]],
  [
    { uniqueItems: true },
    [
      [1, "1", [1], { a: 1 }, null, true, "true", { a: "1" }],
      [
        { a: 1, b: 2 },
        { a: 2, b: 1 },
      ],
      "aa",
      [[1, 2], ["1,2"]],
      [["a,b"], ["a", "b"]],
    ],
    [
      [[1, 2, 1], ": must NOT have duplicate items"],
      [
        [
          { a: 1, b: [2] },
          { b: [2], a: 1 },
        ],
        ": must NOT have duplicate items",
      ],
      [[0, -0], ": must NOT have duplicate items"],
      [[null, null], ": must NOT have duplicate items"],
    ],
  ],
  [{ uniqueItems: false }, [[1, 1]], []],
  [
    { contains: { type: "null" } },
    [[1, null], [null, null], "x"],
    [
      [[1], ": must contain at least 1 valid item(s)"],
      [[], ": must contain at least 1 valid item(s)"],
    ],
  ],
  [
    { contains: { type: "null" }, minContains: 2 },
    [[null, 1, null]],
    [[[null], ": must contain at least 2 valid item(s)"]],
  ],
  [{ contains: { type: "null" }, minContains: 0 }, [[]], []],
  [
    { contains: { type: "null" }, maxContains: 1 },
    [[null]],
    [[[null, null], ": must contain at least 1 valid item(s)"]],
  ],
  [
    { required: ["a", "b"] },
    [{ a: 1, b: null }, [], "x"],
    [
      [{ toString: 1 }, ": must have required property 'a'", ": must have required property 'b'"],
      [{ a: undefined, b: 1 }, ": must have required property 'a'"],
    ],
  ],
  [{ required: ["toString"] }, [{ toString: 1 }], [[{}, ": must have required property 'toString'"]]],
  [{ minProperties: 1 }, [{ a: 1 }, []], [[{}, ": must NOT have fewer than 1 properties"]]],
  [{ maxProperties: 1 }, [{}, { a: 1 }], [[{ a: 1, b: 1 }, ": must NOT have more than 1 properties"]]],
  [{ maxProperties: 0 }, [{}], [[{ a: 1 }, ": must NOT have more than 0 properties"]]],
  [
    { properties: { a: { type: "null" }, "b/~": { type: "null" } } },
    [{ c: 1 }, { a: undefined }, []],
    [[{ a: 1, "b/~": 2 }, "/a: must be null", "/b~1~0: must be null"]],
  ],
  [{ properties: { a: false } }, [{}], [[{ a: 1 }, "/a: must not be there"]]],
  [{ properties: { a: true } }, [{ a: 1 }], []],
  [
    { patternProperties: { "^x": { type: "null" } } },
    [{ x: null, a: 1 }],
    [[{ x1: 1, x2: 2 }, "/x1: must be null", "/x2: must be null"]],
  ],
  [{ additionalProperties: false }, [{}], [[{ a: 1 }, ": must NOT have additional properties: 'a'"]]],
  [
    { additionalProperties: false },
    [],
    [[{ ["n".repeat(100)]: 1 }, `: must NOT have additional properties: '${"n".repeat(64)}'`]],
  ],
  [
    { properties: { a: {} }, patternProperties: { "^x": {} }, additionalProperties: { type: "null" } },
    [{ a: 1, x: 1, b: null }],
    [[{ a: 1, b: 1 }, "/b: must be null"]],
  ],
  [
    { properties: { a: {} }, patternProperties: { "^x": {} }, additionalProperties: false },
    [{ a: 1, x: 1 }],
    [[{ b: 1 }, ": must NOT have additional properties: 'b'"]],
  ],
  [{ properties: { a: {} }, additionalProperties: true }, [{ b: 1 }], []],
  [
    { properties: { ab: { type: "null" } }, patternProperties: { "^a": { minimum: 2 } } },
    [{ ab: null }],
    [[{ ab: 1 }, "/ab: must be null", "/ab: must be >= 2"]],
  ],
  [
    { propertyNames: { maxLength: 1 } },
    [{ a: 1 }, ["abc"]],
    [[{ ab: 1 }, ": must NOT have more than 1 characters", ": property name must be valid"]],
  ],
  [
    { dependencies: { a: ["b"] } },
    [{}, { a: 1, b: 1 }, { b: 1 }, ["a"]],
    [[{ a: 1 }, ": must have required property 'b'"]],
  ],
  [{ dependentRequired: { a: ["b"] } }, [{ a: 1, b: 1 }], [[{ a: 1 }, ": must have required property 'b'"]]],
  [
    { dependentSchemas: { a: { maxProperties: 1 } } },
    [{ a: 1 }, { b: 1, c: 1 }],
    [[{ a: 1, b: 1 }, ": must NOT have more than 1 properties"]],
  ],
  [
    { allOf: [{ minimum: 1 }, { maximum: 3 }, { multipleOf: 2 }] },
    [2],
    [
      [0, ": must be >= 1"],
      [5, ": must be <= 3", ": must be multiple of 2"],
    ],
  ],
  [
    { anyOf: [{ type: "null" }, { minimum: 3 }] },
    [null, 3, "x"],
    [[1, ": must be null", ": must be >= 3", ": must match a schema in anyOf"]],
  ],
  [
    { oneOf: [{ type: "integer" }, { minimum: 3 }] },
    [1, 3.5],
    [
      [4, ": must match exactly one schema in oneOf"],
      [1.5, ": must be integer", ": must be >= 3", ": must match exactly one schema in oneOf"],
    ],
  ],
  [{ not: { type: "null" } }, [1], [[null, ": must NOT be valid"]]],
  [{ not: {} }, [], [[1, ": must NOT be valid"]]],
  // Problems of a branch that was only tried are not told.
  [{ allOf: [{ anyOf: [{ type: "null" }, {}] }, { maximum: 1 }] }, [1], [[2, ": must be <= 1"]]],
  [{ allOf: [{ not: { type: "null" } }, { maximum: 1 }] }, [1], [[2, ": must be <= 1"]]],
  [{ allOf: [{ oneOf: [{ type: "null" }, {}] }, { maximum: 1 }] }, [1], [[2, ": must be <= 1"]]],
  [{ contains: { type: "null" }, maxItems: 2 }, [[1, null]], [[[1, null, 2], ": must NOT have more than 2 items"]]],
  [{ maximum: 1, anyOf: [{ type: "null" }, {}], not: { type: "null" } }, [1], [[2, ": must be <= 1"]]],
  [{}, [1, null, [], {}, "x"], []],
  [{ format: "email", default: 1, title: "t" }, ["no mail"], []],
];

describe("a keyword of JSON Schema", () => {
  for (const [schema, fitting, others] of table) {
    it(`${JSON.stringify(schema).slice(0, 100)} says exactly what does not fit`, () => {
      for (const value of fitting) expect(problems(schema, value), JSON.stringify(value)).to.deep.equal([]);
      for (const [value, ...wanted] of others)
        expect(problems(schema, value), JSON.stringify(value)).to.deep.equal(wanted);
    });
  }

  it("if, then and else apply the branch that the condition chooses, and only that", () => {
    const schema = (more: Schema) => ({ if: { type: "integer" }, ...more });
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own word
    const both = schema({ then: { minimum: 5 }, else: { type: "string" } });
    expect([problems(both, 5), problems(both, "x")]).to.deep.equal([[], []]);
    expect(problems(both, 4)).to.deep.equal([": must be >= 5"]);
    expect(problems(both, 4.5)).to.deep.equal([": must be string"]);
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own word
    expect(problems(schema({ then: false }), 1)).to.deep.equal([": must not be there"]);
    expect(problems(schema({ else: false }), 1)).to.deep.equal([]);
    expect(problems(schema({ else: false }), "x")).to.deep.equal([": must not be there"]);
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own word
    expect(problems({ then: false, else: false }, 1)).to.deep.equal([]);
  });

  it("reports at most sixteen problems", () => {
    expect(problems({ items: { type: "null" } }, Array(20).fill(1))).to.have.length(16);
  });

  it("is refused where its value is none, by its name", () => {
    const broken: readonly (readonly [Schema, string])[] = [
      [{ type: "text" }, '"type" must be one of null, boolean, number, integer, string, array, object'],
      [{ type: ["string", 1] }, '"type" must be one of null, boolean, number, integer, string, array, object'],
      [{ type: "toString" }, '"type" must be one of null, boolean, number, integer, string, array, object'],
      [{ enum: 1 }, '"enum" must be a list'],
      [{ maximum: "1" }, '"maximum" must be a number'],
      [{ minimum: null }, '"minimum" must be a number'],
      [{ exclusiveMaximum: "1" }, '"exclusiveMaximum" must be a number'],
      [{ exclusiveMinimum: "1" }, '"exclusiveMinimum" must be a number'],
      [{ multipleOf: 0 }, '"multipleOf" must be a number above 0'],
      [{ multipleOf: -1 }, '"multipleOf" must be a number above 0'],
      [{ multipleOf: "1" }, '"multipleOf" must be a number'],
      [{ maxLength: 1.5 }, '"maxLength" must be a whole number from 0 on'],
      [{ minLength: -1 }, '"minLength" must be a whole number from 0 on'],
      [{ pattern: 1 }, '"pattern" must be a string'],
      [{ prefixItems: {} }, '"prefixItems" must be a list'],
      [{ minItems: -1 }, '"minItems" must be a whole number from 0 on'],
      [{ maxItems: 0.5 }, '"maxItems" must be a whole number from 0 on'],
      [{ contains: {}, minContains: -1 }, '"minContains" must be a whole number from 0 on'],
      [{ contains: {}, maxContains: "1" }, '"maxContains" must be a number'],
      [{ required: "a" }, '"required" must be a list'],
      [{ required: ["a", 1] }, '"required" must be a list of names'],
      [{ minProperties: -1 }, '"minProperties" must be a whole number from 0 on'],
      [{ maxProperties: -1 }, '"maxProperties" must be a whole number from 0 on'],
      [{ properties: [] }, '"properties" must be an object'],
      [{ patternProperties: 1 }, '"patternProperties" must be an object'],
      [{ dependencies: 1 }, '"dependencies" must be an object'],
      [{ dependentSchemas: 1 }, '"dependentSchemas" must be an object'],
      [{ dependentRequired: 1 }, '"dependentRequired" must be an object'],
      [{ allOf: {} }, '"allOf" must be a list'],
      [{ anyOf: {} }, '"anyOf" must be a list'],
      [{ oneOf: {} }, '"oneOf" must be a list'],
      [{ not: 1 }, '"a schema" must be an object or a boolean'],
      [{ items: null }, '"a schema" must be an object or a boolean'],
      [{ properties: { a: [] } }, '"a schema" must be an object or a boolean'],
      [{ $ref: 1 }, '"$ref" must be a string'],
    ];
    for (const [schema, words] of broken) {
      expect(refusal(schema), JSON.stringify(schema)).to.equal(`the JSON Schema is not valid: ${words}`);
    }
  });
});

describe("a reference in a JSON Schema", () => {
  const cases: readonly (readonly [string, Schema])[] = [
    ["a pointer", { $defs: { a: { type: "null" } }, $ref: "#/$defs/a" }],
    ["a pointer into definitions", { definitions: { a: { type: "null" } }, $ref: "#/definitions/a" }],
    [
      "a pointer through a list",
      { $defs: { a: { anyOf: [{ type: "string" }, { type: "null" }] } }, $ref: "#/$defs/a/anyOf/1" },
    ],
    ["an escaped pointer", { $defs: { "a/b~c %": { type: "null" } }, $ref: "#/$defs/a~1b~0c%20%25" }],
    ["a pointer with a bare percent", { $defs: { "50%": { type: "null" } }, $ref: "#/$defs/50%" }],
    ["an anchor", { $defs: { a: { $anchor: "here", type: "null" } }, $ref: "#here" }],
    ["an id", { $defs: { a: { $id: "http://x/a", type: "null" } }, $ref: "http://x/a" }],
    ["an id relative to the root's", { $id: "http://x/root", $defs: { a: { $id: "a", type: "null" } }, $ref: "a" }],
    ["an id that is a fragment", { $defs: { a: { $id: "#frag", type: "null" } }, $ref: "#frag" }],
    [
      "an anchor in another resource",
      { $defs: { a: { $id: "http://x/a", $defs: { b: { $anchor: "b", type: "null" } } } }, $ref: "http://x/a#b" },
    ],
    [
      "a pointer in another resource",
      { $defs: { a: { $id: "http://x/a", $defs: { b: { type: "null" } } } }, $ref: "http://x/a#/$defs/b" },
    ],
    ["one that leads to another", { $defs: { a: { $ref: "#/$defs/b" }, b: { type: "null" } }, $ref: "#/$defs/a" }],
    ["in a member's schema", { properties: { x: { $anchor: "x", type: "null" } }, allOf: [{ $ref: "#x" }] }],
  ];
  for (const [what, schema] of cases) {
    it(`is followed: ${what}`, () => {
      expect(problems(schema, null)).to.deep.equal([]);
      expect(problems(schema, 1)).to.deep.equal([": must be null"]);
    });
  }

  it("is found in every keyword that has schemas", () => {
    const target = { $anchor: "here", type: "null" };
    const places: Schema[] = [
      ...[
        "additionalItems",
        "additionalProperties",
        "contains",
        "else",
        "if",
        "not",
        "propertyNames",
        "then",
        "items",
      ].map((keyword) => ({ [keyword]: target })),
      ...["allOf", "anyOf", "oneOf", "prefixItems", "items"].map((keyword) => ({ [keyword]: [{}, target] })),
      ...["$defs", "definitions", "dependentSchemas", "dependencies", "patternProperties", "properties"].map(
        (keyword) => ({
          [keyword]: { a: {}, b: target },
        }),
      ),
    ];
    for (const place of places) {
      // Beside it, so that only the reference judges the value.
      const schema = { $defs: { holder: place }, properties: { x: { $ref: "#here" } } };
      expect(problems(schema, { x: 1 }), JSON.stringify(place)).to.deep.equal(["/x: must be null"]);
    }
  });

  it("applies besides the keywords next to it", () => {
    const schema = { $defs: { a: { type: "integer" } }, $ref: "#/$defs/a", minimum: 3 };
    expect(problems(schema, 1.5)).to.deep.equal([": must be integer", ": must be >= 3"]);
    expect(
      problems(
        { $defs: { a: true, b: false }, properties: { a: { $ref: "#/$defs/a" }, b: { $ref: "#/$defs/b" } } },
        { a: 1, b: 1 },
      ),
    ).to.deep.equal(["/b: must not be there"]);
  });

  it("up to draft 7 has no neighbours: an id beside it names nothing", () => {
    const schema = (draft: string) => ({
      $schema: draft,
      definitions: { a: { $id: "http://x/a", $ref: "#/definitions/b" }, b: { type: "null" } },
      properties: { x: { $ref: "http://x/a" } },
    });
    expect(refusal(schema("http://json-schema.org/draft-07/schema#"))).to.match(/names nothing in it/);
    expect(refusal(schema("https://json-schema.org/draft/2020-12/schema"))).to.match(
      /#\/definitions\/b" names nothing/,
    );
  });

  it("to nothing in the document is refused by its name", () => {
    for (const $ref of ["#nowhere", "#/a/b", "#/properties/x/type/y", "http://x/a", "//", "#/properties/toString"]) {
      expect(refusal({ properties: { x: { type: "string" } }, allOf: [{ $ref }] })).to.equal(
        `the schema's $ref ${JSON.stringify($ref)} names nothing in it; references to elsewhere are not followed`,
      );
    }
    expect(refusal({ $ref: `#${"x".repeat(500)}` })).to.have.length.below(300);
  });

  it("that recurses deeper than the value is an answer, not an error", () => {
    expect(problems({ properties: { a: { $ref: "#" } } }, { a: { a: { a: {} } } })).to.deep.equal([]);
    const costly = { $defs: { a: { items: { $ref: "#/$defs/a" }, allOf: [{}, {}, {}] } }, $ref: "#/$defs/a" };
    const wide = Array.from({ length: 1_000 }, () => Array(1_000).fill(0));
    expect(problems(costly, wide)).to.deep.equal([": would take too long to check against its schema"]);
  });
});

describe("a schema object", () => {
  it("is compiled once", () => {
    const schema = { type: "null" };
    expect(readSchema(schema)).to.equal(readSchema(schema));
    expect(readSchema(schema)).not.to.equal(readSchema({ type: "null" }));
  });
});

describe("a pattern that looks ahead at its start", () => {
  const sources = [
    "^(?=.*\\d)(?=.*[a-z]).{3,}$",
    "^(?!.*\\.\\.)[a.]+$",
    "^(?=[)(|]a)[)(|]a$",
    "^(?=\\)a)\\)a$",
    "^(?=(a|b)c)..$",
    "^(?=a)(b|a)$",
    "^(?=a)[|a]+$",
    "^(?=a)a\\|b$",
    "^(?!a)",
    "^(?=a|b)[a-c]$",
  ];
  it("means what it means in JavaScript", () => {
    const texts = [
      "",
      "a",
      "b",
      "c",
      "ab",
      "ac",
      "bc",
      "a1b",
      "1a2",
      "a.a",
      "a..a",
      ")a",
      "(a",
      "|a",
      "a|",
      "a|b",
      "abc",
    ];
    for (const source of sources) {
      for (const text of texts) {
        expect(patternOf(source).test(text), `${source} on ${JSON.stringify(text)}`).to.equal(
          new RegExp(source, "u").test(text),
        );
      }
    }
  });

  it("costs the states of all its parts", () => {
    expect(patternOf("^(?=.*\\d)a").states).to.be.above(patternOf("^a").states);
  });

  it("is refused where that would mean something else", () => {
    for (const source of ["^(?=a)b|c", "^(?=a)*b", "^(?=a)?b", "^(?=a)+b", "^(?=a){2}b", "^(?=a", "a(?=b)"]) {
      expect(() => patternOf(source), source).to.throw(VenturiError, /^the pattern ".*" cannot be used: /);
    }
  });

  it("names a category or script with or without its prefix", () => {
    const pairs = [
      ["^\\p{Script=Greek}$", "α"],
      ["^\\p{sc=Greek}$", "α"],
      ["^\\p{scx=Greek}$", "α"],
      ["^\\p{Script_Extensions=Greek}$", "α"],
      ["^\\p{General_Category=Letter}$", "é"],
      ["^\\p{gc=Lu}$", "É"],
      ["^\\p{Uppercase_Letter}$", "É"],
      ["^\\p{Lowercase_Letter}$", "é"],
      ["^\\p{Mark}$", "\u0301"],
      ["^\\p{Number}$", "½"],
      ["^\\p{Decimal_Number}$", "٣"],
      ["^\\p{Punctuation}$", "!"],
      ["^\\p{Symbol}$", "+"],
      ["^\\p{Separator}$", " "],
      ["^\\p{Other}$", "\u0000"],
      ["^\\P{Letter}$", "1"],
    ] as const;
    for (const [source, text] of pairs) {
      expect(patternOf(source).test(text), source).to.equal(true);
      expect(patternOf(source).test("zz"), source).to.equal(false);
    }
  });

  it("is quoted short when it is refused", () => {
    const long = `(?<=${"a".repeat(200)})`;
    expect(() => patternOf(long)).to.throw(
      VenturiError,
      `the pattern ${JSON.stringify(`${long.slice(0, 80)}…`)} cannot`,
    );
    const short = `(?<=${"a".repeat(75)})`;
    expect(() => patternOf(short)).to.throw(VenturiError, `the pattern ${JSON.stringify(short)} cannot`);
    for (const [source, why] of [
      ["a".repeat(4_097), "it is longer than 4096 characters"],
      ["a{1000}".repeat(11), "it is too large: shorten its repetitions"],
      ["(?<x>a)\\k<x>", "backreferences are not supported"],
      ["\\\\\\k<x>", "backreferences are not supported"],
      ["\\k<x>", "backreferences are not supported"],
      ["(a)\\1", "backreferences and looking around are not supported"],
    ] as const) {
      expect(() => patternOf(source), source.slice(0, 20)).to.throw(VenturiError, why);
    }
    expect(patternOf("a".repeat(4_096)).test("b")).to.equal(false);
    expect(patternOf("\\\\k<x>").test("\\k<x>")).to.equal(true);
  });
});
