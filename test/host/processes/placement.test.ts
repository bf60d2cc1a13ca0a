import { expect } from "chai";
import fc from "fast-check";
import { Packing, shareOf } from "../../../src/host/processes/placement.ts";

interface Process {
  readonly number: number;
  load: number;
  reportedAt: number;
  takes: boolean;
}

/** A service whose clock is ours; every process reports each half second, unless it is blocked. */
class Service {
  now = 0;
  readonly #packing = new Packing(() => this.now);
  readonly blocked = new Set<Process>();
  ready: Process[];

  constructor(count: number) {
    this.ready = Array.from({ length: count }, (_, index) => ({
      number: index + 1,
      load: 0,
      reportedAt: 0,
      takes: true,
    }));
  }

  get taking(): number[] {
    const taking = this.#packing.among(this.ready);
    for (const each of this.ready) {
      if (taking.has(each) && !each.takes) each.reportedAt = this.now;
      each.takes = taking.has(each);
    }
    return [...taking].map(({ number }) => number);
  }

  /** What took connections after each half second. */
  pass(ms: number): number[] {
    for (const until = this.now + ms; this.now < until; ) {
      this.now += 500;
      for (const each of this.ready) if (!this.blocked.has(each)) each.reportedAt = this.now;
      this.taking;
    }
    return this.taking;
  }

  load(...loads: number[]): void {
    for (const [index, load] of loads.entries()) {
      const each = this.ready[index];
      if (each !== undefined) each.load = load;
    }
  }
}

describe("packed processes", () => {
  it("are as many as the load needs, one more at a time, and full ones wait while another has room", () => {
    const service = new Service(3);
    expect(service.pass(2_000)).to.deep.equal([1]);
    service.load(0.9);
    expect(service.pass(500)).to.deep.equal([2]);
    expect(service.pass(2_000)).to.deep.equal([2]);
    service.load(0.9, 0.9);
    expect(service.pass(500)).to.deep.equal([3]);
    service.load(0.9, 0.9, 0.9);
    expect(service.pass(5_000)).to.deep.equal([1, 2, 3]);
    service.load(0.9, 0.7, 0.9);
    expect(service.pass(5_000)).to.deep.equal([2]);
  });

  it("take connections again although they report nothing while they are idle and take none", () => {
    const service = new Service(2);
    const [first] = service.ready;
    service.load(0.9);
    service.pass(500);
    service.load(0, 0.7);
    if (first !== undefined) service.blocked.add(first);
    expect(service.pass(500)).to.deep.equal([1, 2]);
  });

  it("become fewer only after ten calm seconds, and a busy moment begins them anew", () => {
    const service = new Service(2);
    service.load(0.9);
    service.pass(500);
    service.load(0.3, 0.2);
    expect(service.pass(9_000)).to.deep.equal([1, 2]);
    service.load(0.5, 0.2);
    service.pass(500);
    service.load(0.3, 0.2);
    expect(service.pass(9_000)).to.deep.equal([1, 2]);
    expect(service.pass(2_000)).to.deep.equal([1]);
  });

  it("are helped by the next one while they are blocked", () => {
    const service = new Service(3);
    const [first] = service.ready;
    service.load(0.3);
    service.pass(500);
    if (first !== undefined) service.blocked.add(first);
    expect(service.pass(1_000)).to.deep.equal([2]);
    expect(service.pass(5_000)).to.deep.equal([2]);
  });

  it("are replaced at once when they end", () => {
    const service = new Service(3);
    service.pass(2_000);
    service.ready = service.ready.slice(1);
    expect(service.taking).to.deep.equal([2]);
  });

  it("are never none while one is ready, nor more than are ready, whatever they report", () => {
    const step = fc.record({
      after: fc.nat(4_000),
      loads: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 4, maxLength: 4 }),
      ready: fc.subarray([0, 1, 2, 3]),
      silent: fc.subarray([0, 1, 2, 3]),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const service = new Service(4);
        const all = service.ready;
        for (const { after, loads, ready, silent } of steps) {
          service.now += after;
          for (const [index, each] of all.entries()) {
            each.load = loads[index] ?? 0;
            if (!silent.includes(index)) each.reportedAt = service.now;
          }
          service.ready = all.filter((_, index) => ready.includes(index));
          const { taking } = service;
          expect(taking.length).to.be.within(Math.min(1, ready.length), ready.length);
          const reported = service.ready.filter((each) => !silent.includes(all.indexOf(each)));
          const isRoomy = reported.some(({ load, number }) => load < 0.8 && taking.includes(number));
          for (const { load, number } of service.ready)
            if (isRoomy && load >= 0.8) expect(taking).to.not.include(number);
        }
      }),
    );
  });
});

describe("a process's share of the connections", () => {
  const process = (connections: number, load = 0, takes = true) => ({ connections, load, takes });
  const share = (...[first, ...others]: ReturnType<typeof process>[]) =>
    first === undefined ? undefined : shareOf(first, [first, ...others]);

  it("is a little more than the mean of those that take any", () => {
    expect(share(process(28), process(4))).to.equal(undefined);
    expect(share(process(40), process(0))).to.equal(33);
    expect(share(process(40), process(0, 0, false))).to.equal(undefined);
    expect(share(process(5, 0, false), process(5))).to.equal(0);
  });

  it("drops by a quarter while the process is full and another has room, even from one to none", () => {
    expect(share(process(8, 0.9), process(0))).to.equal(6);
    expect(share(process(2, 1), process(0, 0.1))).to.equal(1);
    expect(share(process(1, 1), process(0))).to.equal(0);
    expect(share(process(8, 0.9, false), process(0))).to.equal(6);
    expect(share(process(8, 0.9), process(0, 0.7))).to.equal(undefined);
    expect(share(process(8, 0.7), process(0))).to.equal(undefined);
    expect(share(process(8, 0.9), process(0, 0, false))).to.equal(undefined);
  });

  it("never grows what is there", () => {
    const one = fc.record({
      connections: fc.nat(2_000),
      load: fc.double({ min: 0, max: 1, noNaN: true }),
      takes: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(one, { minLength: 1, maxLength: 5 }), (all) => {
        const [first] = all;
        const found = first && shareOf(first, all);
        if (first === undefined || found === undefined) return;
        if (first.connections > 0) expect(found).to.be.below(first.connections);
      }),
    );
  });
});
