import { expect } from "chai";
import fc from "fast-check";
import { ReadBuffer } from "../../src/provider/http/reads.ts";

/** A socket whose bytes are numbered, so that a lost, repeated or foreign one shows. It holds back what comes while it is paused. */
class Upstream {
  readonly reads = new ReadBuffer(this, () => {});
  readonly sent: Buffer[] = [];
  readonly taken: Buffer[] = [];
  readonly #held: Buffer[] = [];
  #paused = false;
  #next: number;

  constructor(first: number) {
    this.#next = first;
  }

  pause(): void {
    this.#paused = true;
  }

  /** As undici does: what it held comes before `resume` returns. */
  resume(): void {
    this.#paused = false;
    while (!this.#paused) {
      const piece = this.#held.shift();
      if (piece === undefined) return;
      this.reads.push(piece);
    }
  }

  send(length: number): void {
    const piece = Buffer.alloc(length);
    for (let at = 0; at < length; at++) piece[at] = this.#next++ % 251;
    this.sent.push(Buffer.from(piece));
    if (this.#paused) this.#held.push(piece);
    else this.reads.push(piece);
    if (!this.#paused) piece.fill(0); // The socket's buffer is used again.
  }

  take(): void {
    const read = this.reads.take();
    if (read !== undefined) this.taken.push(Buffer.from(read));
  }

  /** Nothing of it may stay behind for the next test: all streams share one buffer. */
  drain(): void {
    for (let before = -1; before !== this.taken.length; ) {
      before = this.taken.length;
      this.take();
    }
  }
}

const length = fc.oneof(
  fc.integer({ min: 0, max: 40 }),
  fc.integer({ min: 0, max: 9_000 }),
  fc.integer({ min: 60_000, max: 200_000 }),
);
const step = fc.record({ who: fc.nat(3), what: fc.oneof(length, fc.constant("take" as const)) });

describe("bytes that wait until they are decoded", () => {
  it("reach each stream whole and in order, however streams come in between, fill the room and pause", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const streams = [0, 60, 120, 180].map((first) => new Upstream(first));
        for (const { who, what } of steps) {
          if (what === "take") streams[who]?.take();
          else streams[who]?.send(what);
        }
        for (const stream of streams) stream.drain();
        for (const { taken, sent } of streams) expect(Buffer.concat(taken).equals(Buffer.concat(sent))).to.equal(true);
      }),
      { numRuns: 300 },
    );
  });

  it("are gone when the stream is dropped or discarded, and cost the others nothing", () => {
    const [left, kept] = [new Upstream(0), new Upstream(100)];
    left.send(1_000);
    kept.send(1_000);
    left.reads.drop();
    expect(left.reads.take()).to.equal(undefined);
    left.reads.discard();
    left.send(100_000);
    kept.send(70_000);
    kept.drain();
    expect(left.reads.take()).to.equal(undefined);
    expect(Buffer.concat(kept.taken).equals(Buffer.concat(kept.sent))).to.equal(true);
  });

  it("come before the error that ended the stream", () => {
    const stream = new Upstream(0);
    stream.send(10);
    stream.reads.end(new Error("cut"));
    stream.take();
    expect(Buffer.concat(stream.taken).equals(Buffer.concat(stream.sent))).to.equal(true);
    expect(() => stream.reads.take()).to.throw("cut");
  });
});
