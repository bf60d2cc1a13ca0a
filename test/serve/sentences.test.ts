import { expect } from "chai";
import fc from "fast-check";
import { Sentences } from "../../src/serve/sentences.ts";

const all = (pieces: Iterable<string>): string[] => {
  const sentences = new Sentences();
  const out: string[] = [];
  for (const piece of pieces) out.push(...sentences.push(piece));
  return [...out, ...sentences.flush()];
};

describe("sentences", () => {
  it("gives a sentence the moment the next one begins", () => {
    const sentences = new Sentences();
    expect(sentences.push("Hello wor")).to.deep.equal([]);
    expect(sentences.push("ld.")).to.deep.equal([]);
    expect(sentences.push(" How")).to.deep.equal(["Hello world. "]);
    expect(sentences.push(" are you?")).to.deep.equal([]);
    expect(sentences.flush()).to.deep.equal(["How are you?"]);
  });

  const cases: [string, string[]][] = [
    ["Dr. Smith met Mrs. Jones. They left.", ["Dr. Smith met Mrs. Jones. ", "They left."]],
    ["J. R. Tolkien wrote it. Read it.", ["J. R. Tolkien wrote it. ", "Read it."]],
    ["Pi is 3.14159. Tau is 6.28.", ["Pi is 3.14159. ", "Tau is 6.28."]],
    ["Fruit, nuts etc. are fine. Yes!", ["Fruit, nuts etc. are fine. ", "Yes!"]],
    ["Use it, e.g. Monday. Fine.", ["Use it, e.g. Monday. ", "Fine."]],
    ["你好。我很好！你呢？", ["你好。", "我很好！", "你呢？"]],
    ["彼は「行く。」と言った。終わり。", ["彼は「行く。」", "と言った。", "終わり。"]],
    ["1. First step.\n2. Second step.", ["1. First step.\n", "2. Second step."]],
    ['He said "Stop!" Then he left.', ['He said "Stop!" ', "Then he left."]],
    ["See:\n```js\na. B. c;\nd! E?\n```\nDone. Bye.", ["See:\n", "```js\na. B. c;\nd! E?\n```\n", "Done. ", "Bye."]],
  ];
  for (const [text, expected] of cases) {
    it(`cuts ${JSON.stringify(text)} into ${expected.length}`, () => {
      expect(all([text])).to.deep.equal(expected);
      expect(all(text), "character by character").to.deep.equal(expected);
    });
  }

  it("does not hold back text that never ends a sentence", () => {
    const sentences = new Sentences();
    const first = sentences.push("word ".repeat(1_000));
    expect(first.join("").length).to.be.greaterThan(2_900);
  });

  it("loses and repeats nothing, however the text is cut", () => {
    const token = fc.oneof(
      fc.constantFrom(
        ". ",
        "! ",
        "? ",
        ".",
        "\n",
        "```",
        "\n```\n",
        "~~~",
        "Dr. ",
        "3.14",
        "。",
        "…",
        '"',
        "(",
        " ",
        "1. ",
      ),
      fc.string({ unit: "grapheme", maxLength: 6 }),
      fc.lorem({ maxCount: 3 }),
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 60 }), (pieces) => {
        expect(all(pieces).join("")).to.equal(pieces.join(""));
        expect(all([pieces.join("")]).join("")).to.equal(pieces.join(""));
      }),
      { numRuns: 300 },
    );
  });

  it("ends sentences at the same places however ordinary text is cut", () => {
    const sentence = fc
      .tuple(fc.lorem({ maxCount: 6 }), fc.constantFrom(". ", "! ", "? ", ".\n", " (e.g. X). "))
      .map(([words, end]) => words.replace(/^./, (letter) => letter.toUpperCase()) + end);
    fc.assert(
      fc.property(
        fc.array(sentence, { maxLength: 8 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 12 })),
        (parts, sizes) => {
          const text = parts.join("");
          const pieces: string[] = [];
          let at = 0;
          for (const size of sizes) {
            if (at >= text.length) break;
            pieces.push(text.slice(at, at + size));
            at += size;
          }
          expect(all(pieces)).to.deep.equal(all([text]));
        },
      ),
      { numRuns: 200 },
    );
  });
});
