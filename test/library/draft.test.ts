import { expect } from "chai";
import fc from "fast-check";
import { DraftParser } from "../../src/library/draft.ts";
import { cpuTime } from "../cpu-time.ts";

const pushed = (text: string, size: number): DraftParser => {
  const parser = new DraftParser();
  for (let at = 0; at < text.length; at += size) parser.push(text.slice(at, at + size));
  return parser;
};

describe("partial objects", () => {
  it("are the object once the text is complete, however it was split", () => {
    const json = fc.jsonValue({ maxDepth: 4 }).filter((value) => typeof value === "object" && value !== null);
    fc.assert(
      fc.property(
        json,
        fc.integer({ min: 1, max: 7 }),
        fc.constantFrom("", "```json\n", "  "),
        (value, size, before) => {
          const text = before + JSON.stringify(value, null, size % 3);
          expect(pushed(text, size).root).to.deep.equal(JSON.parse(text.slice(before.length)));
        },
      ),
    );
  });

  it("show strings as they grow, and numbers and literals only when they are complete", () => {
    const parser = new DraftParser();
    const seen: string[] = [];
    for (const piece of ['{"na', 'me":"A', "d\\u00", 'e9"', ',"n":1', "2", ',"ok":tr', "ue", ',"list":[1', ",", '"x']) {
      parser.push(piece);
      seen.push(JSON.stringify(parser.root));
    }
    expect(seen).to.deep.equal([
      "{}",
      '{"name":"A"}',
      '{"name":"Ad"}',
      '{"name":"Adé"}',
      '{"name":"Adé"}',
      '{"name":"Adé"}',
      '{"name":"Adé","n":12}',
      '{"name":"Adé","n":12}',
      '{"name":"Adé","n":12,"ok":true,"list":[]}',
      '{"name":"Adé","n":12,"ok":true,"list":[1]}',
      '{"name":"Adé","n":12,"ok":true,"list":[1,"x"]}',
    ]);
  });

  it("of text that is no JSON there are none, and a key of the prototype is a key", () => {
    expect(pushed("Let me look at {this}", 3).root).to.equal(undefined);
    expect(pushed('{"a": wrong, "b": 1}', 4).root).to.deep.equal({});
    const { root } = pushed('{"__proto__":{"polluted":1}}', 5);
    expect(Object.keys(root as object)).to.deep.equal(["__proto__"]);
    expect(({} as { polluted?: number }).polluted).to.equal(undefined);
    expect(pushed("[".repeat(10_000), 64).root).to.be.an("array");
  });

  it("take time linear in the text: a string of 4 MB in pieces of 8", () => {
    const time = (length: number): number => {
      const text = `{"text":"${"x".repeat(length)}"}`;
      return cpuTime(() => pushed(text, 8));
    };
    time(100_000);
    const small = Math.min(time(500_000), time(500_000), time(500_000));
    const large = Math.min(time(4_000_000), time(4_000_000));
    expect(large / small).to.be.below(24); // 8 when linear, 64 when quadratic
  });
});
