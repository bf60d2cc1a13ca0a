import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import { parseUntrusted } from "../../src/core/errors/untrusted-json.ts";

const faultOf = (text: string): { message: string; position: unknown } => {
  try {
    parseUntrusted(text);
  } catch (thrown) {
    if (VenturiError.isInstance(thrown)) return { message: thrown.message, position: thrown.details?.position };
  }
  return expect.fail(`${text} was parsed`);
};

describe("JSON that is none", () => {
  const cases: readonly [string, number, string][] = [
    ["{a:1}", 1, 'unexpected "a" at line 1, column 2'],
    ["agent", 0, 'unexpected "a" at line 1, column 1'],
    ["{'agent':1}", 1, `unexpected "'" at line 1, column 2`],
    ['{"a": tru}', 9, 'unexpected "}" at line 1, column 10'],
    ['{"a": 1,\n "b": }', 15, 'unexpected "}" at line 2, column 7'],
    ['{"a": 1', 7, "it ends too early, at line 1, column 8"],
    ['{"a": "1', 8, "it ends too early, at line 1, column 9"],
    ['{"a": 1} x', 9, 'unexpected "x" at line 1, column 10'],
    ["[1,]", 3, 'unexpected "]" at line 1, column 4'],
    ['{"ü": 😀}', 6, 'unexpected "😀" at line 1, column 7'],
  ];
  for (const [text, position, words] of cases) {
    it(`${JSON.stringify(text)}: ${words}`, () => {
      expect(faultOf(text)).to.deep.equal({ message: `this is not valid JSON: ${words}`, position });
    });
  }

  it("is searched in linear steps however long it is, and says nothing of what it holds", () => {
    const secret = `{"key": "${"s".repeat(900_000)}" oops}`;
    const { message, position } = faultOf(secret);
    expect(position).to.equal(secret.length - 5);
    expect(message).to.have.length.below(100);
    expect(faultOf(`${"[".repeat(10)}${" ".repeat(2_000_000)}x`).message).to.equal("this is not valid JSON");
  });

  it("a number beyond the largest is refused, however it is written; one that only looks like it is not", () => {
    for (const number of ["1e400", "-1E+999", "1.5e309", "9".repeat(400), `-${"1".repeat(310)}.5`]) {
      for (const text of [`[${number}]`, `{"a":${number}}`, `{"a": [1,\t${number} ]}`])
        expect(faultOf(text).message, text).to.match(/^the number at "[0a1]" is too large/);
      expect(parseUntrusted(`[${number}]`, { anyNumber: true })).to.deep.equal([Math.sign(Number(number)) * Infinity]);
    }
    for (const text of [
      '{"a":1e300,"b":[1e-400,-1.7e308],"c":": 1e400 "}',
      `[${"1".repeat(308)}, ${"0.".padEnd(400, "1")}]`,
    ])
      expect(parseUntrusted(text)).to.deep.equal(JSON.parse(text));
  });
});
