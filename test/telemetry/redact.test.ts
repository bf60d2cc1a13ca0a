import { expect } from "chai";
import fc from "fast-check";
import { Content } from "../../src/telemetry/wrappers/content.ts";
import { Redactor, replacement } from "../../src/telemetry/wrappers/redact.ts";

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

  it("takes time linear in the text", () => {
    const time = (length: number) => {
      const text = "a.".repeat(length / 2);
      const start = performance.now();
      redactor.text(text);
      return performance.now() - start;
    };
    time(10_000);
    expect(time(200_000)).to.be.lessThan(Math.max(60, time(20_000) * 40));
  });
});
