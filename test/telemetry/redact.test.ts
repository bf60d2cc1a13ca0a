import { expect } from "chai";
import fc from "fast-check";
import { maskJwts } from "../../src/core/values/secret-forms.ts";
import { Content } from "../../src/telemetry/wrappers/content.ts";
import { maskEmails } from "../../src/telemetry/wrappers/personal-data.ts";
import { Redactor, replacement } from "../../src/telemetry/wrappers/redact.ts";
import { redactPattern } from "../../src/telemetry/wrappers/redact-pattern.ts";

const secrets = [
  "Bearer abcdef0123456789",
  "Authorization: Basic dXNlcjpwYXNzd29yZA==",
  "sk-proj-abcdefghijklmnop1234567890",
  "sk-ant-api03-abcdefghijklmnopqrstuvwx",
  "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
  "xoxb-123456789012-abcdefghij",
  "AIzaSyA1234567890abcdefghijklmnopqrstuvw",
  "AKIAIOSFODNN7EXAMPLE",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
  "jane.doe+test@mail.example.co.uk",
  "jürgen@müller.example",
  "4111 1111 1111 1111",
  "5500-0000-0000-0004",
  "378282246310005",
];

const hostile = [
  "-eyJ",
  "eyJ",
  "eyJaaaaaaaa.",
  "xeyJ",
  "sk-",
  "a",
  "a.",
  "@",
  "a@",
  "a@b.",
  "1",
  "1 ",
  "-----BEGIN ",
  "-----BEGIN PRIVATE KEY-----",
  "-----END ",
  "bearer ",
  " ",
  "token",
  "token:",
  "password = ",
  "AIza",
  "ghp_",
];

describe("redaction", () => {
  const redactor = new Redactor(["INTERNAL-\\d+"]);
  const secret = fc.constantFrom(...secrets, "INTERNAL-42");
  const harmless = fc.string({ unit: fc.constantFrom(...'abc XYZ,.!?\n"\\{}[]é漢😀') });

  it("takes every known secret out of any text around it", () => {
    fc.assert(
      fc.property(harmless, secret, harmless, (before, inside, after) => {
        const clean = redactor.text(`${before} ${inside} ${after}`);
        expect(clean).to.include(replacement);
        expect(clean).to.not.include(inside.replace(/^Authorization: /, ""));
      }),
    );
  });

  it("leaves text without secrets alone", () => {
    fc.assert(fc.property(harmless, (text) => redactor.text(text) === text));
    const plain = "order 1234567890123 at 2026-11-15T03:00:00Z costs 99.50, see item 4111111111111112, tokens: 5";
    expect(redactor.text(plain)).to.equal(plain);
  });

  it("whatever the value, captured content is valid JSON without the secret in it, whole or cut", () => {
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.tuple(harmless, secret, harmless).map((parts) => parts.join(" ")),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.constant(4111111111111111),
        fc.array(tie("value"), { maxLength: 40 }),
        fc.dictionary(fc.oneof(harmless, fc.constantFrom("password", "apiKey", "Authorization")), tie("value")),
      ),
    })).value;
    for (const mode of ["truncated", "full"] as const) {
      const content = new Content({ content: mode, redact: ["INTERNAL-\\d+"] });
      fc.assert(
        fc.property(value, (input) => {
          const json = content.json(input);
          JSON.parse(json);
          for (const inside of [...secrets, "INTERNAL-42", "4111111111111111"]) {
            expect(json).to.not.include(inside.replace(/^Authorization: /, ""));
          }
        }),
      );
    }
  });

  it("whatever stands under a key that names a secret is gone", () => {
    const clean = redactor.value({
      password: "short",
      nested: [{ "x-api-key": { deep: "k" } }],
      tokens: 12,
      name: "n",
    });
    expect(clean).to.deep.equal({
      password: replacement,
      nested: [{ "x-api-key": replacement }],
      tokens: 12,
      name: "n",
    });
  });

  it("cutting bounds the size, says what it left out, and splits no character", () => {
    const content = new Content({ content: "truncated", redact: [] });
    const text = `${"a".repeat(511)}😀${"b".repeat(5_000)}`;
    const cut = JSON.parse(content.json({ text })) as { text: string };
    expect(cut.text).to.equal(`${"a".repeat(511)}…`);
    const list = JSON.parse(content.json(Array.from({ length: 100 }, (_, index) => index))) as unknown[];
    expect(list).to.have.length(33);
    expect(list[0]).to.equal("68 left out");
    expect(content.json(Array.from({ length: 30 }, () => Array(30).fill("x".repeat(500)))).length).to.be.lessThan(
      20_000,
    );
  });

  // Quadratic ones take minutes for these.
  for (const unit of hostile) {
    it(`is done with 1 MB of ${JSON.stringify(unit)} at once`, () => {
      const text = unit.repeat(Math.ceil((1024 * 1024) / unit.length));
      expect(redactor.text(text).length).to.be.above(0);
      expect(redactor.text(`${unit[0]}${text}\n`).length).to.be.above(0);
    });
  }

  // A class that is repeated over 8 MB of one word overflows the stack on which V8 backtracks.
  it("throws for no word, however long", () => {
    for (const start of ["sk-", "eyJ", "token=", "bearer "]) {
      expect(redactor.text(start + "a".repeat(8 * 1024 * 1024)).length).to.be.above(0);
    }
  });

  it("searches no more than is kept, and a little", () => {
    const text = `${"x".repeat(5_000)} sk-proj-abcdefghijklmnop1234567890`;
    const clean = redactor.text(text, 4_096);
    expect(clean).to.equal(`${"x".repeat(4_096)}…`);
  });

  it("a key that the cut would split is taken out whole, however long it is", () => {
    const token = `eyJ${"a".repeat(5_000)}.${"b".repeat(5_000)}.${"c".repeat(50)}`;
    for (const inside of [token, `sk-${"d".repeat(5_000)}`, `-----BEGIN PRIVATE KEY-----\n${"e".repeat(5_000)}`]) {
      for (const before of [0, 480, 500, 505, 511]) {
        const clean = redactor.text(`${" ".repeat(before)}${inside}`, 512);
        expect(clean.trim(), `${inside.slice(0, 5)} at ${before}`).to.match(/^\[redact|^…$|^\[/);
        expect(clean).to.not.match(/aaa|ddd|eee/);
      }
    }
  });

  it("finds the tokens that the expression for them would find", () => {
    const token = /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/gu;
    const unit = fc.constantFrom("eyJ", "-", ".", "a", "_", "abcdefgh", " ", "é");
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 24 }), (units) => {
        const text = units.join("");
        expect(maskJwts(text, () => "#")).to.equal(text.replace(token, "#"));
      }),
      { numRuns: 20_000, seed: 31 },
    );
  });

  it("finds the addresses that the expression for them would find", () => {
    const address = /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu;
    const unit = fc.constantFrom("@", ".", "a", "é", "𝒜", "-", "+", " ", "b".repeat(64));
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 16 }), (units) => {
        const text = units.join("");
        expect(maskEmails(text, () => "#")).to.equal(text.replace(address, "#"));
      }),
      { numRuns: 20_000, seed: 31 },
    );
  });

  it("an operator's pattern is matched in linear time, and one that cannot be is refused", () => {
    const own = new Redactor(["(a+)+b"]);
    expect(own.text(`${"a".repeat(50_000)}c aab`)).to.match(/c \[redacted\]$/);
    expect(() => redactPattern("(?<=x)y")).to.throw();
    expect(() => redactPattern("(a)\\1")).to.throw();
  });

  it("a log line is bounded, whatever it is given", () => {
    const limits = { text: 4_096, items: 100, nodes: 1_000 };
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`k${at}`, { deep: [at] }]));
    const clean = JSON.stringify(
      redactor.value({ wide, long: "-eyJ".repeat(1e6), list: Array(1e5).fill("x") }, limits),
    );
    expect(clean.length).to.be.below(20_000);
  });
});
