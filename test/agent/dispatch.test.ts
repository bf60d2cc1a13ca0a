import { expect } from "chai";
import { sleep } from "../../src/core/ports/clock.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { Bench, deferred, run, tool } from "./harness.ts";

describe("dispatch", () => {
  it("starts a pure tool while the model is still talking, and reports the time saved", async () => {
    const talking = deferred();
    const tools = [tool("look", () => "seen")];
    const model = new ScriptedModel([
      [
        ...say.fragments({ name: "look", input: { at: "x" }, size: 4 }),
        "and so",
        say.until(() => talking.promise),
        " on",
      ],
      ["ok"],
    ]);
    const bench = new Bench({ model, tools });
    const running = bench.run();
    const finished = await bench.when("tool.finished");
    expect(bench.types).not.to.include("generation.finished");
    talking.resolve();
    await running;
    expect(finished.savedMs).to.be.greaterThan(0);
    expect(bench.terminal).to.include({ finish: "stop" });
  });

  it("reports the overlap of tool and generation as saved time, and none after a retraction", async () => {
    for (const [toolMs, talkMs, saved] of [
      [300, 1_000, 300],
      [1_000, 300, 300],
    ] as const) {
      const clock = new VirtualClock();
      const model = new ScriptedModel([[say.call(0, "look", { at: 1 }), "so", say.wait(talkMs)], ["ok"]], { clock });
      const look = tool("look", (_, { signal }) => sleep(clock, toolMs, signal));
      const bench = new Bench({ model, tools: [look], clock });
      let over = false;
      const running = bench.run().then(() => {
        over = true;
      });
      while (!over && (await clock.next()));
      await running;
      expect(bench.of("tool.finished")[0]?.savedMs).to.equal(saved);
    }
    const model = new ScriptedModel([[say.call(0, "look", { at: 1 }), say.fail("llm_error")]]);
    const bench = await run({ model, tools: [tool("look", () => new Promise(() => {}))] });
    expect(bench.of("tool.finished")[0]).to.include({ ok: false }).and.not.to.have.property("savedMs");
  });

  it("holds an effectful tool back until the generation has succeeded", async () => {
    const model = new ScriptedModel([[say.call(0, "pay", {}), "more text"], ["ok"]]);
    const bench = await run({ model, tools: [tool("pay", () => "paid", { effect: "effectful" })] });
    expect(bench.types.indexOf("tool.started")).to.be.greaterThan(bench.types.indexOf("generation.finished"));
  });

  it("treats a tool without a declared effect as effectful", async () => {
    const { effect: _, ...undeclared } = tool("pay", () => "paid");
    const bench = await run({ model: new ScriptedModel([[say.call(0, "pay", {}), "x"], ["ok"]]), tools: [undeclared] });
    expect(bench.types.indexOf("tool.started")).to.be.greaterThan(bench.types.indexOf("generation.finished"));
  });

  it("waits for every tool under dispatch: round", async () => {
    const model = new ScriptedModel([[say.call(0, "look", {}), "x"], ["ok"]]);
    const bench = await run({ model, tools: [tool("look", () => 1)], policy: { dispatch: "round" } });
    expect(bench.types.indexOf("tool.started")).to.be.greaterThan(bench.types.indexOf("generation.finished"));
  });

  it("cancels what ran early when the generation fails", async () => {
    let aborted = false;
    const slow = tool(
      "slow",
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            aborted = true;
            reject(signal.reason);
          });
        }),
    );
    const started = deferred();
    const model = new ScriptedModel([
      [say.call(0, "slow", {}), say.until(() => started.promise), say.fail("llm_error")],
    ]);
    const bench = new Bench({ model, tools: [slow] });
    const running = bench.run();
    await bench.when("tool.started");
    started.resolve();
    await running;
    expect(aborted).to.equal(true);
    expect(bench.terminal).to.have.nested.property("error.code", "llm_error");
  });

  it("cancels what ran early when the generation is retracted, and counts only the new ownership", async () => {
    const started = deferred();
    const ran: unknown[] = [];
    const slow = tool("slow", (input, { signal }) => {
      ran.push(input.n);
      if (input.n === 2) return "second";
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    });
    const first = new ScriptedModel([
      ["one", say.call(0, "slow", { n: 1 }), say.until(() => started.promise), say.fail("unavailable")],
    ]);
    const second = new ScriptedModel([["two", say.call(0, "slow", { n: 2 })], ["!"]]);
    const bench = new Bench({ model: [first, second], tools: [slow], chain: { failover: "retract" } });
    const running = bench.run();
    await bench.when("tool.started");
    started.resolve();
    // The second round is asked of the first provider again, whose script is over.
    await running;
    expect(ran).to.deep.equal([1, 2]);
    expect(bench.of("round.retracted")).to.have.length(1);
    expect(bench.terminal).to.include({ output: "two!" });
    expect(second.requests[1]?.messages.at(-1)?.parts[0]).to.include({ output: "second", ok: true });
  });

  it("runs at most `concurrency` tools at once, and an exclusive one alone", async () => {
    let running = 0;
    let most = 0;
    let withExclusive = 0;
    const busy = (exclusive: boolean) => async () => {
      running += 1;
      most = Math.max(most, running);
      if (exclusive) withExclusive = Math.max(withExclusive, running);
      await new Promise((resolve) => setImmediate(resolve));
      if (exclusive) withExclusive = Math.max(withExclusive, running);
      running -= 1;
      return "";
    };
    const tools = [tool("any", busy(false)), tool("alone", busy(true), { exclusive: true })];
    const calls = Array.from({ length: 12 }, (_, index) => say.call(index, index === 5 ? "alone" : "any", { index }));
    await run({ model: new ScriptedModel([calls, ["ok"]]), tools, policy: { concurrency: 3 } });
    expect(most).to.equal(3);
    expect(withExclusive).to.equal(1);
  });

  it("tells the progress of a tool that streams, and takes its return value as the output", async () => {
    const steps = tool("steps", async function* () {
      yield "half";
      yield "nearly";
      return "done";
    });
    const bench = await run({ model: new ScriptedModel([[say.call(0, "steps", {})], ["ok"]]), tools: [steps] });
    expect(bench.of("tool.output").map((event) => event.text)).to.deep.equal(["half", "nearly"]);
    expect(bench.of("tool.finished")[0]?.output).to.equal("done");
  });

  it("runs no more than the calls a round may have, and says so for the rest", async () => {
    const calls = Array.from({ length: 5 }, (_, index) => say.call(index, "any", { index }));
    const bench = await run({
      model: new ScriptedModel([calls, ["ok"]]),
      tools: [tool("any", () => "")],
      limits: { maxCallsPerRound: 3 },
    });
    expect(bench.of("tool.started")).to.have.length(3);
    expect(bench.of("tool.finished").filter((event) => event.error?.code === "budget_exceeded")).to.have.length(2);
  });
});
