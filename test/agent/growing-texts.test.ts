import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { RunState } from "../../src/agent/state/run-state.ts";
import type { EventBody, RunEvent } from "../../src/core/run/events.ts";
import { Accumulator } from "../../src/provider/accumulate.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void; // there since the flag is set

const texts = 20;
const tokens = 5_000;
const token = (number: number): string => ` w${1_000 + (number % 9_000)}`;
const event = (body: EventBody): RunEvent => ({ ...body, run: "run-1", seq: 1, at: 0 }) as RunEvent; // body + place = event

/** Live bytes of what `make` makes. */
function held(make: () => unknown): number {
  collect();
  const before = process.memoryUsage().heapUsed;
  const made = Array.from({ length: texts }, make);
  collect();
  const after = process.memoryUsage().heapUsed;
  expect(made).to.have.length(texts);
  return after - before;
}

const delta = (type: "text.delta" | "reasoning.delta") => (): RunState => {
  const state = new RunState();
  state.apply(event({ type: "round.started", round: 1, model: "demo/small", provider: "demo", attempt: 1 }));
  for (let number = 0; number < tokens; number++) state.apply(event({ type, round: 1, text: token(number) }));
  return state;
};

describe("a text that grows by tokens", () => {
  const size = texts * tokens * token(0).length;
  const cases: Record<string, () => unknown> = {
    answer: delta("text.delta"),
    reasoning: delta("reasoning.delta"),
    arguments: () => {
      const accumulator = new Accumulator();
      accumulator.push({ type: "tool_call", index: 0, id: "call-1", name: "write", arguments: '{"text":"' });
      for (let number = 0; number < tokens; number++) {
        accumulator.push({ type: "tool_call", index: 0, arguments: token(number) });
      }
      return accumulator;
    },
  };
  for (const [name, make] of Object.entries(cases)) {
    it(`takes little more memory than its length: ${name}`, () => {
      make(); // so that code and pools are there before
      expect(held(make)).to.be.below(2 * size); // in pieces it is ten times
    });
  }

  it("is whole at every length", () => {
    const state = delta("text.delta")();
    expect(state.output).to.equal(Array.from({ length: tokens }, (_, number) => token(number)).join(""));
  });
});
