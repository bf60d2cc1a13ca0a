import { expect } from "chai";
import type { RunEvent } from "../../src/core/run/events.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { Bench, type Setup, tool } from "./harness.ts";

/** The events of a run up to and with the first of that type, as a killed process leaves them. */
async function killedAfter(type: RunEvent["type"], setup: Setup, act: (bench: Bench) => void = () => {}) {
  const bench = new Bench(setup);
  bench.log.onEvent = (event) => {
    if (event.type === type) bench.release.abort(new Error("killed"));
  };
  act(bench);
  await bench.run();
  expect(bench.types.at(-1)).to.equal(type);
  return bench;
}

describe("a run taken up after a crash", () => {
  const pay = (ran: unknown[], more = {}) =>
    tool("pay", (input) => ran.push(input.amount), { effect: "effectful", ...more });
  const paying = () => new ScriptedModel([[say.call(0, "pay", { amount: 5 })], ["ok"]]);
  const answering = () => new ScriptedModel([["ok"]]);

  it("waits for the same approval, and an answer that came meanwhile runs the tool once", async () => {
    const ran: unknown[] = [];
    const tools = [pay(ran, { approval: "always" })];
    const { events } = await killedAfter("approval.requested", { model: paying(), tools });
    const resumed = new Bench({ model: answering(), tools, history: events.slice() });
    resumed.signal("approve", { call: "call-pay-0", approved: true });
    await resumed.run();
    expect(ran).to.deep.equal([5]);
    expect(resumed.of("approval.requested")).to.have.length(1);
    expect(resumed.of("tool.started")).to.have.length(1);
    expect(resumed.terminal).to.include({ output: "ok", finish: "stop" });
  });

  it("goes on waiting where nobody has answered, for what is left of the time", async () => {
    const clock = new VirtualClock();
    const tools = [pay([], { approval: "always" })];
    const policy = { approvalTimeout: 1_000 };
    const { events } = await killedAfter("approval.requested", { model: paying(), tools, clock, policy });
    await clock.advance(400);
    const resumed = new Bench({ model: answering(), tools, clock, policy, history: events.slice() });
    const running = resumed.run();
    await clock.advance(599);
    expect(resumed.types).not.to.include("approval.resolved");
    await clock.advance(1);
    await running;
    expect(resumed.of("approval.resolved")[0]).to.include({ approved: false });
    expect(resumed.of("tool.finished")[0]?.error).to.include({ code: "tool_denied" });
    expect(clock.pending).to.equal(0);
  });

  it("asks before it repeats an effectful tool that had been started, and says why", async () => {
    const ran: unknown[] = [];
    const { events } = await killedAfter("tool.started", { model: paying(), tools: [pay(ran)] });
    const resumed = new Bench({ model: answering(), tools: [pay(ran)], history: events.slice() });
    const running = resumed.run();
    const asked = await resumed.when("approval.requested");
    expect(asked.reason).to.equal("it may have run already");
    expect(ran).to.deep.equal([]);
    resumed.signal("approve", { call: asked.call, approved: true });
    await running;
    expect(ran).to.deep.equal([5]);
    expect(resumed.of("tool.started").map(({ attempt }) => attempt)).to.deep.equal([1, 2]);
    expect(new Set(resumed.of("tool.started").map(({ idempotencyKey }) => idempotencyKey)).size).to.equal(1);
  });

  it("does not use the approval of the first start for a second one", async () => {
    const ran: unknown[] = [];
    const tools = [pay(ran, { approval: "always" })];
    const first = await killedAfter("tool.started", { model: paying(), tools }, (bench) => {
      // Clicked twice: the second word is still unseen when the run is taken up.
      bench.signal("approve", { call: "call-pay-0", approved: true });
      bench.signal("approve", { call: "call-pay-0", approved: true });
    });
    const resumed = new Bench({ model: answering(), tools, history: first.events.slice() });
    resumed.signal("approve", { call: "call-pay-0", approved: true });
    resumed.signal("approve", { call: "call-pay-0", approved: true });
    const running = resumed.run();
    await resumed.when("round.started");
    await new Promise((resolve) => setImmediate(resolve));
    expect(ran).to.deep.equal([]);
    expect(resumed.of("approval.requested")).to.have.length(2);
    resumed.signal("approve", { call: "call-pay-0", approved: false, reason: "it was paid" });
    await running;
    expect(ran).to.deep.equal([]);
    expect(resumed.of("tool.finished")[0]?.error).to.include({ code: "tool_denied", err: "it was paid" });
  });

  it("fails it with conflict where the config says so", async () => {
    const ran: unknown[] = [];
    const { events } = await killedAfter("tool.started", { model: paying(), tools: [pay(ran)] });
    const policy = { onUncertain: "fail" as const };
    const resumed = await new Bench({ model: answering(), tools: [pay(ran)], policy, history: events.slice() }).run();
    expect(ran).to.deep.equal([]);
    expect(resumed.of("tool.finished")[0]?.error).to.include({ code: "conflict" });
    expect(resumed.terminal).to.include({ output: "ok" });
  });

  it("repeats a pure tool without asking, though the run's last allowed call was this one", async () => {
    const ran: unknown[] = [];
    const tools = [tool("look", () => ran.push(1))];
    const limits = { maxToolCalls: 1 };
    const model = new ScriptedModel([[say.call(0, "look", {})], ["ok"]]);
    const { events } = await killedAfter("tool.started", { model, tools, limits, policy: { dispatch: "round" } });
    const resumed = await new Bench({ model: answering(), tools, limits, history: events.slice() }).run();
    expect(resumed.terminal).to.include({ output: "ok", finish: "stop" });
    expect(ran).to.have.length(1);
  });

  it("still sees the message that was sent before the crash and that no round had seen", async () => {
    const first = new Bench({ model: new ScriptedModel([["one", say.silence()]]) });
    const running = first.run();
    await first.when("text.delta");
    first.signal("message", { text: "and also this" });
    first.release.abort(new Error("killed"));
    await running;
    const model = new ScriptedModel([["two"]]);
    const resumed = new Bench({ model, history: first.events.slice() });
    resumed.signal("message", { text: "and also this" });
    await resumed.run();
    expect(model.requests[0]?.messages.at(-1)?.parts[0]).to.include({ text: "and also this" });
    expect(resumed.of("message.added")).to.have.length(1);
    expect(resumed.terminal).to.include({ output: "two" });
  });

  it("does not see twice the message that a round had seen", async () => {
    const first = new Bench({
      model: new ScriptedModel([[say.call(0, "look", {})], ["on", say.silence()]]),
      tools: [tool("look", () => "")],
    });
    first.signal("message", { text: "hello" });
    const running = first.run();
    await first.when("text.delta");
    first.release.abort(new Error("killed"));
    await running;
    const model = new ScriptedModel([["two"]]);
    const resumed = new Bench({ model, history: first.events.slice(), tools: [tool("look", () => "")] });
    resumed.signal("message", { text: "hello" });
    await resumed.run();
    expect(resumed.of("message.added")).to.have.length(1);
  });

  it("asks again for a fitting answer once per run, not once per owner", async () => {
    const agent = { output: { type: "object", required: ["n"] } };
    const { events } = await killedAfter("message.added", { model: new ScriptedModel([["no"]]), agent });
    const model = new ScriptedModel([["still no"]]);
    const resumed = await new Bench({ model, agent, history: events.slice() }).run();
    expect(resumed.terminal).to.have.nested.property("error.op", "agent.run: agent.output");
    model.assertUsed();
  });

  for (const [limit, limits] of [
    ["max_rounds", { maxToolRounds: 0 }],
    ["max_tool_calls", { maxToolCalls: 0 }],
    ["max_tokens", { tokens: 500 }],
  ] as const) {
    it(`reports ${limit} as what it is when the crash came between the round and the end`, async () => {
      const tools = [tool("look", () => "")];
      const model = () =>
        new ScriptedModel([[say.call(0, "look", {}), say.usage({ inputTokens: 300, outputTokens: 300 })]]);
      const { events } = await killedAfter("round.finished", { model: model(), tools, limits });
      const resumed = await new Bench({ model: model(), tools, limits, history: events.slice() }).run();
      expect(resumed.terminal).to.include({ finish: limit });
      expect(resumed.of("generation.finished")).to.have.length(1);
    });
  }

  it("ends the sixth same call in a row also when the crash came after the round", async () => {
    const tools = [tool("look", () => "")];
    const same = Array.from({ length: 6 }, (_, index) => say.call(index, "look", {}));
    const { events } = await killedAfter("round.finished", { model: new ScriptedModel([same]), tools });
    const resumed = await new Bench({ model: answering(), tools, history: events.slice() }).run();
    expect(resumed.terminal).to.include({ finish: "repeated_calls" });
  });
});
