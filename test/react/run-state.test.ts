import { expect } from "chai";
import { type RunEvent, VenturiClient } from "../../src/client/client.ts";
import { initialState, nextState } from "../../src/react/run-state.ts";
import { Restartable } from "../client/restartable.ts";

describe("what useRun shows", () => {
  let service: Restartable;
  let client: VenturiClient;

  before(async () => {
    service = await Restartable.start();
    client = new VenturiClient({ url: service.url });
  });
  after(() => service.stop());

  for (const agent of ["assistant", "asks", "flaky", "slow"]) {
    it(`of the agent ${agent} is its output and its calls, from whatever event on it is continued`, async () => {
      const run = await client.start({ agent, input: "what is 17 * 23, and what time is it?" });
      if (agent === "slow") await run.cancel();
      const events: RunEvent[] = [];
      for await (const event of run.events()) {
        events.push(event);
        if (event.type === "approval.requested") await run.approve(event.call);
      }
      const whole = events.reduce(nextState, initialState(run.id));
      const last = events.at(-1);
      if (last?.type !== "run.finished" && last?.type !== "run.failed") throw new Error("no end");
      expect(whole.text).to.equal(last.output);
      expect(whole.seq).to.equal(events.length);
      expect(whole.status).to.equal(last.type === "run.finished" ? "finished" : "failed");
      expect(whole.questions).to.deep.equal([]);
      const results = events.flatMap((event) => (event.type === "tool.finished" ? [[event.call, event.output]] : []));
      expect(whole.calls.map((call) => [call.call, call.output])).to.deep.equal(results);
      for (const cut of [1, Math.floor(events.length / 2), events.length - 1]) {
        const first = events.slice(0, cut).reduce(nextState, initialState(run.id));
        expect(events.slice(cut).reduce(nextState, first)).to.deep.equal(whole);
      }
      if (agent === "flaky") expect(events.map((event) => event.type)).to.include("round.retracted");
      if (agent === "asks") {
        const asked = events.findIndex((event) => event.type === "approval.requested");
        const waiting = events.slice(0, asked + 1).reduce(nextState, initialState(run.id));
        expect([waiting.status, waiting.questions.length, waiting.calls[0]?.status]).to.deep.equal([
          "waiting",
          1,
          "asking",
        ]);
      }
    });
  }
});
