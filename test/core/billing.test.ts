import { expect } from "chai";
import { Billing } from "../../src/core/journal/money.ts";
import type { RunEvent } from "../../src/core/run/events.ts";

describe("what a run is billed", () => {
  it("for the embedding of its recall goes to the accounts of the generation that follows, once", () => {
    const billing = new Billing({ tenant: "t", request: { agent: "a" } });
    const add = (event: object) => billing.add({ run: "r", seq: 1, at: 0, ...event } as RunEvent);
    const generation = () => {
      billing.held([{ account: "all", nanos: 9, tokens: 9, until: 0 }]);
      add({ type: "generation.finished", usage: { inputTokens: 5, outputTokens: 2 }, cost: 2e-9 });
      return billing.take()?.spent;
    };
    add({ type: "memory.recalled", store: "s", query: "q", notes: [], usage: { inputTokens: 10 }, cost: 3e-9 });
    expect(generation()).to.deep.equal([{ account: "all", nanos: 5, tokens: 17 }]);
    expect(generation()).to.deep.equal([{ account: "all", nanos: 2, tokens: 7 }]);
  });
});
