import { expect } from "chai";
import { polled } from "../../../src/core/ports/polled-stream.ts";
import type { RunEvent } from "../../../src/core/run/events.ts";
import { BackpressureGate, PacedLog, PacedStream } from "../../../src/host/runs/backpressure.ts";

const event = (seq: number): RunEvent => ({ type: "text.delta", run: "r", seq, at: 0, round: 1, text: "x" });

describe("a run's pace", () => {
  it("is set by its first reader alone", () => {
    const pace = new BackpressureGate();
    expect([pace.take(), pace.take()]).to.deep.equal([true, false]);
  });

  it("holds the run back when the reader is 256 events behind, until it has caught up or left", async () => {
    const pace = new BackpressureGate();
    const batches = (async function* () {
      for (let seq = 1; seq <= 300; seq += 100) yield Array.from({ length: 100 }, (_, index) => event(seq + index));
    })();
    const reader = new PacedStream(polled(batches), pace, () => {});
    for (let seq = 1; seq <= 255; seq++) pace.wrote(event(seq));
    expect(pace.gate()).to.equal(undefined);
    for (let seq = 256; seq <= 300; seq++) pace.wrote(event(seq));
    const held = pace.gate();
    expect(held).to.be.instanceOf(Promise);
    await reader.next();
    await reader.next(); // the first hundred are read
    await held;
    expect(pace.gate()).to.equal(undefined);
    for (let seq = 301; seq <= 600; seq++) pace.wrote(event(seq));
    const again = pace.gate();
    await reader.return();
    await again;
    expect(pace.gate()).to.equal(undefined);
  });

  it("holds the run back when the reader is a million characters behind, until it has read them", async () => {
    const pace = new BackpressureGate();
    const long = { ...event(1), text: "x".repeat(2 ** 20) } as RunEvent;
    for (const _ of [1, 2]) {
      pace.wrote(long);
      const held = pace.gate();
      expect(held).to.be.instanceOf(Promise);
      pace.consumed(1, 2 ** 20);
      await held;
      expect(pace.gate()).to.equal(undefined);
    }
  });

  it("knows when the run was parked, which its log does", async () => {
    const pace = new BackpressureGate();
    const parks: unknown[] = [];
    const log = new PacedLog({ park: async (...words: unknown[]) => void parks.push(words) } as never, pace);
    expect(pace.parked).to.equal(false);
    await log.park(3, 7);
    expect([parks, pace.parked]).to.deep.equal([[[3, 7]], true]);
  });
});
