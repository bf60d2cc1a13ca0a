import { expect } from "chai";
import { keepFairShare } from "../../../src/host/processes/fair-share.ts";
import type { Siblings } from "../../../src/host/processes/siblings.ts";

/** A process whose connections are opened here, and what it reports. */
class Process {
  readonly loads: number[] = [];
  readonly connections = { count: 0, opened: 0, onOpened: () => {}, mostKept: 0 };

  constructor(runs = 0, mostRuns = 2_000) {
    const siblings = {
      taking: true,
      share: async (_: number, load: number) => void this.loads.push(load),
    };
    keepFairShare(this.connections, siblings as unknown as Siblings, () => ({ runs, mostRuns, memory: 0 }));
  }

  open(count: number): void {
    for (let each = 0; each < count; each++) {
      this.connections.count++;
      this.connections.opened++;
      this.connections.onOpened();
    }
  }
}

describe("a process's report of its load", () => {
  it("comes at once in a burst of connections, which are a full load before theirs shows", () => {
    const process = new Process();
    process.open(39);
    expect(process.loads).to.deep.equal([]);
    process.open(161);
    expect(process.loads).to.deep.equal([0.2, 0.4, 0.6, 0.8, 1]);
  });

  it("counts those that have closed again no more, and runs beside them", () => {
    const process = new Process(400);
    process.open(30);
    process.connections.count = 5;
    process.open(10);
    expect(process.loads).to.deep.equal([0.8]);
  });

  it("is full when it has as many runs as it may have, and begins to be while they arrive", () => {
    const process = new Process(4, 10);
    process.open(9);
    expect(process.loads).to.deep.equal([0.4, 0.4, 0.6, 0.8]);
  });
});
