import { expect } from "chai";
import { compileCondition } from "../../src/agent/tools/condition.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";

type Values = Record<string, unknown>;

/** A condition, arguments for which it holds, and arguments for which it does not. */
const table: readonly (readonly [string, readonly Values[], readonly Values[]])[] = [
  // A comparison with null is one of presence, whatever the other side is.
  ["a == null", [{ a: null }], [{ a: 1 }, { a: "x" }, { a: [] }]],
  ["a != null", [{ a: 1 }, { a: "x" }], [{ a: null }]],
  ["null == a", [{ a: null }], [{ a: 0 }]],
  ["a == [1, 2]", [{ a: [1, 2] }], [{ a: [1] }, { a: [2, 1] }, { a: [] }]],
  ["a == {'k': [1]}", [{ a: { k: [1] } }], [{ a: { k: [2] } }, { a: {} }, { a: { k: [1], l: 2 } }]],
  ["a == 1", [{ a: 1 }], [{ a: 2 }, { a: 1.5 }]],
  ["a != 'x'", [{ a: "y" }], [{ a: "x" }]],
  [
    "a == 1 || b == 1",
    [
      { a: 1, b: 2 },
      { a: 2, b: 1 },
    ],
    [{ a: 2, b: 2 }],
  ],
  [
    "a == 1 && b == 1",
    [{ a: 1, b: 1 }],
    [
      { a: 1, b: 2 },
      { a: 2, b: 1 },
    ],
  ],
  ["a in [1, 2]", [{ a: 2 }], [{ a: 3 }]],
  ["'k' in a", [{ a: { k: 1 } }, { a: ["k"] }], [{ a: {} }, { a: { l: 1 } }, { a: [] }]],
  ["'k' in {'k': 1, 'l': a}", [{ a: 1 }], []],
  ["{'k': a}.k == 1", [{ a: 1 }], [{ a: 2 }]],
  ["[a, b][1] == 2", [{ a: 1, b: 2 }], [{ a: 2, b: 1 }]],
  ["a.b.c == 1", [{ a: { b: { c: 1 } } }], [{ a: { b: { c: 2 } } }]],
  ["!(a > 1)", [{ a: 1 }], [{ a: 2 }]],
  ["-a < -1", [{ a: 2 }], [{ a: 1 }]],
  ["a + b == 3", [{ a: 1, b: 2 }], [{ a: 1, b: 1 }]],
  ["a - b == 1", [{ a: 3, b: 2 }], [{ a: 4, b: 2 }]],
  // Arguments are doubles, whole or not, and literals may be integers.
  ["a + 1 > 100", [{ a: 100 }, { a: 99.5 }], [{ a: 99 }, { a: 98.5 }]],
  ["100 - a < 1", [{ a: 100 }, { a: 99.5 }], [{ a: 99 }]],
  ["a * 2 >= 200.5", [{ a: 100.25 }], [{ a: 100 }]],
  ["1.5 * a > 3", [{ a: 3 }], [{ a: 2 }]],
  ["a / 2 > 3", [{ a: 7 }], [{ a: 6 }]],
  ["a % 10 == 0", [{ a: 20 }], [{ a: 21 }, { a: 20.5 }]],
  ["items.size() * price > 10", [{ items: [1, 2, 3], price: 4 }], [{ items: [1, 2], price: 4 }]],
  ["name + '!' == 'x!'", [{ name: "x" }], [{ name: "y" }]],
  // What is not a number cannot be judged, so a person is asked.
  [
    "a / b > 2",
    [
      { a: 5, b: 2 },
      { a: 0, b: 0 },
      { a: 1, b: 0 },
    ],
    [{ a: 4, b: 2 }],
  ],
  [
    "a * b < 1",
    [
      { a: 1e308, b: -1e308 },
      { a: 0, b: 5 },
    ],
    [{ a: 1, b: 1 }],
  ],
  [
    "a > 1 ? b == 1 : b == 2",
    [
      { a: 2, b: 1 },
      { a: 1, b: 2 },
    ],
    [
      { a: 2, b: 2 },
      { a: 1, b: 1 },
    ],
  ],
  [
    "a && b",
    [{ a: true, b: true }],
    [
      { a: true, b: false },
      { a: false, b: true },
      { a: false, b: false },
    ],
  ],
  [
    "a || b",
    [
      { a: true, b: false },
      { a: false, b: true },
    ],
    [{ a: false, b: false }],
  ],
  ["a.matches('^x+$')", [{ a: "xx" }], [{ a: "xy" }]],
  ["a.matches(b)", [{ a: "abc", b: "b" }], [{ a: "abc", b: "^b" }]],
  ["a.startsWith('x') && a.endsWith('y')", [{ a: "xy" }], [{ a: "x" }]],
  ["size(a) == 2", [{ a: [1, 2] }, { a: "ab" }], [{ a: [] }]],
  ["a.exists(x, x > 1 && x < 3)", [{ a: [2] }], [{ a: [1, 3] }]],
  ["has(args.a) && args.a > 1", [{ a: 2 }], [{ a: 1 }, {}]],
  ["has(args.a) ? args.a > 1 : true", [{ a: 2 }, {}], [{ a: 1 }]],
  ["has(args.a) || has(args.b)", [{ a: 0 }, { b: 0 }], [{}]],
  ["args.a == 1 && args['b'] == 2", [{ a: 1, b: 2 }], [{ a: 1, b: 1 }]],
];

describe("a condition on a tool's arguments", () => {
  for (const [source, yes, no] of table) {
    it(`${source} holds for these and not for those`, () => {
      const holds = compileCondition(source);
      for (const values of yes) expect(holds(values), JSON.stringify(values)).to.equal(true);
      for (const values of no) expect(holds(values), JSON.stringify(values)).to.equal(false);
    });
  }

  it("asks when sides are of other kinds, however deep, and when something is missing without has()", () => {
    const rows: readonly (readonly [string, Values])[] = [
      ["a == 1 && false", { a: "1" }],
      ["a == [1] && false", { a: { 0: 1 } }],
      ["a == 'x' && false", { a: ["x"] }],
      ["a in [1] && false", { a: "1" }],
      ["'k' in a && false", { a: 1 }],
      ["'k' in a && false", { a: null }],
      ["a.matches('x') && false", { a: 1 }],
      ["a.matches(b) && false", { a: "x", b: 1 }],
      ["a.matches(b) && false", { a: "x", b: "(" }],
      ["missing == 1 && false", {}],
      ["false && missing == 1", {}],
      ["true || missing == 1", {}],
      ["a.b == 1 && false", { a: {} }],
    ];
    for (const [source, values] of rows) expect(compileCondition(source)(values), source).to.equal(true);
    // With has(), the rest of the expression decides, as in CEL.
    expect(compileCondition("has(args.a) && false && missing == 1")({ a: 1 })).to.equal(false);
  });

  it("does not see properties of JavaScript's own", () => {
    expect(compileCondition("has(args.constructor)")({})).to.equal(false);
    expect(compileCondition("'constructor' in args")({ a: 1 })).to.equal(false);
    expect(compileCondition("args == {'a': 1}")({ a: 1 })).to.equal(true);
  });

  it("that does not compile is refused with a helpful message", () => {
    const refusal = (source: string): VenturiError => {
      try {
        compileCondition(source);
      } catch (thrown) {
        if (VenturiError.isInstance(thrown)) return thrown;
      }
      return expect.fail("it was taken");
    };
    expect(refusal("a > 1 and b")).to.include({ op: "approval.compile", code: "config_invalid" });
    expect(refusal("a > 1 and b").message).to.match(
      /^invalid condition: [^\n]+ \(character \d+; write `&&`, `\|\|` and `!`/,
    );
    expect(refusal("1 + 1").message).to.equal("invalid condition: it is of type int, not true or false");
    expect(refusal("a.matches()").message).to.match(/^invalid condition: /);
    expect(refusal("a.matches('(')").message).to.match(/^invalid condition: /);
    expect(refusal("a ==").cause).to.be.instanceOf(Error);
  });
});
