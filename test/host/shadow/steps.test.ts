import { expect } from "chai";
import type { RunEvent } from "../../../src/core/run/events.ts";
import { valueSize } from "../../../src/core/values/value-size.ts";
import { StepMemory, Steps } from "../../../src/host/shadow/steps.ts";
import { delta, finished, started } from "../../journal/setup.ts";

const at = (seq: number, body: object): RunEvent => ({ ...body, run: "r", seq, at: 0 }) as RunEvent; // Only these fields are read.
const events = [at(1, started()), at(2, delta("a")), at(3, finished("a"))];
const [first, , last] = events as [RunEvent, RunEvent, RunEvent];

describe("the steps of a run that a shadow repeats", () => {
  it("are those of the history and the ones seen since, without deltas", () => {
    const steps = new Steps(new StepMemory(10_000), 2, events.slice(0, 2));
    steps.add(last);
    expect(steps.of({ head: 3, epoch: 2 })).to.deep.equal([first, last]);
  });

  it("are read from the journal where they may not be what was stored", () => {
    const memory = new StepMemory(10_000);
    const steps = new Steps(memory, 2, events);
    expect(steps.of({ head: 3, epoch: 3 }), "another process took over").to.equal(undefined);
    expect(steps.of({ head: 2, epoch: 2 }), "fewer were stored").to.equal(undefined);
    expect(new Steps(memory, 2, [first]).of({ head: 1, epoch: 2 }), "no end").to.equal(undefined);
  });

  it("take no more memory than they share, and give it back", () => {
    const memory = new StepMemory(valueSize(first) + valueSize(last));
    const one = new Steps(memory, 1, events);
    const other = new Steps(memory, 1, events);
    expect(other.of({ head: 3, epoch: 1 })).to.equal(undefined);
    other.add(last);
    expect(one.of({ head: 3, epoch: 1 })).to.have.length(2);
    one.drop();
    one.drop();
    expect(new Steps(memory, 1, events).of({ head: 3, epoch: 1 })).to.have.length(2);
    expect(new Steps(memory, 1, [first]).of({ head: 1, epoch: 1 })).to.equal(undefined);
  });
});
