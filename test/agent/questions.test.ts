import { expect } from "chai";
import type { Verdict } from "../../src/core/ports/tool.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { Bench, deferred, tool } from "./harness.ts";

const hour = 3_600_000;
const asking = (more: { settled?: Promise<Verdict> } = {}) =>
  tool(
    "helper",
    async (_input, { ask, spent }) => {
      spent({ inputTokens: 4, outputTokens: 1 });
      const { approved, reason } = await ask({ id: "q1", name: "pay", arguments: { amount: 5 }, ...more });
      return approved ? "paid" : `not paid: ${reason}`;
    },
    { effect: "effectful", timeout: 1_000, resumable: true },
  );

describe("a question of a tool that runs", () => {
  it("is the run's own question, under the name of its call, and its answer is the tool's", async () => {
    const bench = new Bench({ model: new ScriptedModel([[say.call(0, "helper", {})], ["ok"]]), tools: [asking()] });
    const running = bench.run();
    const asked = await bench.when("approval.requested");
    expect(asked).to.deep.include({ call: "call-helper-0.q1", name: "pay", arguments: { amount: 5 } });
    expect(asked.until).to.be.greaterThan(asked.at);
    bench.signal("approve", { call: asked.call, approved: true, by: "ann" });
    await running;
    expect(bench.of("approval.resolved")[0]).to.include({ call: asked.call, approved: true, by: "ann", signal: 1 });
    expect(bench.of("tool.finished")[0]).to.include({ output: "paid" });
  });

  it("waiting for the answer counts neither toward the tool's timeout nor the run's time, and is charged to approval", async () => {
    const clock = new VirtualClock();
    const model = new ScriptedModel([[say.call(0, "helper", {})], ["ok"]], { clock });
    const bench = new Bench({ model, tools: [asking()], clock, limits: { time: 2_000 } });
    const running = bench.run();
    await bench.when("approval.requested");
    await clock.advance(hour);
    bench.signal("approve", { call: "call-helper-0.q1", approved: true });
    await running;
    expect(bench.of("tool.finished")[0]).to.include({ ok: true, output: "paid" });
    expect(bench.terminal).to.include({ type: "run.finished", finish: "stop" });
    expect(bench.terminal.timing.approval).to.equal(hour);
    expect(bench.terminal.timing.tool).to.be.lessThan(1_000);
  });

  it("a call's own question does not count toward the run's time either, also after the run was taken up again", async () => {
    const clock = new VirtualClock();
    const pay = tool("pay", () => "paid", { effect: "effectful", approval: "always" });
    const setup = { tools: [pay], clock, limits: { time: 2_000 } };
    const first = new Bench({ ...setup, model: new ScriptedModel([[say.call(0, "pay", {})]], { clock }) });
    const lost = first.run();
    await first.when("approval.requested");
    await clock.advance(hour);
    expect(first.types).not.to.include("run.finished");
    const history = [...first.events];
    first.release.abort(new Error("the process is gone"));
    await lost.catch(() => {});
    const second = new Bench({ ...setup, model: new ScriptedModel([["ok"]], { clock }), history });
    const running = second.run();
    await second.when("run.resumed");
    await clock.advance(hour);
    second.signal("approve", { call: "call-pay-0", approved: true });
    await running;
    expect(second.terminal).to.include({ type: "run.finished", finish: "stop", output: "ok" });
    expect(second.terminal.timing.approval).to.equal(2 * hour);
  });

  it("the time that is not a person's still ends the run", async () => {
    const clock = new VirtualClock();
    const hangs = tool("hangs", () => new Promise(() => {}), { timeout: hour });
    const model = new ScriptedModel([[say.call(0, "hangs", {})]], { clock });
    const bench = new Bench({ model, tools: [hangs], clock, limits: { time: 2_000 } });
    const running = bench.run();
    await bench.when("tool.started");
    await clock.advance(2_100);
    await running;
    expect(bench.terminal).to.include({ type: "run.finished", finish: "max_time" });
  });

  it("no answer within the agent's approvalTimeout counts as a denial", async () => {
    const clock = new VirtualClock();
    const model = new ScriptedModel([[say.call(0, "helper", {})], ["ok"]], { clock });
    const bench = new Bench({ model, tools: [asking()], clock, policy: { approvalTimeout: 60_000 } });
    const running = bench.run();
    await bench.when("approval.requested");
    await clock.advance(60_000);
    await running;
    expect(bench.of("tool.finished")[0]).to.include({ output: "not paid: nobody answered in time" });
  });

  it("may be settled elsewhere, and is closed when the tool ends without it", async () => {
    const elsewhere = deferred<Verdict>();
    const settled = new Bench({
      model: new ScriptedModel([[say.call(0, "helper", {})], ["ok"]]),
      tools: [asking({ settled: elsewhere.promise })],
    });
    const running = settled.run();
    await settled.when("approval.requested");
    elsewhere.resolve({ approved: true, by: "bob" });
    await running;
    expect(settled.of("approval.resolved")[0]).to.include({ approved: true, by: "bob" });
    const leaves = tool("leaves", async (_input, { ask }) => {
      void ask({ id: "q", name: "pay", arguments: {} });
      return "did not wait";
    });
    const bench = await new Bench({
      model: new ScriptedModel([[say.call(0, "leaves", {})], ["ok"]]),
      tools: [leaves],
    }).run();
    expect(bench.of("approval.resolved")[0]).to.include({ approved: false });
    expect(bench.terminal.type).to.equal("run.finished");
  });

  it("after a restart the tool is simply called again, and an answered question is not asked again", async () => {
    const first = new Bench({ model: new ScriptedModel([[say.call(0, "helper", {})]]), tools: [asking()] });
    const lost = first.run();
    const { call } = await first.when("approval.requested");
    first.signal("approve", { call, approved: true });
    await first.when("approval.resolved");
    const history = first.events.filter(({ type }) => type !== "tool.finished");
    first.release.abort(new Error("the process is gone"));
    await lost.catch(() => {});
    const last = history.findIndex(({ type }) => type === "approval.resolved");
    const second = new Bench({
      model: new ScriptedModel([["ok"]]),
      tools: [asking()],
      history: history.slice(0, last + 1),
    });
    await second.run();
    expect(second.of("approval.requested")).to.have.length(1);
    expect(second.of("tool.started").map(({ attempt }) => attempt)).to.deep.equal([1, 2]);
    expect(second.of("tool.finished")[0]).to.include({ output: "paid" });
  });

  it("tokens that a tool used by itself count as the run's and are listed separately", async () => {
    const elsewhere = deferred<Verdict>();
    elsewhere.resolve({ approved: true });
    const bench = await new Bench({
      model: new ScriptedModel([
        [say.usage({ inputTokens: 10, outputTokens: 2 }), say.call(0, "helper", {})],
        [say.usage({ inputTokens: 20, outputTokens: 3 }), "ok"],
      ]),
      tools: [asking({ settled: elsewhere.promise })],
    }).run();
    expect(bench.terminal.usage).to.include({ inputTokens: 34, outputTokens: 6 });
    expect(bench.terminal.spent).to.deep.equal([
      { by: "generation", name: "p0/m", count: 2, usage: { inputTokens: 30, outputTokens: 5 } },
      { by: "tool", name: "helper", count: 1, usage: { inputTokens: 4, outputTokens: 1 } },
    ]);
  });
});
