import { expect } from "chai";
import { lowerLimits } from "../../src/agent/run/request-limits.ts";
import type { Delta } from "../../src/core/model/deltas.ts";
import type { Provider } from "../../src/core/model/provider.ts";
import { RunLimits } from "../../src/host/config/agents.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { Bench, run, tool } from "./harness.ts";

const look = tool("look", () => "seen");
const asks = (count: number) => Array.from({ length: count }, (_, index) => [say.call(0, "look", { index })]);

describe("limits", () => {
  for (const rounds of [0, 1, 3]) {
    it(`maxToolRounds ${rounds} allows ${rounds + 1} generations and does not execute the last one's calls`, async () => {
      const model = new ScriptedModel(asks(rounds + 1));
      const bench = await run({ model, tools: [look], limits: { maxToolRounds: rounds } });
      model.assertUsed();
      expect(bench.of("tool.started")).to.have.length(rounds);
      expect(bench.of("tool_call.ready")).to.have.length(rounds + 1);
      expect(bench.terminal).to.include({ type: "run.finished", finish: "max_rounds" });
    });
  }

  it("onLimit error reports each limit as what it is", async () => {
    const model = new ScriptedModel(asks(2));
    const bench = await run({ model, tools: [look], limits: { maxToolRounds: 1, onLimit: "error" } });
    expect(bench.terminal).to.have.nested.property("error.code", "max_rounds_exceeded");
  });

  it("a run that reaches the limit exactly and needs no more tools is not affected", async () => {
    const model = new ScriptedModel([...asks(1), ["ok"]]);
    const bench = await run({ model, tools: [look], limits: { maxToolRounds: 1 } });
    expect(bench.terminal).to.include({ finish: "stop", output: "ok" });
  });

  it("counts tool calls over the run", async () => {
    const bench = await run({ model: new ScriptedModel(asks(3)), tools: [look], limits: { maxToolCalls: 2 } });
    expect(bench.of("tool.started")).to.have.length(2);
    expect(bench.terminal).to.include({ finish: "max_tool_calls" });
  });

  it("never starts more tools than the run may call, also while the model still talks", async () => {
    let ran = 0;
    const calls = Array.from({ length: 6 }, (_, index) => say.call(index, "look", { index }));
    const model = new ScriptedModel([[...calls, "and more"]]);
    const bench = await run({ model, tools: [tool("look", () => ++ran)], limits: { maxToolCalls: 4 } });
    expect(bench.terminal).to.include({ finish: "max_tool_calls" });
    expect(ran).to.be.at.most(4);
    expect(bench.of("tool.finished")).to.have.length(bench.of("tool.started").length);
  });

  it("does not count client calls, which are never executed here", async () => {
    const clientTools = [{ name: "theirs", description: "", parameters: { type: "object" } }];
    const model = new ScriptedModel([[say.call(0, "theirs", {})]]);
    const limits = { maxToolRounds: 0, maxToolCalls: 0 };
    const bench = await run({ model, limits, request: { clientTools } });
    expect(bench.terminal).to.deep.include({ finish: "tool_calls" });
    expect(bench.terminal).to.have.nested.property("calls[0].name", "theirs");
  });

  const endless: Readonly<Record<string, (count: number) => Delta>> = {
    text: () => ({ type: "text", text: "word ".repeat(50) }),
    "empty reasoning": (count) => ({ type: "reasoning", text: "", signature: `${count}` }),
    arguments: (count) => ({
      type: "tool_call",
      index: 0,
      arguments: "x".repeat(200),
      ...(count === 0 ? { id: "c", name: "look" } : {}),
    }),
    calls: (count) => ({ type: "tool_call", index: count, id: `c${count}`, name: "look", arguments: "" }),
    parts: (count) => ({ type: "activity", kind: "part", wire: "w", data: { count } }),
  };
  for (const [what, next] of Object.entries(endless)) {
    it(`a stream that never ends is cut: ${what}`, async () => {
      let sent = 0;
      const model: Provider = {
        capabilities: { streaming: true, tools: true, vision: false, reasoning: true },
        async *stream() {
          for (;;) yield [next(sent++)];
        },
      };
      for (const limits of [{ generationBytes: 50_000 }, { outputBytes: 50_000 }]) {
        sent = 0;
        const bench = await run({ model, tools: [look], limits });
        expect(bench.terminal).to.include({ type: "run.finished", finish: "max_output" });
        expect(JSON.stringify(bench.events).length).to.be.below(400_000);
        expect(sent).to.be.below(2_000);
      }
      sent = 0;
      const failed = await run({ model, tools: [look], limits: { generationBytes: 50_000, onLimit: "error" } });
      expect(failed.terminal).to.have.nested.property("error.code", "budget_exceeded");
    });
  }

  it("counts a run's output over all rounds, in tokens too", async () => {
    const wordy = (index: number) => ["x".repeat(2_000), say.call(0, "look", { index })];
    const bytes = await run({
      model: new ScriptedModel([wordy(1), wordy(2), wordy(3)]),
      tools: [look],
      limits: { outputBytes: 5_000 },
    });
    expect(bytes.terminal).to.include({ finish: "max_output" });
    const tokens = await run({
      model: new ScriptedModel([wordy(1), wordy(2), wordy(3)]),
      tools: [look],
      limits: { outputTokens: 700 },
    });
    expect(tokens.terminal).to.include({ finish: "max_output" });
  });

  it("estimates tokens when a provider reports none", async () => {
    const model = new ScriptedModel([["x".repeat(4_000), say.call(0, "look", {})], ["ok"]]);
    const bench = await run({ model, tools: [tool("look", () => "")], limits: { tokens: 900 } });
    expect(bench.terminal).to.include({ finish: "max_tokens" });
    expect(bench.terminal.usage.source).to.equal("estimated");
  });

  it("may be lowered by a request, never raised", () => {
    const limits = { ...RunLimits.parse({}), tokens: 100 };
    expect(lowerLimits(limits, { maxToolRounds: 3, maxToolCalls: 1_000, tokens: 50, time: 10 })).to.include({
      maxToolRounds: 3,
      maxToolCalls: 64,
      tokens: 50,
      time: 10,
    });
    expect(lowerLimits(limits, { tokens: 500 })).to.include({ tokens: 100 });
    for (const wrong of [{ tokens: -1 }, { onLimit: "error" }, { maxToolRounds: "3" }]) {
      expect(() => lowerLimits(limits, wrong))
        .to.throw()
        .with.property("code", "invalid_input");
    }
    expect(() => lowerLimits(limits, { token: 5 })).to.throw('limits.token: unknown key (did you mean "tokens"?)');
  });

  it("counts tokens over the run, and does not ask for more than are left", async () => {
    const spend = say.usage({ inputTokens: 60, outputTokens: 1 });
    const model = new ScriptedModel([
      [spend, say.call(0, "look", { n: 1 })],
      [spend, say.call(0, "look", { n: 2 })],
    ]);
    const bench = await run({ model, tools: [look], limits: { tokens: 100, onLimit: "error" } });
    expect(bench.terminal).to.have.nested.property("error.code", "budget_exceeded");
    expect(bench.terminal).to.have.nested.property("error.details.limit", "max_tokens");
    expect(bench.terminal.usage).to.deep.equal({ inputTokens: 60, outputTokens: 1 });
    expect(model.requests).to.have.length(1);
  });

  it("ends a silent provider when the run's time is over, with the text so far", async () => {
    const clock = new VirtualClock();
    const model = new ScriptedModel([["half", say.silence()]], { clock });
    const bench = new Bench({ model, limits: { time: 5_000 }, clock });
    const running = bench.run();
    await bench.when("text.delta");
    await clock.advance(5_000);
    await running;
    expect(bench.terminal).to.include({ type: "run.finished", finish: "max_time", output: "half" });
    expect(clock.pending).to.equal(0);
  });

  it("tells the model of the same call three times in a row and ends the run at the sixth", async () => {
    const model = new ScriptedModel(Array.from({ length: 9 }, () => [say.call(0, "look", { same: true })]));
    const bench = await run({ model, tools: [look], limits: { onLimit: "error" } });
    const outputs = bench.of("tool.finished").map((event) => event.output?.includes("times in a row"));
    expect(outputs).to.deep.equal([false, false, true, true, true, true]);
    expect(bench.terminal).to.have.nested.property("error.details.limit", "repeated_calls");
  });
});
