import { expect } from "chai";
import fc from "fast-check";
import { RunTimes } from "../../src/core/run/run-times.ts";
import { timeParts, type Waited } from "../../src/core/run/time-parts.ts";

const at = (at: number, type: string, rest: object = {}) => ({ type, at, ...rest });
const totals = (times: RunTimes) => Object.fromEntries(Object.entries(times.totals()).filter(([, ms]) => ms > 0));
const begun = [at(0, "run.started"), at(0, "round.started", { model: "a/m" })];

describe("a run's times", () => {
  it("are charged to who the run was waiting for, between any two events", () => {
    const events = [
      at(1_000, "run.started", { waited: [{ for: "queue", name: "run_0", from: 400, ms: 600 }] }),
      at(1_010, "round.started", { model: "a/m" }),
      at(1_300, "generation.failed", { model: "a/m", retryMs: 500 }),
      at(1_810, "round.started", { model: "a/m" }),
      at(1_900, "text.delta"),
      at(2_000, "text.delta"),
      at(3_000, "text.delta"),
      at(3_100, "generation.finished"),
      at(3_100, "tool.started", { call: "c", name: "look" }),
      at(4_100, "tool.finished", { call: "c" }),
      at(4_100, "approval.requested", { call: "d", name: "pay" }),
      at(9_100, "approval.resolved", { call: "d" }),
      at(9_110, "run.finished"),
    ];
    expect(totals(RunTimes.of(events))).to.deep.equal({
      queue: 600,
      runtime: 20,
      failedAttempt: 290,
      backoff: 510,
      providerWait: 90,
      providerStream: 200,
      providerStall: 1_000,
      tool: 1_000,
      approval: 5_000,
    });
  });

  it("of a generation that was cancelled are its own, not those of a failed attempt", () => {
    const error = { code: "stream_interrupted" };
    const events = [...begun, at(40, "text.delta"), at(100, "generation.failed", { error }), at(100, "run.failed")];
    expect(totals(RunTimes.of(events))).to.deep.equal({ providerWait: 40, providerStream: 60 });
  });

  it("of a person's answer after a crash are the person's: the tool died with its worker", () => {
    const events = [
      ...begun,
      at(100, "generation.finished"),
      at(100, "tool.started", { call: "c", name: "pay" }),
      at(3_100, "run.resumed", { waited: [{ for: "down", from: 1_100, ms: 2_000 }] }),
      at(3_100, "approval.requested", { call: "c", name: "pay" }),
      at(43_100, "approval.resolved", { call: "c" }),
      at(43_100, "tool.started", { call: "c", name: "pay" }),
      at(44_100, "tool.finished", { call: "c" }),
      at(44_100, "run.finished"),
    ];
    expect(totals(RunTimes.of(events))).to.deep.equal({
      providerWait: 100,
      tool: 2_000,
      down: 2_000,
      approval: 40_000,
    });
  });

  it("of a model that is slow with each delta are no stalls", () => {
    const deltas = [1, 2, 3, 4].map((second) => at(second * 1_000, "text.delta"));
    const times = RunTimes.of([...begun, ...deltas, at(5_000, "generation.finished")]);
    expect(totals(times)).to.deep.equal({ providerWait: 1_000, providerStream: 4_000 });
  });

  it("add up, without gaps, whatever the events and the waits on them", () => {
    const types = ["run.started", "round.started", "text.delta", "generation.finished", "generation.failed"];
    const more = ["tool.started", "tool.finished", "approval.requested", "approval.resolved", "run.resumed"];
    const wait: fc.Arbitrary<Waited> = fc.record({
      for: fc.constantFrom(...timeParts),
      from: fc.integer({ min: 0, max: 9_000 }),
      ms: fc.nat(3_000),
    });
    const event = fc.record({
      type: fc.constantFrom(...types, ...more),
      at: fc.integer({ min: 0, max: 10_000 }),
      call: fc.constantFrom("c", "d", "c.1"),
      name: fc.constantFrom("look", "pay"),
      model: fc.constantFrom("a/m", "b/m"),
      waited: fc.array(wait, { maxLength: 2 }),
    });
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 30 }), fc.nat(30), (events, cut) => {
        const times = new RunTimes();
        for (const each of events.slice(0, cut)) times.take(each);
        const copy = times.copy();
        for (const each of events.slice(cut)) {
          times.take(each);
          copy.take(each);
        }
        const sum = Object.values(times.totals()).reduce((total, ms) => total + ms, 0);
        expect(sum).to.equal(times.at - times.from);
        expect(copy.segments).to.deep.equal(times.segments);
        for (const [index, { from, to }] of times.segments.entries()) {
          expect(to).to.be.greaterThan(from);
          if (index > 0) expect(from).to.equal(times.segments[index - 1]?.to);
        }
      }),
    );
  });

  it("are the same when their owner only counts text that comes soon", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(900), { minLength: 1, maxLength: 30 }), (gaps) => {
        const [whole, counted] = [RunTimes.of(begun), RunTimes.of(begun)];
        let now = 0;
        for (const gap of gaps) {
          now += gap;
          whole.take(at(now, "text.delta"));
          if (counted.streaming && now - counted.at < 700) {
            counted.deltas += 1;
            counted.at = now;
          } else counted.take(at(now, "text.delta"));
        }
        for (const times of [whole, counted]) times.take(at(now + 10, "generation.finished"));
        expect(counted.segments).to.deep.equal(whole.segments);
      }),
    );
  });
});
