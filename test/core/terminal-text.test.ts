import { expect } from "chai";
import fc from "fast-check";
import { forOneLine, forTerminal, jsonForTerminal } from "../../src/core/values/terminal-text.ts";

const unsafe = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\u{e0000}-\u{e007f}]/u;
const anything = fc.array(
  fc.oneof(
    fc.integer({ min: 0, max: 0x9f }),
    fc.constantFrom(0x61c, 0x200e, 0x200f, 0x2028, 0x202e, 0x2066, 0xfff9, 0xe0041, 0x1f600, 0x5d0, 0x4f60, 0x200d),
    fc.integer({ min: 0x20, max: 0xd7ff }),
  ),
);
const textOf = (codes: readonly number[]) => String.fromCodePoint(...codes);

describe("text for terminals", () => {
  it("shows what would steer a terminal as symbols", () => {
    expect(forTerminal("\u001b]52;c;aGk=\u0007")).to.equal("␛]52;c;aGk=␇");
    expect(forTerminal("\u009b8m\u0090q\u009c\u007f")).to.equal("␛[8m␛Pq␛\\␡");
    expect(forTerminal("abc\u202Etxt.exe")).to.equal("abc⟨U+202E⟩txt.exe");
    expect(forTerminal("a\r\nb\tc\rd\be")).to.equal("a\nb\tc␍d␈e");
    expect(forOneLine("a\nb\tc")).to.equal("a␤b c");
    expect(forTerminal("שלום 你好 👩‍🚀 é")).to.equal("שלום 你好 👩‍🚀 é");
  });

  it("leaves nothing unsafe, whatever the text and however it is cut", () => {
    fc.assert(
      fc.property(anything, anything, (left, right) => {
        const [a, b] = [textOf(left), textOf(right)];
        expect(forTerminal(a).replaceAll(/[\n\t]/g, "")).not.to.match(unsafe);
        expect(forOneLine(a)).not.to.match(unsafe);
        expect(forTerminal(forTerminal(a))).to.equal(forTerminal(a));
        if (!a.endsWith("\r")) expect(forTerminal(a) + forTerminal(b)).to.equal(forTerminal(a + b));
      }),
      { numRuns: 2_000 },
    );
  });

  it("JSON means the same and has nothing unsafe in it", () => {
    fc.assert(
      fc.property(anything, (codes) => {
        const value = { [textOf(codes)]: [textOf(codes)] };
        const json = jsonForTerminal(JSON.stringify(value));
        expect(json).not.to.match(unsafe);
        expect(JSON.parse(json)).to.deep.equal(value);
      }),
    );
  });
});
