import { expect } from "chai";
import fc from "fast-check";
import { RepeatedJson, SharedForms } from "../../src/provider/fast-json/repeated-json.ts";
import { varying } from "../../src/provider/fast-json/template.ts";

const changing = varying(
  [
    ["choices", 0, "delta", "content"],
    ["choices", 0, "delta", "tool_calls", 0, "function", "arguments"],
  ],
  [["obfuscation"], ["count"]],
);

/** A stream of which the first texts, which are only parsed, have come. */
function pastStart(...given: ConstructorParameters<typeof RepeatedJson>): RepeatedJson {
  const json = new RepeatedJson(...given);
  for (let text = 0; text < 5; text++) json.parse("0");
  return json;
}

const chunk = (content: string, more: Record<string, unknown> = {}): string =>
  JSON.stringify({ id: "c1", choices: [{ index: 0, delta: { content }, finish_reason: null }], usage: null, ...more });
const fragment = (piece: string): string =>
  JSON.stringify({ id: "c1", choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: piece } }] } }] });

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

describe("RepeatedJson", () => {
  it("gives what JSON.parse gives for texts that differ in one string", () => {
    const json = pastStart(changing);
    const pieces = [
      "",
      "a",
      " b",
      'say "hi"',
      "\\",
      "\\\\",
      '\\"',
      "line\nend",
      "é漢🙂",
      "\u2028",
      "x".repeat(500),
      '"',
      "{}",
    ];
    for (const piece of [...pieces, ...pieces]) {
      for (const text of [chunk(piece), fragment(piece)]) expect(json.parse(text)).to.deep.equal(JSON.parse(text));
    }
  });

  it("reads a text of a known form without parsing it", () => {
    const json = pastStart(changing);
    for (const piece of ["one", "two"]) json.parse(chunk(piece));
    const third = json.parse(chunk("three"));
    expect(json.parse(chunk("four"))).to.equal(third);
  });

  it("learns nothing from the first texts of a stream, which may be all", () => {
    const json = new RepeatedJson(changing);
    const values = Array.from("abcde", (piece) => json.parse(chunk(piece)));
    expect(new Set(values).size).to.equal(5);
    for (const piece of ["f", "g"]) json.parse(chunk(piece));
    expect(json.parse(chunk("h"))).to.equal(json.parse(chunk("i")));
  });

  it("passes over padding and counters of any length", () => {
    const json = pastStart(changing);
    for (const piece of ["zero", "one"]) json.parse(chunk(piece, { count: 9, obfuscation: "abc" }));
    const second = json.parse(chunk("two", { count: 10, obfuscation: "defgh" }));
    expect(json.parse(chunk("three", { count: 1100, obfuscation: "" }))).to.equal(second);
    expect(second).to.have.nested.property("choices[0].delta.content", "three");
  });

  it("passes over padding and counters that stay the same, also after they have changed", () => {
    const json = pastStart(changing);
    for (const piece of ["zero", "one"]) json.parse(chunk(piece, { count: 9, obfuscation: "abc" }));
    const known = json.parse(chunk("two", { count: 9, obfuscation: "abc" }));
    for (const count of [9, 9, 10, 10, 10]) {
      const text = chunk(`now ${count}`, { count, obfuscation: "abc" });
      expect(json.parse(text)).to.equal(known).and.to.have.nested.property("choices[0].delta.content", `now ${count}`);
    }
  });

  it("gives nothing for what is no JSON, also where a template would fit", () => {
    const json = pastStart(changing);
    for (const piece of ["one", "two", "three"]) json.parse(chunk(piece));
    for (const bad of ["a\nb", "\u0001", '\\x"', "\\", '\\u12"', 'a"b']) {
      expect(json.parse(chunk("HERE").replace("HERE", () => bad)), bad).to.equal(undefined);
    }
    for (const bad of ["01", "1.5x", "-", ""]) {
      const text = chunk("x", { count: 5 }).replace(":5", `:${bad}`);
      expect(json.parse(text), text).to.equal(undefined);
    }
  });

  it("does not take a key inside a string, or one that comes twice, for the one it reads", () => {
    const json = pastStart(changing);
    const texts = [1, 2, 3].flatMap((i) => [
      `{"note":"\\"content\\":\\"x${i}","choices":[{"delta":{"content":"a${i}"}}]}`,
      `{"content":"top${i}","choices":[{"delta":{"content":"b${i}"}}]}`,
      `{"choices":[{"delta":{"content":"first${i}","content":"last${i}"}}]}`,
      `{"choices":[{"delta":{"content":"c${i}"}},{"delta":{"content":"d${i}"}}]}`,
    ]);
    for (const text of texts) expect(json.parse(text)).to.deep.equal(JSON.parse(text));
  });

  it("shares no object that its reader might keep", () => {
    const json = pastStart(changing);
    const text = (piece: string) => chunk(piece, { citations: [{ url: "https://example.com" }] });
    const first = json.parse(text("one"));
    const second = json.parse(text("two"));
    expect(second).to.not.equal(first);
    expect(json.parse(text("three"))).to.not.equal(second);
  });

  it("gives what JSON.parse gives for any text, however it was changed", () => {
    const texts = [
      chunk("Hello"),
      chunk('a "quoted" one'),
      chunk("x", { obfuscation: "pad", count: 12 }),
      fragment('{"a":'),
    ];
    const change = fc.record({
      of: fc.constantFrom(...texts),
      at: fc.nat(160),
      cut: fc.nat(4),
      put: fc.oneof(fc.constantFrom('"', "\\", ",", "}", "{", "\n", "0", "\\u00e9", '":"', " "), fc.string()),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const json = pastStart(varying(changing.filter((v) => !v.skipped).map((v) => v.path)));
        for (const text of texts) expect(json.parse(text)).to.deep.equal(JSON.parse(text));
        for (const { of, at, cut, put } of changes) {
          const text = of.slice(0, at) + put + of.slice(at + cut);
          expect(json.parse(text), text).to.deep.equal(parsed(text));
        }
      }),
      { numRuns: 500 },
    );
  });

  it("finds invalid what JSON.parse does, wherever a text was changed, when values are skipped that repeat, change or alternate", () => {
    const skipping = varying([["choices", 0, "delta", "content"]], [["id"], ["created"], ["pad"]]);
    const whole = (id: string, created: number, content: string, pad: string): string =>
      JSON.stringify({ id, created, model: "m", choices: [{ index: 0, delta: { content } }], pad });
    const step = fc.record({
      id: fc.constantFrom("chatcmpl-1", "chatcmpl-2", 'c"\\', ""),
      created: fc.constantFrom(1, 1_790_000_000, 1_790_000_001),
      content: fc.oneof(fc.constantFrom(" a", " rather a long piece of text", '"', "\t"), fc.string()),
      pad: fc.oneof(fc.constantFrom("x", "xy", "a pad of more than twelve"), fc.string()),
      at: fc.nat(160),
      put: fc.option(fc.constantFrom('"', "\\", ",", "}", "\n", "\u0001", "0", "x", " ")),
    });
    const contentOf = (value: unknown): unknown =>
      (value as { choices?: { delta?: { content?: unknown } }[] })?.choices?.[0]?.delta?.content;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), (steps, shared) => {
        const forms = shared ? new SharedForms() : undefined;
        const streams = [pastStart(skipping, forms), pastStart(skipping, forms)];
        for (const [n, { id, created, content, pad, at, put }] of steps.entries()) {
          const plain = whole(id, created, content, pad);
          const text = put === null ? plain : plain.slice(0, at) + put + plain.slice(at + 1);
          const json = streams[n % 2] as RepeatedJson;
          const [found, expected] = [json.parse(text), parsed(text)];
          expect(found === undefined, text).to.equal(expected === undefined);
          expect(contentOf(found), text).to.deep.equal(contentOf(expected));
        }
      }),
      { numRuns: 500 },
    );
  });

  it("reads the texts of the next stream by the forms of the last", () => {
    const forms = new SharedForms();
    const first = pastStart(changing, forms);
    for (const piece of ["one", "two", "three"]) first.parse(chunk(piece, { obfuscation: "pad" }));
    const second = pastStart(changing, forms);
    const text = chunk("four", { obfuscation: "other" });
    expect(second.parse(text)).to.have.nested.property("choices[0].delta.content", "four");
    expect(second.parse(text)).to.equal(first.parse(text));
    expect(pastStart(changing).parse(text)).to.not.equal(first.parse(text));
  });

  it("keeps the streams apart that share their forms", () => {
    const forms = new SharedForms();
    const streams = Array.from({ length: 20 }, (_, i) => ({
      json: pastStart(changing, forms),
      name: `model-${i}`,
    }));
    for (let round = 0; round < 6; round++) {
      for (const { json, name } of streams) {
        const text = chunk(`${name} says ${round}`, { model: name });
        expect(json.parse(text)).to.deep.equal(JSON.parse(text));
      }
    }
  });

  it("gives up learning from texts that are never alike", () => {
    const json = pastStart(changing);
    const texts = Array.from({ length: 20 }, (_, i) => chunk(`${i}`, { [`key${i}`]: i }));
    for (const text of texts) json.parse(text);
    const alike = json.parse(chunk("a", { last: 1 }));
    expect(json.parse(chunk("b", { last: 1 }))).to.not.equal(alike);
    expect(alike).to.have.nested.property("choices[0].delta.content", "a");
  });
});
