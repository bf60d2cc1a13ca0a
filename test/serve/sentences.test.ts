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
    // Addresses, versions, decimals, ellipses
    ["See https://x.test/a?b=1&c=2!d. Then go.", ["See https://x.test/a?b=1&c=2!d. ", "Then go."]],
    ["Is it www.example.com/?q=a? Yes.", ["Is it www.example.com/?q=a? ", "Yes."]],
    [
      "Mail me@example.org. Use Node.js v24.1.0. Run a.Out.",
      ["Mail me@example.org. ", "Use Node.js v24.1.0. ", "Run a.Out."],
    ],
    ["It is 3.5 or 1.000,50 or .5. Fine.", ["It is 3.5 or 1.000,50 or .5. ", "Fine."]],
    ["Well... maybe not. Hm… let me see. So?", ["Well... maybe not. ", "Hm… let me see. ", "So?"]],
    ["Wait... What? No!", ["Wait... ", "What? ", "No!"]],
    ["What?! Really?! Yes...", ["What?! ", "Really?! ", "Yes..."]],
    ['"Why?" he asked. "Because!" she said. Good.', ['"Why?" he asked. ', '"Because!" she said. ', "Good."]],
    // Scripts with their own ends
    ["价格是3.5元。好……吧！OK!好的。", ["价格是3.5元。", "好……吧！", "OK!", "好的。"]],
    ["これは本です。それは？はい！", ["これは本です。", "それは？", "はい！"]],
    ["안녕하세요. 잘 지내세요? 네.", ["안녕하세요. ", "잘 지내세요? ", "네."]],
    ["مرحبا! كيف حالك؟ أنا بخير. شكرا", ["مرحبا! ", "كيف حالك؟ ", "أنا بخير. ", "شكرا"]],
    ["قابلت د. أحمد اليوم. ثم ذهبت.", ["قابلت د. أحمد اليوم. ", "ثم ذهبت."]],
    ["یہ کتاب ہے۔ وہ قلم ہے۔", ["یہ کتاب ہے۔ ", "وہ قلم ہے۔"]],
    ["यह किताब है। वह कलम है।", ["यह किताब है। ", "वह कलम है।"]],
    // Abbreviations: English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Polish, Czech, Russian, Turkish
    [
      "Gen. Lee and Capt. Kirk met, cf. Fig. 3 on pp. 4 of No. 7. Ok.",
      ["Gen. Lee and Capt. Kirk met, cf. Fig. 3 on pp. 4 of No. 7. ", "Ok."],
    ],
    ["Did he? No. He left.", ["Did he? ", "No. ", "He left."]],
    [
      "Das ist z. B. Holz, d. h. Material, bzw. Nr. 5 von Hr. Abel. Gut.",
      ["Das ist z. B. Holz, d. h. Material, bzw. Nr. 5 von Hr. Abel. ", "Gut."],
    ],
    ["Am 3. Oktober ist frei. Am 4. Nicht.", ["Am 3. Oktober ist frei. ", "Am 4. ", "Nicht."]],
    ["M. Dupont et Mme. Curie, p. ex. Marie. Voilà.", ["M. Dupont et Mme. Curie, p. ex. Marie. ", "Voilà."]],
    [
      "El Sr. Ruiz y la Dra. Gil, p. ej. Ana, pág. 4. Bien.",
      ["El Sr. Ruiz y la Dra. Gil, p. ej. Ana, pág. 4. ", "Bien."],
    ],
    [
      "Il Sig. Rossi e il Dott. Bianchi, cfr. Dante. Bene.",
      ["Il Sig. Rossi e il Dott. Bianchi, cfr. Dante. ", "Bene."],
    ],
    ["O Sr. Silva e a Profa. Costa, Av. Central. Bom.", ["O Sr. Silva e a Profa. Costa, Av. Central. ", "Bom."]],
    ["Dhr. Jansen, bijv. Piet, d.w.z. Pieter. Goed.", ["Dhr. Jansen, bijv. Piet, d.w.z. Pieter. ", "Goed."]],
    ["Vi ses kl. 5, t.ex. Måndag, bl.a. Anna. Bra.", ["Vi ses kl. 5, t.ex. Måndag, bl.a. Anna. ", "Bra."]],
    ["Np. Jan, ul. Długa, św. Anna i 3. Maja. Tak.", ["Np. Jan, ul. Długa, św. Anna i 3. Maja. ", "Tak."]],
    ["Např. Jan, tzv. Velký, ul. Dlouhá. Ano.", ["Např. Jan, tzv. Velký, ul. Dlouhá. ", "Ano."]],
    ["Это проф. Иванов, т. е. Иван, ул. Ленина. Да.", ["Это проф. Иванов, т. е. Иван, ул. Ленина. ", "Да."]],
    ["Doç. Ali, örn. Ankara, bkz. Tablo. Evet.", ["Doç. Ali, örn. Ankara, bkz. Tablo. ", "Evet."]],
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
