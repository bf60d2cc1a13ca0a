import { expect } from "chai";
import { Lines } from "../../../plugins/shell/output.ts";

describe("the lines of a command", () => {
  const told = (most: number, ...chunks: (string | Buffer)[]): string[] => {
    const seen: string[] = [];
    const lines = new Lines(most, (text) => seen.push(text));
    for (const chunk of chunks) lines.push(Buffer.from(chunk));
    lines.end();
    return seen;
  };

  it("are reported whole, those of one read together, and the rest at the end", () => {
    expect(told(100, "a", "b\nc\nd", "e\n", "f")).to.deep.equal(["ab\nc\n", "de\n", "f"]);
    expect(told(100)).to.deep.equal([]);
    expect(told(100, "a\n")).to.deep.equal(["a\n"]);
  });

  it("keep a character that two reads share", () => {
    const bytes = Buffer.from("é\n");
    expect(told(100, bytes.subarray(0, 1), bytes.subarray(1))).to.deep.equal(["é\n"]);
  });

  it("end where there is no more room, in the middle of one if need be", () => {
    expect(told(4, "ab\ncd\n", "ef\n")).to.deep.equal(["ab\nc"]);
    expect(told(3, "ab\n", "cd\n")).to.deep.equal(["ab\n"]);
    expect(told(0, "ab\n")).to.deep.equal([]);
  });

  it("are reported in parts when they are very long", () => {
    expect(told(100_000, "x".repeat(8_192), "y", "z\n").map(({ length }) => length)).to.deep.equal([8_193, 2]);
  });
});
