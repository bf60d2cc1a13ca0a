import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { PolledStream, polled } from "../../src/core/ports/polled-stream.ts";

async function* numbers(count: number): AsyncGenerator<number> {
  for (let number = 1; number <= count; number++) {
    await sleep(1);
    yield number;
  }
}

async function collected<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of stream) all.push(each);
  return all;
}

/** Doubles what it reads; passes waits on. */
class Doubled extends PolledStream<number> {
  readonly #inner: PolledStream<number>;
  constructor(inner: PolledStream<number>) {
    super();
    this.#inner = inner;
  }
  poll() {
    const step = this.#inner.poll();
    return step === undefined || step.done ? step : { done: false as const, value: step.value * 2 };
  }
  arrival() {
    return this.#inner.arrival();
  }
  return() {
    return this.#inner.return();
  }
}

describe("a polled stream", () => {
  it("iterates like any other, through a chain of wrappers too", async () => {
    expect(await collected(new Doubled(new Doubled(polled(numbers(5)))))).to.deep.equal([4, 8, 12, 16, 20]);
  });

  it("is not wrapped again", () => {
    const stream = new Doubled(polled(numbers(1)));
    expect(polled(stream)).to.equal(stream);
  });

  it("gives reads that overlap their values in order, and the end to the rest", async () => {
    const stream = new Doubled(polled(numbers(3)));
    const steps = await Promise.all(Array.from({ length: 5 }, () => stream.next()));
    expect(steps.map(({ value }) => value)).to.deep.equal([2, 4, 6, undefined, undefined]);
  });

  it("throws what its source throws, after everything before it", async () => {
    const failing = (async function* () {
      yield 1;
      throw new Error("cut");
    })();
    const stream = polled(failing);
    expect(await stream.next()).to.deep.equal({ done: false, value: 1 });
    expect(await stream.next().catch((error: Error) => error.message)).to.equal("cut");
  });

  it("fails as soon as the signal aborts, though its source ignores that", async () => {
    const never: AsyncIterable<number> = { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) };
    const controller = new AbortController();
    const stream = polled(never, controller.signal);
    const read = stream.next().catch((error: Error) => error.message);
    controller.abort(new Error("enough"));
    expect(await read).to.equal("enough");
  });

  it("has its source closed when it is left", async () => {
    let closed = false;
    const source = (async function* () {
      try {
        for (;;) yield 1;
      } finally {
        closed = true;
      }
    })();
    for await (const _ of new Doubled(polled(source))) break;
    expect(closed).to.equal(true);
  });
});
