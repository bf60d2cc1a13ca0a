import { expect } from "chai";
import type { Delta } from "../../src/core/model/deltas.ts";
import type { Wire } from "../../src/core/ports/plugin.ts";
import { Pipeline } from "../../src/provider/decode.ts";
import { bytesOf, pieces } from "./decoding.ts";

const wire: Wire = {
  framing: "sse",
  decoder: () => ({
    push: (frame, out) => out.push({ type: "text", text: frame.data }),
    end: (out) => out.push({ type: "done", finish: "stop" }),
    quirks: new Map(),
  }),
};

function sizesOf(reads: readonly Uint8Array[]): number[] {
  const sizes: number[] = [];
  const observer = { chunk: (_kind: string, bytes: number) => sizes.push(bytes), accumulated() {}, quirk() {} };
  const pipeline = new Pipeline("provider.stream", wire, { observer });
  const deltas: Delta[] = [];
  for (const read of reads) pipeline.push(read, deltas);
  pipeline.end(deltas);
  return sizes;
}

describe("the bytes of a chunk", () => {
  const texts = ["plain", "naïve", "plain again", "😀", "", "two\nlines", "zwei\nZeilen für", "last"];
  const body = texts.map((text) => `${text.replaceAll(/^/gm, "data: ")}\n\n`).join("");
  const sizes = texts.map((text) => Buffer.byteLength(text));

  it("are those of its data in UTF-8, however it is cut", () => {
    expect(sizesOf([Buffer.from(body)])).to.deep.equal(sizes);
    expect(sizesOf(bytesOf(body))).to.deep.equal(sizes);
    for (let size = 2; size < 40; size++) {
      expect(sizesOf(pieces(Buffer.from(body), [size, 1, size + 3])), `cut at ${size}`).to.deep.equal(sizes);
    }
  });
});
