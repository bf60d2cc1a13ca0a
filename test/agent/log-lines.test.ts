import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { recorder } from "../journal/log-recorder.ts";
import { Bench, run, tool } from "./harness.ts";

describe("log lines of a run", () => {
  it("a finished run is one info line with agent, model, time, tokens and trace", async () => {
    const { log, lines } = recorder();
    const model = new ScriptedModel([[say.usage({ inputTokens: 7, outputTokens: 2 }), "hi"]]);
    const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const around = (inner: Bench["log"]) => {
      const write = inner.write.bind(inner);
      inner.write = (body) => write(body.type === "run.started" ? { ...body, trace } : body);
      return inner;
    };
    await run({ model, logger: log, around: (inner) => around(inner as Bench["log"]) });
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ level: "info", message: "run finished" });
    expect(lines[0]?.fields).to.include({
      run: "run-1",
      agent: "tester",
      provider: "p0",
      model: "p0/m",
      finish: "stop",
    });
    expect(lines[0]?.fields).to.include({ inputTokens: 7, outputTokens: 2, rounds: 1 });
    expect(lines[0]?.fields.trace).to.equal("0af7651916cd43dd8448eb211c80319c");
    expect(lines[0]?.fields.ms).to.be.a("number");
  });

  it("a failed run is one warn line with code, op and the whole chain of causes, which the event does not show", async () => {
    const { log, line } = recorder();
    const cause = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:9"), { code: "ECONNREFUSED" });
    const error = new VenturiError("provider.stream", "unavailable", "the provider cannot be reached", { cause });
    const bench = await run({ model: new ScriptedModel([[{ fail: error }]]), logger: log });
    const fields = line("run failed")?.fields ?? {};
    expect(fields).to.include({ code: "unavailable", model: "p0/m", op: "agent.run: provider.stream" });
    expect(fields.reason).to.equal("p0/m: the provider cannot be reached: connect ECONNREFUSED 127.0.0.1:9");
    expect(bench.terminal).to.have.nested.property("error.err", "p0/m: the provider cannot be reached");
    expect(bench.terminal).to.have.deep.nested.property("error.details", { provider: "p0", model: "m" });
    expect(JSON.stringify(bench.events)).not.to.contain("ECONNREFUSED");
  });

  it("what a plugin threw stands in the log, not in the event", async () => {
    const { log, line } = recorder();
    const broken = {
      capabilities: { streaming: true, tools: true, vision: true, reasoning: true },
      // biome-ignore lint/correctness/useYield: throws before its first read
      async *stream() {
        throw new TypeError("x is undefined");
      },
    };
    const bench = await run({ model: broken as never, logger: log });
    expect(line("run failed")?.fields.reason).to.contain("TypeError: x is undefined");
    expect(bench.terminal).to.have.nested.property("error.code", "plugin_failed");
    expect(JSON.stringify(bench.events)).not.to.contain("x is undefined");
  });

  it("a retry tells attempt, delay and status; the failed attempts are events with what they cost", async () => {
    const clock = new VirtualClock();
    const { log, line } = recorder();
    const limited = say.fail("rate_limited", "the provider answered 429", { status: 429, retryAfterMs: 1_500 });
    const cut = [say.usage({ inputTokens: 5, outputTokens: 1 }), limited];
    const model = new ScriptedModel([cut, [say.usage({ inputTokens: 5, outputTokens: 3 }), "ok"]], { clock });
    const bench = new Bench({ model, logger: log, clock, chain: { retry: { max: 2 } } });
    const running = bench.run();
    await clock.next();
    await running;
    const retryMs = bench.of("generation.failed")[0]?.retryMs ?? 0;
    expect(retryMs).to.be.within(1_500, 1_875); // as asked, with jitter
    const facts = {
      attempt: 1,
      delayMs: line("generation retried")?.fields.delayMs,
      status: 429,
      provider: "p0",
      model: "p0/m",
      code: "rate_limited",
    };
    expect(line("generation retried")?.fields).to.include(facts);
    expect(bench.of("generation.failed")[0]).to.include({ round: 1, attempt: 1, model: "p0/m" });
    expect(bench.terminal.usage).to.include({ inputTokens: 10, outputTokens: 4 });
    expect(bench.terminal.spent).to.deep.equal([
      { by: "failed", name: "p0/m", count: 1, usage: { inputTokens: 5, outputTokens: 1 } },
      { by: "generation", name: "p0/m", count: 1, usage: { inputTokens: 5, outputTokens: 3 } },
    ]);
  });

  it("a generation that is cut off after it said something is counted by estimate", async () => {
    const bench = await run({ model: new ScriptedModel([["twelve chars", say.fail("stream_error")]]) });
    expect(bench.terminal.usage).to.include({ outputTokens: 3, source: "estimated" });
  });

  it("a run that is taken up again says so, with how long nobody worked on it", async () => {
    const clock = new VirtualClock();
    const pay = tool("pay", () => "paid", { effect: "effectful", approval: "always" });
    const first = new Bench({ model: new ScriptedModel([[say.call(0, "pay", {})]], { clock }), tools: [pay], clock });
    const lost = first.run();
    await first.when("approval.requested");
    const history = [...first.events];
    first.release.abort(new Error("the process is gone"));
    await lost.catch(() => {});
    await clock.advance(4_000);
    const { log, line } = recorder();
    const model = new ScriptedModel([["ok"]], { clock });
    const resumed = new Bench({ model, tools: [pay], clock, history, logger: log });
    resumed.signal("approve", { call: "call-pay-0", approved: true });
    await resumed.run();
    expect(line("run resumed")?.fields).to.include({ run: "run-1", agent: "tester", idleMs: 4_000 });
    expect(resumed.of("run.resumed")).to.have.length(1);
  });
});
