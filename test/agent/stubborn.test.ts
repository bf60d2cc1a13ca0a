import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Delta } from "../../src/core/model/deltas.ts";
import type { GenerationContext, Provider } from "../../src/core/model/provider.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { cpuTimeOf } from "../cpu-time.ts";
import { Bench, deferred, run, tool } from "./harness.ts";

const capabilities = { streaming: true, tools: true, vision: true, reasoning: true };
const provider = (stream: NonNullable<Provider["stream"]>): Provider => ({ capabilities, stream });
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Everything that was rejected unheard while `work` ran. */
async function unheard(work: () => Promise<unknown>): Promise<unknown[]> {
  const rejections: unknown[] = [];
  const listener = (reason: unknown) => rejections.push(reason);
  process.on("unhandledRejection", listener);
  try {
    await work();
    await turn();
    await turn();
  } finally {
    process.off("unhandledRejection", listener);
  }
  return rejections;
}

describe("a provider that misbehaves", () => {
  it("by yielding empty batches for ever can still be cancelled", async () => {
    const model = provider(async function* () {
      for (;;) yield [];
    });
    const bench = new Bench({ model });
    setImmediate(() => bench.signal("cancel", { reason: "enough" }));
    await bench.run();
    expect(bench.terminal).to.have.nested.property("error.code", "stream_interrupted");
  });

  it("by streaming forever without awaiting is ended by the run's time limit", async () => {
    const model = provider(async function* () {
      for (;;) yield [{ type: "text", text: "x" }];
    });
    const bench = await run({ model, limits: { time: 20 } });
    expect(bench.terminal).to.include({ finish: "max_time" });
  });

  it("by sending deltas after done, or failing twice, changes nothing", async () => {
    const done: Delta = { type: "done", finish: "stop" };
    const late = await run({ model: new ScriptedModel([["a", { deltas: [done] }, "b"]]) });
    expect(late.terminal).to.include({ output: "ab", finish: "stop" });
    const failed = await run({ model: new ScriptedModel([["a", { deltas: [done] }, say.fail("stream_error")]]) });
    expect(failed.terminal).to.have.nested.property("error.code", "stream_error");
  });

  it("by hanging after its done can be cancelled", async () => {
    const bench = new Bench({
      model: new ScriptedModel([["a", { deltas: [{ type: "done", finish: "stop" }] }, say.silence()]]),
    });
    const running = bench.run();
    await bench.when("text.delta");
    bench.signal("cancel", {});
    await running;
    expect(bench.terminal).to.include({ output: "a" });
  });

  it("by pausing for ever is held by the limit on rounds", async () => {
    const model = new ScriptedModel(Array.from({ length: 5 }, () => ["…", say.done("pause")]));
    const bench = await run({ model, limits: { maxToolRounds: 2 } });
    expect(bench.terminal).to.include({ finish: "max_rounds", rounds: 3 });
  });

  it("by rejecting an answer that nobody reads causes no unhandled rejection", async () => {
    const model: Provider = {
      capabilities: { ...capabilities, streaming: false },
      generate: (_request, { signal }: GenerationContext) =>
        new Promise((_, reject) => {
          if (signal.aborted) reject(new Error("aborted"));
          signal.addEventListener("abort", () => reject(new Error("aborted")));
        }),
    };
    for (const at of ["run.started", "round.started"]) {
      const bench = new Bench({ model });
      bench.log.onEvent = (event) => event.type === at && bench.signal("cancel", {});
      expect(await unheard(() => bench.run())).to.deep.equal([]);
      expect(bench.terminal).to.have.nested.property("error.code", "stream_interrupted");
    }
  });
});

describe("the pieces of a generation", () => {
  const ready = (bench: Bench) => bench.of("tool_call.ready").map((event) => [event.name, event.arguments]);
  const told = (bench: Bench, call: string) =>
    bench.of("tool_call.delta").flatMap((event) => (event.call === call ? [event.arguments] : []));
  const tools = [tool("look", () => "")];

  it("come as text, call, text in the order the model said them", async () => {
    const model = new ScriptedModel([
      ["one", ...say.fragments({ name: "look", input: { at: 1 }, size: 3 }), "two"],
      ["end"],
    ]);
    const bench = await run({ model, tools });
    expect(model.requests[1]?.messages.at(-2)?.parts.map((part) => part.type)).to.deep.equal([
      "text",
      "tool_call",
      "text",
    ]);
    expect(told(bench, "call-look-0").join("")).to.equal('{"at":1}');
  });

  it("are kept apart when a call's arguments come before its name", async () => {
    const piece = (index: number, more: object): Delta => ({ type: "tool_call", index, ...more });
    const batches: Delta[][] = [
      [piece(0, { id: "a", arguments: '{"at"' }), { type: "text", text: "said between" }],
      [piece(1, { id: "b", arguments: '{"n"' })],
      [piece(0, { arguments: ":1" }), piece(1, { arguments: ":2" })],
      [piece(0, { name: "look", arguments: "}" }), piece(1, { name: "look" })],
      [piece(1, { arguments: "}", sealed: true })],
    ];
    const model = new ScriptedModel([batches.map((deltas) => ({ deltas })), ["end"]]);
    const bench = await run({ model, tools });
    expect(bench.terminal.output).to.equal("said betweenend");
    expect(ready(bench)).to.deep.equal([
      ["look", { at: 1 }],
      ["look", { n: 2 }],
    ]);
    expect([told(bench, "a").join(""), told(bench, "b").join("")]).to.deep.equal(['{"at":1}', '{"n":2}']);
  });

  it("are emitted once when the wire repeats the complete arguments at the end", async () => {
    const model = new ScriptedModel([
      [
        { deltas: [{ type: "tool_call", index: 0, id: "a", name: "look", arguments: '{"at":' }] },
        { deltas: [{ type: "tool_call", index: 0, arguments: '{"at":1}', replace: true, sealed: true }] },
      ],
      ["end"],
    ]);
    const bench = await run({ model, tools });
    expect(told(bench, "a")).to.deep.equal(['{"at":', "1}"]);
    expect(ready(bench)).to.deep.equal([["look", { at: 1 }]]);
  });

  it("with a call whose name never arrives: it is rejected and the model sees that", async () => {
    const model = new ScriptedModel([
      [{ deltas: [{ type: "tool_call", index: 0, id: "a", arguments: '{"at":1}' }] }],
      ["end"],
    ]);
    const bench = await run({ model, tools });
    expect(bench.of("tool_call.rejected")[0]?.error).to.include({ code: "tool_not_found" });
    expect(bench.terminal).to.include({ output: "end" });
  });

  it("with a call that the wire changes after it was started: nothing of that answer counts", async () => {
    const changed = deferred();
    const model = new ScriptedModel([
      [
        { deltas: [{ type: "tool_call", index: 0, id: "a", name: "look", arguments: '{"n":1}' }] },
        say.until(() => changed.promise),
        { deltas: [{ type: "tool_call", index: 0, arguments: '{"n":2}', replace: true }] },
      ],
      ["end"],
    ]);
    const bench = new Bench({ model, tools });
    const running = bench.run();
    await bench.when("tool.started");
    changed.resolve();
    await running;
    expect(bench.terminal).to.have.nested.property("error.code", "stream_error");
    expect(ready(bench)).to.deep.equal([["look", { n: 1 }]]);
    expect(bench.of("tool.started")).to.have.length(1);
    expect(bench.of("tool.finished")).to.have.length(1);
  });

  it("are put in order in time that does not grow with their square", async () => {
    const calls = (count: number) => Array.from({ length: count }, (_, index) => say.call(index, "nothing", { index }));
    const model = new ScriptedModel([calls(8_000), ["end"]]);
    let bench!: Bench;
    const took = await cpuTimeOf(async () => (bench = await run({ model, tools })));
    expect(took).to.be.below(4_000);
    expect(bench.of("tool_call.rejected")).to.have.length(8_000);
    expect(bench.terminal).to.include({ output: "end" });
  });
});

describe("a tool that misbehaves", () => {
  it("by streaming progress for ever ends with its timeout, and is read no further", async () => {
    let steps = 0;
    let closed = false;
    const endless = tool(
      "endless",
      async function* () {
        try {
          for (;;) {
            steps += 1;
            yield "";
          }
        } finally {
          closed = true;
        }
      },
      { timeout: 10 },
    );
    const bench = await run({ model: new ScriptedModel([[say.call(0, "endless", {})], ["ok"]]), tools: [endless] });
    expect(bench.of("tool.finished")[0]?.error).to.include({ code: "tool_timeout" });
    const seen = steps;
    await turn();
    expect([steps, closed]).to.deep.equal([seen, true]);
  });

  it("by throwing at once inside its iterable, or having none, is a reported failure", async () => {
    const broken = tool("broken", () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => {
          throw new Error("no step");
        },
      }),
    }));
    const worse = tool("worse", () => ({
      [Symbol.asyncIterator]: () => {
        throw new Error("no iterator");
      },
    }));
    const script = [[say.call(0, "broken", {}), say.call(1, "worse", {})], ["ok"]];
    const bench = await run({ model: new ScriptedModel(script), tools: [broken, worse] });
    expect(bench.of("tool.finished").map(({ error }) => error?.code)).to.deep.equal(["tool_failed", "tool_failed"]);
  });

  it("by reporting progress after another worker took the run changes nothing", async () => {
    let progress: (text: string) => void = () => {};
    const talker = tool("talker", (_, context) => {
      progress = context.progress;
      return new Promise(() => {});
    });
    const bench = new Bench({
      model: new ScriptedModel([[say.call(0, "talker", {})]]),
      tools: [talker],
      policy: { grace: 20 },
    });
    const running = bench.run();
    await bench.when("tool.started");
    await turn();
    bench.release.abort(new Error("fenced"));
    expect(() => progress("still here")).not.to.throw();
    await running;
    expect(bench.types).not.to.include("tool.output");
  });

  it("by a schema that does not compile: the call is rejected, not the run", async () => {
    const odd = tool("odd", () => "", { parameters: { type: "nonsense" } });
    const bench = await run({ model: new ScriptedModel([[say.call(0, "odd", {})], ["ok"]]), tools: [odd] });
    expect(bench.of("tool_call.rejected")[0]?.error).to.include({ code: "plugin_failed" });
    expect(bench.terminal).to.include({ output: "ok" });
  });

  it("under onError abort: nothing else starts, what runs is stopped, the model is interrupted", async () => {
    const ran: string[] = [];
    const broken = tool("broken", () => Promise.reject(new Error("no")));
    const slow = tool(
      "slow",
      (_, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => {
            ran.push("slow stopped");
            reject(signal.reason);
          }),
        ),
    );
    const pay = tool("pay", () => ran.push("paid"), { effect: "effectful" });
    const script = [[say.call(0, "slow", {}), say.call(1, "pay", {}), say.call(2, "broken", {}), say.silence()]];
    const model = new ScriptedModel(script);
    const bench = await run({ model, tools: [broken, slow, pay], policy: { onError: "abort" } });
    expect(ran).to.deep.equal(["slow stopped"]);
    expect(bench.terminal).to.have.nested.property("error.code", "tool_failed");
    expect(model.open).to.equal(0);
  });

  it("under onError abort: a rejected call keeps the effectful ones from running", async () => {
    const ran: string[] = [];
    const pay = tool("pay", () => ran.push("paid"), { effect: "effectful" });
    const model = new ScriptedModel([[say.call(0, "pay", {}), say.call(1, "nothing", {})]]);
    const bench = await run({ model, tools: [pay], policy: { onError: "abort" } });
    expect(ran).to.deep.equal([]);
    expect(bench.terminal).to.have.nested.property("error.code", "tool_not_found");
  });
});

describe("a reader that has stopped reading", () => {
  it("does not keep its run from being cancelled", async () => {
    const bench = new Bench({ model: new ScriptedModel([["one", "two"]]), gate: () => new Promise(() => {}) });
    const running = bench.run();
    await bench.when("text.delta");
    await turn();
    bench.signal("cancel", { reason: "enough" });
    await running;
    expect(bench.terminal).to.have.nested.property("error.code", "stream_interrupted");
    expect(bench.terminal.output).to.equal("one");
  });
});

describe("hooks that misbehave", () => {
  const never = () => new Promise<never>(() => {});
  const script = () => new ScriptedModel([[say.call(0, "look", {})], ["ok"]]);
  const tools = [tool("look", () => "seen")];

  for (const name of ["beforeRun", "beforeGeneration", "afterGeneration", "beforeTool", "afterTool"] as const) {
    it(`${name} that hangs does not hold a cancel, nor the run for good`, async () => {
      const asked = deferred();
      const hook = {
        [name]: () => {
          asked.resolve();
          return never();
        },
      };
      const cancelled = new Bench({ model: script(), tools, agent: { hooks: [hook] } });
      const running = cancelled.run();
      await asked.promise;
      cancelled.signal("cancel", { reason: "enough" });
      await running;
      expect(cancelled.terminal).to.have.nested.property("error.code", "stream_interrupted");
      const clock = new VirtualClock();
      const slow = new Bench({ model: script(), tools, agent: { hooks: [hook] }, clock });
      const end = slow.run();
      for (let turns = 0; turns < 20 && !slow.types.includes("run.failed"); turns++) await clock.next();
      await end;
      expect(slow.terminal).to.have.nested.property("error.code", "plugin_failed");
      expect(clock.pending).to.equal(0);
    });

    it(`${name} that throws is plugin_failed for the run, with every tool settled`, async () => {
      const hook = {
        [name]: () => {
          throw new Error("oops");
        },
      };
      const bench = await run({ model: script(), tools, agent: { hooks: [hook] } });
      expect(bench.terminal).to.have.nested.property("error.code", "plugin_failed");
      expect(bench.of("tool.finished")).to.have.length(bench.of("tool.started").length);
    });
  }

  it("afterRun that hangs delays the end of a cancelled run by no more than the grace", async () => {
    const clock = new VirtualClock();
    const model = new ScriptedModel([["a", say.silence()]]);
    const bench = new Bench({ model, agent: { hooks: [{ afterRun: never }] }, clock, policy: { grace: 300 } });
    const running = bench.run();
    await bench.when("text.delta");
    bench.signal("cancel", {});
    await clock.advance(300);
    await running;
    expect(bench.terminal).to.have.nested.property("error.code", "stream_interrupted");
    expect(clock.pending).to.equal(0);
  });

  it("afterRun is called for an end by a limit too", async () => {
    const ends: unknown[] = [];
    const hook = { afterRun: (outcome: { finish?: string }) => void ends.push(outcome.finish) };
    await run({ model: script(), tools, agent: { hooks: [hook] }, limits: { maxToolRounds: 0 } });
    expect(ends).to.deep.equal(["max_rounds"]);
  });

  it("another run's limit, reported by a tool, is an error and not a successful end", async () => {
    const inner = tool("inner", () => {
      throw new VenturiError("agent.run", "budget_exceeded", "spent", { details: { limit: "max_tokens" } });
    });
    const model = new ScriptedModel([[say.call(0, "inner", {})]]);
    const bench = await run({ model, tools: [inner], policy: { onError: "abort" } });
    expect(bench.terminal).to.have.nested.property("error.code", "budget_exceeded");
  });
});
