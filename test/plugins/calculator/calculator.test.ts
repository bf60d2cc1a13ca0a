import { expect } from "chai";
import fc from "fast-check";
import { evaluate } from "../../../plugins/calculator/evaluate.ts";
import calculator from "../../../plugins/calculator/index.ts";
import { VenturiError } from "../../../src/core/errors/errors.ts";
import { testPluginContext, toolContract } from "../../../src/testing.ts";

toolContract("calculator", {
  create: () => calculator.create(calculator.options.parse({}), testPluginContext({ name: "sums" })),
  samples: [{ tool: "sums", input: { expression: "1 + 1" } }],
  misfits: [
    { tool: "sums", input: {} },
    { tool: "sums", input: { expression: "1".repeat(1001) } },
  ],
  failures: [{ tool: "sums", input: { expression: "1 +" } }],
});

const values: readonly (readonly [string, number])[] = [
  ["1 + 2 * 3", 7],
  ["(1 + 2) * 3", 9],
  // Side by side, not nested.
  [Array.from({ length: 150 }, () => "(1)").join("+"), 150],
  ["2 ^ 3 ^ 2", 512],
  ["2 ** 10", 1024],
  ["-2 ^ 2", -4],
  ["2 ^ -1", 0.5],
  ["--3", 3],
  ["10 - 4 - 3", 3],
  ["100 / 10 / 2", 5],
  ["0.1 + 0.2", 0.3],
  ["1_000_000 * 1.5e-3", 1500],
  [".5 + 5.", 5.5],
  ["10 % 3", 1],
  ["10 % (2 + 2)", 2],
  ["50%", 0.5],
  ["15% * 80", 12],
  ["80 * 15%", 12],
  ["200 + 10%", 220],
  ["200 - 10%", 180],
  ["10% + 10%", 0.11],
  ["-10%", -0.1],
  ["5!", 120],
  ["sqrt(16) + abs(-2)", 6],
  ["max(1, 2 + 3, 4)", 5],
  ["round(2.345, 2)", 2.35],
  ["round(1.005, 2)", 1.01],
  ["log(1000)", 3],
  ["log(8, 2)", 3],
  ["ln(e)", 1],
  ["sin(pi / 2)", 1],
  ["2 × 3 ÷ 4 − 1", 0.5],
  ["√(2 · 8)", 4],
  ["mean(1, 2, 3)", 2],
];

const mistakes: readonly (readonly [string, RegExp])[] = [
  ["", /ends where a number/],
  ["1 +", /ends where a number/],
  ["1 2", /expected an operator at character 3/],
  ["(1", /ends where "\)"/],
  ["1)", /expected an operator at character 2/],
  ["2 + * 3", /expected a number at character 5, found "\*"/],
  ["1 / 0", /division by zero/],
  ["5 % 0", /ends where|division by zero/],
  ["sqrt(-1)", /no real value/],
  ["(-1)!", /no real value/],
  ["9e999", /too large/],
  ["171!", /too large/],
  ["foo", /"foo" at 1 is not a constant/],
  ["foo(1)", /is not a function/],
  ["constructor", /is not a constant/],
  ["__proto__", /cannot read "_"/],
  ["toString(1)", /is not a function/],
  ["process.exit()", /cannot read "\."/],
  ["1; 2", /cannot read ";"/],
  ["`x`", /cannot read/],
  ["sqrt()", /expected a number/],
  ["sqrt(1, 2)", /takes 1 values/],
  ["1,000", /expected an operator/],
  [`${"(".repeat(400)}1${")".repeat(400)}`, /nested deeper/],
  ["-".repeat(900), /nested deeper/],
  ["1+".repeat(600), /longer than 1000/],
];

describe("calculator", () => {
  for (const [expression, value] of values) {
    it(`${expression} = ${value}`, () => expect(evaluate(expression)).to.equal(value));
  }

  it("takes a thousand characters, and no more", () => {
    expect(evaluate(`${"1+".repeat(499)}10`)).to.equal(509);
    expect(() => evaluate(`${"1+".repeat(499)}100`)).to.throw("longer than 1000");
  });

  it(`explains each of ${mistakes.length} mistakes`, () => {
    for (const [expression, message] of mistakes) {
      expect(() => evaluate(expression), expression)
        .to.throw(VenturiError, message)
        .with.property("code", "tool_failed");
    }
  });

  it("agrees with the language on any expression of + - * and parentheses", () => {
    const tree = fc.letrec<{ node: { text: string; value: number } }>((tie) => ({
      node: fc.oneof(
        { depthSize: "small" },
        fc.integer({ min: 0, max: 99 }).map((value) => ({ text: String(value), value })),
        fc.tuple(tie("node"), fc.constantFrom("+", "-", "*"), tie("node")).map(([left, sign, right]) => ({
          text: `(${left.text} ${sign} ${right.text})`,
          value:
            sign === "+"
              ? left.value + right.value
              : sign === "-"
                ? left.value - right.value
                : left.value * right.value,
        })),
      ),
    })).node;
    fc.assert(
      fc.property(tree, ({ text, value }) => {
        if (text.length > 1000) return;
        expect(evaluate(text)).to.equal(Number(value.toPrecision(15)));
      }),
    );
  });

  it("answers any text with a finite number or a tool_failed, never anything else", () => {
    const text = fc.string({ unit: fc.constantFrom(..."0123456789.+-*/^%!(), episqrt".split("")), maxLength: 60 });
    fc.assert(
      fc.property(text, (expression) => {
        try {
          expect(Number.isFinite(evaluate(expression))).to.equal(true);
        } catch (thrown) {
          expect(thrown).to.be.instanceOf(VenturiError).with.property("code", "tool_failed");
        }
      }),
      { numRuns: 2000 },
    );
  });
});
