import { expect } from "chai";
import { tellResults } from "../../../../plugins/simulator/model/tell.ts";

const told = (name: string, text: string, args: Record<string, unknown> = {}) =>
  tellResults([{ id: "1", name, text, call: { id: "1", name, arguments: args } }]);

const cases: [string, [string, string, Record<string, unknown>?], string][] = [
  ["a time as a sentence", ["clock", '{"iso":"2026-01-01","human":"Thursday, noon"}'], "It is Thursday, noon."],
  [
    "a result after its expression",
    ["calculator", '{"expression":"2+2","result":4}', { expression: "2+2" }],
    "2+2 = 4.",
  ],
  ["plain text as it is", ["read_file", "hello", { path: "a.md" }], "read_file (a.md): hello."],
  [
    "objects by their names and facts",
    ["list", '{"entries":[{"path":"a.md","size":3},{"path":"b.md","size":4}],"truncated":false}'],
    "list: a.md (size 3); b.md (size 4).",
  ],
  ["a failure as one", ["shell", "tool_failed: it is off"], "The shell tool could not do it: tool_failed: it is off."],
  ["nothing as nothing", ["notify", ""], "The notify tool is done; it had nothing to say."],
  ["broken JSON as text", ["odd", "{not json"], "odd: {not json."],
];

describe("how the built-in model tells what tools answered", () => {
  for (const [fact, [name, text, args], sentence] of cases) {
    it(`tells ${fact}`, () => {
      expect(told(name, text, args)).to.equal(sentence);
    });
  }

  it("cuts what is too long to read", () => {
    expect(told("read", "x".repeat(5000))).to.have.length.lessThan(700);
  });
});
