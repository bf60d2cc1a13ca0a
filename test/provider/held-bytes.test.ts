import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import { HeldBytes } from "../../src/provider/frames/held-bytes.ts";

const bytes = (text: string) => Buffer.from(text);

/** Bytes of ArrayBuffers allocated while `work` runs. Synchronous, so that nothing else allocates meanwhile. */
function allocated(work: () => void): number {
  const sizes: number[] = [];
  const { allocUnsafeSlow } = Buffer;
  Buffer.allocUnsafeSlow = (size) => {
    sizes.push(size);
    return allocUnsafeSlow(size);
  };
  try {
    work();
  } finally {
    Buffer.allocUnsafeSlow = allocUnsafeSlow;
  }
  return sizes.reduce((sum, size) => sum + size, 0);
}

describe("bytes held until the rest arrives", () => {
  it("come out in order, with what is added last, whatever the pieces", () => {
    const held = new HeldBytes(10_000);
    expect(held.take(bytes("alone"))).to.equal("alone");
    let wanted = "";
    for (const length of [1, 1_000, 3, 1, 2_000, 1]) {
      const piece = String.fromCharCode(97 + (length % 26)).repeat(length);
      held.append(bytes(piece));
      wanted += piece;
      expect(held.length).to.equal(wanted.length);
    }
    expect(held.take(bytes("é"))).to.equal(`${wanted}é`);
    expect(held.length).to.equal(0);
    expect(held.take(bytes(""))).to.equal("");
  });

  it("are refused past the limit and taken up to it", () => {
    const held = new HeldBytes(10);
    held.append(bytes("1234"));
    held.append(bytes("567890"));
    expect(() => held.append(bytes("1")))
      .to.throw(VenturiError, /^one event is larger than 10 bytes/)
      .that.deep.includes({ op: "stream.frame", code: "too_large", details: { limit: 10 } });
    expect(held.take(bytes(""))).to.equal("1234567890");
  });

  it("grow by doubling, so that many small pieces cost a constant each", () => {
    const held = new HeldBytes(1 << 20);
    const total = allocated(() => {
      for (let piece = 0; piece < 10_000; piece++) held.append(bytes("1234567890"));
    });
    expect(total).to.be.within(100_000, 400_000);
    expect(held.take(bytes(""))).to.have.length(100_000);
  });

  it("keep their room for the next event, unless it grew past a mebibyte", () => {
    for (const [size, again] of [
      [1 << 19, false],
      [1 << 20, false],
      [(1 << 20) + 1, true],
    ] as const) {
      const held = new HeldBytes(1 << 22);
      held.take(Buffer.alloc(size));
      expect(allocated(() => held.take(Buffer.alloc(size))) > 0, `${size} bytes`).to.equal(again);
    }
  });
});
