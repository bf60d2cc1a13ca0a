import { expect } from "chai";
import { ReadBuffer } from "../../src/provider/http/reads.ts";
import { readSome } from "../../src/provider/http/whole-body.ts";

describe("the whole body of an answer", () => {
  it("is what arrived, also in several pieces at a time: what one take gave is overwritten by the next", async () => {
    const reads = new ReadBuffer({ pause() {}, resume() {} }, () => {});
    const push = (...pieces: string[]) => {
      for (const piece of pieces) reads.push(Buffer.from(piece));
    };
    push("one ", "two ");
    const body = readSome(reads, 1_000);
    push("three ", "four ");
    await new Promise(setImmediate);
    push("five ", "six");
    reads.end();
    expect((await body).toString()).to.equal("one two three four five six");
  });
});
