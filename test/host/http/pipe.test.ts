import { once } from "node:events";
import { expect } from "chai";
import { Pipe } from "../../../src/host/http/pipe.ts";

describe("a connection within the process", () => {
  it("applies backpressure to the writer, and reports pending bytes", async () => {
    const [one, other] = Pipe.pair();
    const piece = Buffer.alloc(64 * 1024);
    let written = 0;
    const write = () => one.write(piece, () => written++);
    for (let n = 0; n < 64; n++) write();
    await new Promise((resolve) => setImmediate(resolve));
    expect(written).to.be.below(3);
    expect(one.writableLength).to.be.greaterThan(60 * piece.length);
    expect(one.bytesWritten).to.equal(64 * piece.length);
    let read = 0;
    other.on("data", (chunk: Buffer) => {
      read += chunk.length;
    });
    one.end();
    await once(other, "end");
    expect([read, one.writableLength]).to.deep.equal([64 * piece.length, 0]);
  });

  it("an end leaves what was written to be read; a broken side breaks the other", async () => {
    const [one, other] = Pipe.pair();
    one.end("last words", () => one.destroy());
    await once(one, "close");
    expect(other.destroyed).to.equal(false);
    expect((await other.toArray()).toString()).to.equal("last words");
    const [left, right] = Pipe.pair();
    left.write("half");
    left.destroy();
    await once(right, "close");
    expect(right.destroyed).to.equal(true);
  });
});
