import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Provider } from "../../src/core/model/provider.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { Bench, run, tool } from "./harness.ts";

describe("the model chain", () => {
  it("retries a model before anything was shown, waiting as long as the provider asked", async () => {
    const clock = new VirtualClock();
    const model = new ScriptedModel([[say.fail("rate_limited", "slow down", { retryAfterMs: 7_000 })], ["ok"]], {
      clock,
    });
    const bench = new Bench({ model, chain: { retry: { max: 2 } }, clock });
    const running = bench.run();
    await clock.advance(6_999);
    expect(model.requests).to.have.length(1);
    await clock.advance(1_751);
    await running;
    expect(bench.terminal).to.include({ output: "ok" });
    expect(bench.of("round.started").map((event) => event.attempt)).to.deep.equal([1, 2]);
    expect(bench.types).not.to.include("round.retracted");
  });

  const limited = (ms: number) => [say.fail("rate_limited", "slow down", { retryAfterMs: ms })];

  it("gives up at once when a provider asks for too long a wait, and names the wait", async () => {
    for (const [asked, longestWait] of [
      [600_000, undefined],
      [60_001, undefined],
      [5_000, 4_000],
    ] as const) {
      const clock = new VirtualClock();
      const model = new ScriptedModel([limited(asked), ["never"]], { clock });
      const retry = { max: 2, ...(longestWait === undefined ? {} : { longestWait }) };
      const bench = await new Bench({ model, chain: { retry }, clock }).run();
      expect(model.requests).to.have.length(1);
      expect(clock.now() - (bench.events[0]?.at ?? 0)).to.equal(0);
      const { error } = bench.terminal as { error: { err: string; details: Record<string, unknown> } };
      expect(error.err).to.contain(`it asks to wait ${Math.ceil(asked / 1_000)} s, and retry.longestWait is`);
      expect(error.details).to.include({ retryAfterMs: asked });
    }
  });

  it("asks another model before it waits for one, and comes back to the one that is ready first when all have refused", async () => {
    const clock = new VirtualClock();
    const [first, second] = [
      new ScriptedModel([limited(30_000), ["never"]], { clock }),
      new ScriptedModel([["from the second"]], { clock }),
    ];
    const chain = { retry: { max: 2 } };
    const quick = await new Bench({ model: [first, second], chain, clock }).run();
    expect(quick.terminal).to.include({ output: "from the second" });
    expect(clock.now() - (quick.events[0]?.at ?? 0)).to.equal(0);

    const start = clock.now();
    const all = [
      new ScriptedModel([limited(40_000), ["too late"]], { clock }),
      new ScriptedModel([limited(20_000), ["after twenty seconds"]], { clock }),
      new ScriptedModel([limited(600_000), ["never"]], { clock }),
    ];
    const bench = new Bench({ model: all, chain, clock });
    const running = bench.run();
    await clock.advance(19_999);
    expect(all.map(({ requests }) => requests.length)).to.deep.equal([1, 1, 1]);
    await clock.advance(5_002);
    await running;
    expect(bench.terminal).to.include({ output: "after twenty seconds" });
    expect(bench.terminal.timing.retryWait).to.be.within(20_000, 25_000);
    expect(clock.now() - start).to.be.below(25_002);
  });

  it("spreads the waits that providers ask for over a quarter more, so that not everybody comes back at once", async () => {
    const waits: number[] = [];
    for (let turn = 0; turn < 20; turn++) {
      const clock = new VirtualClock();
      const script = [[say.fail("rate_limited", "slow down", { retryAfterMs: 2_000 })], ["ok"]];
      const bench = new Bench({ model: new ScriptedModel(script, { clock }), chain: { retry: { max: 1 } }, clock });
      const running = bench.run();
      await clock.next();
      await running;
      const [first, second] = bench.of("round.started");
      waits.push((second?.at ?? 0) - (first?.at ?? 0));
    }
    expect(Math.min(...waits)).to.be.at.least(2_000);
    expect(Math.max(...waits)).to.be.at.most(2_500);
    expect(new Set(waits).size).to.be.above(10);
  });

  it("does not retry when the provider forbids it or a retry cannot help", async () => {
    for (const piece of [say.fail("unavailable", "no", { retry: false }), say.fail("unauthorized")]) {
      const model = new ScriptedModel([[piece], ["never"]]);
      const bench = await run({ model, chain: { retry: { max: 5 } } });
      expect(model.requests).to.have.length(1);
      expect(bench.terminal.type).to.equal("run.failed");
    }
  });

  it("closes the stream it stops reading, so that the provider can free its connection", async () => {
    let closed = 0;
    const model: Provider = {
      capabilities: { streaming: true, tools: true, vision: false, reasoning: false },
      async *stream() {
        try {
          yield [{ type: "error", error: new VenturiError("provider.stream", "llm_error", "overloaded") }];
          yield [{ type: "text", text: "never read" }];
        } finally {
          closed++;
        }
      },
    };
    const bench = await run({ model });
    expect(bench.terminal.type).to.equal("run.failed");
    expect(closed).to.equal(1);
  });

  it("goes on to the next model when the first fails before its first event", async () => {
    const bench = await run({
      model: [new ScriptedModel([[say.fail("unauthorized")]]), new ScriptedModel([["second"]])],
    });
    expect(bench.terminal).to.include({ output: "second" });
    expect(bench.of("round.started").map((event) => event.model)).to.deep.equal(["p0/m", "p1/m"]);
  });

  it("says in the log that another model is asked, and why: a wrong key does not go unnoticed", async () => {
    const warnings: unknown[] = [];
    const logger = { ...silentLog, warn: (message: string, fields: unknown) => warnings.push([message, fields]) };
    const models = [new ScriptedModel([[say.fail("unauthorized")]]), new ScriptedModel([["second"]])];
    const bench = await run({ model: models, logger });
    const fields = { run: bench.terminal.run, model: "p0/m", next: "p1/m", code: "unauthorized", status: undefined };
    expect(warnings).to.deep.equal([["another model is asked", { ...fields, reason: "p0/m: scripted" }]]);
  });

  it("fails after something was shown, unless it may retract", async () => {
    const broken = () => new ScriptedModel([["half", say.fail("stream_error")]]);
    const shown = await run({ model: [broken(), new ScriptedModel([["second"]])] });
    expect(shown.terminal).to.have.nested.property("error.code", "stream_error");
    expect(shown.terminal.output).to.equal("half");
    const retracted = await run({ model: [broken(), new ScriptedModel([["second"]])], chain: { failover: "retract" } });
    expect(retracted.of("round.retracted")[0]).to.include({ round: 1, attempt: 1, reason: "stream_error" });
    expect(retracted.terminal).to.include({ output: "second", type: "run.finished" });
  });

  it("keeps the last model's shown text as the partial output", async () => {
    const broken = (text: string) => new ScriptedModel([[text, say.fail("stream_error")]]);
    const bench = await run({ model: [broken("first"), broken("second")], chain: { failover: "retract" } });
    expect(bench.of("round.retracted")).to.have.length(1);
    expect(bench.terminal).to.include({ type: "run.failed", output: "second" });
  });

  it("forces a tool in the first round only, or the run would never answer", async () => {
    const model = new ScriptedModel([[say.call(0, "look", {})], ["seen"]]);
    await run({ model, tools: [tool("look", () => "")], request: { toolChoice: "required" } });
    expect(model.requests.map(({ toolChoice }) => toolChoice)).to.deep.equal(["required", undefined]);
  });

  it("tries one model only under failover: never", async () => {
    const second = new ScriptedModel([["second"]]);
    const bench = await run({
      model: [new ScriptedModel([[say.fail("unavailable")]]), second],
      chain: { failover: "never" },
    });
    expect(bench.terminal.type).to.equal("run.failed");
    expect(second.requests).to.have.length(0);
  });

  it("wraps a provider that can only generate, as one text delta, its calls and done", async () => {
    const model: Provider = {
      capabilities: { streaming: false, tools: true, vision: false, reasoning: false },
      generate: async () => ({
        parts: [{ type: "text", text: "whole" }],
        finish: "stop",
        usage: { inputTokens: 1, outputTokens: 2 },
      }),
    };
    const bench = await run({ model });
    expect(bench.of("text.delta").map((event) => event.text)).to.deep.equal(["whole"]);
    expect(bench.terminal.usage).to.deep.equal({ inputTokens: 1, outputTokens: 2 });
  });

  it("treats an exception that is not a VenturiError as a broken plugin", async () => {
    const model: Provider = {
      capabilities: { streaming: true, tools: true, vision: false, reasoning: false },
      stream: () => {
        throw new TypeError("x is not a function");
      },
    };
    const bench = await run({ model });
    expect(bench.terminal).to.have.nested.property("error.code", "plugin_failed");
    expect(JSON.stringify(bench.terminal)).not.to.contain("not a function");
  });

  it("merges options: the model's, then its tool options, then the run's", async () => {
    const model = new ScriptedModel([["ok"]]);
    await run({
      model,
      chain: { options: { temperature: 1, topP: 0.5 }, toolOptions: { temperature: 0 } },
      request: {
        options: { topP: 0.9 },
        clientTools: [{ name: "t", description: "", parameters: { type: "object" } }],
      },
    });
    expect(model.requests[0]?.options).to.deep.equal({ temperature: 0, topP: 0.9 });
  });

  it("estimates only the usage that was not reported", async () => {
    const bench = await run({ model: new ScriptedModel([["12345678", say.usage({ inputTokens: 0 })]]) });
    expect(bench.terminal.usage).to.deep.equal({ inputTokens: 0, outputTokens: 2, source: "partial" });
  });
});
