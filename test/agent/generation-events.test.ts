import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Delta } from "../../src/core/model/deltas.ts";
import { RichOutput } from "../../src/core/ports/tool.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { recorder } from "../journal/log-recorder.ts";
import { failing } from "./failing.ts";
import { Bench, run, type Setup, tool } from "./harness.ts";

const reads = (...batches: readonly (readonly Delta[])[]) => batches.map((deltas) => ({ deltas }));
const text = (value: string, more = {}): Delta => ({ type: "text", text: value, ...more });
const reasoning = (value: string, more = {}): Delta => ({ type: "reasoning", text: value, ...more });
const done = (finish: "stop" | "tool_calls" | "length" = "stop", more = {}): Delta => ({
  type: "done",
  finish,
  ...more,
});

/** Events of the first generation, without what every event has. */
async function written(batches: readonly (readonly Delta[])[], setup: Partial<Setup> = {}): Promise<object[]> {
  const bench = await run({ model: new ScriptedModel([reads(...batches), ["end"]]), ...setup });
  const first = bench.types.indexOf("round.started") + 1;
  const last = bench.types.findIndex((type) => type === "generation.finished" || type === "generation.failed");
  return bench.events.slice(first, last).map(({ run: _run, seq: _seq, at: _at, ...body }: RunEvent) => body);
}

describe("the deltas of a generation", () => {
  it("of one kind from one network read become one event, in order", async () => {
    expect(
      await written([
        [text("a"), text("b"), reasoning("c"), reasoning("d"), { type: "refusal", text: "e" }, text(""), text("f")],
        [text("g"), done()],
      ]),
    ).to.deep.equal([
      { type: "text.delta", round: 1, text: "ab" },
      { type: "reasoning.delta", round: 1, text: "cd" },
      { type: "refusal.delta", round: 1, text: "e" },
      { type: "text.delta", round: 1, text: "f" },
      { type: "text.delta", round: 1, text: "g" },
    ]);
  });

  it("keep parts of reasoning, signatures, ids and encrypted pieces apart", async () => {
    expect(
      await written([
        [
          reasoning("a", { part: 0 }),
          reasoning("b", { part: 0 }),
          reasoning("c", { part: 1 }),
          reasoning("", { part: 1 }),
        ],
        [reasoning("d"), reasoning("", { signature: "s" }), reasoning("e"), reasoning("", { encrypted: "x", id: "i" })],
        [text("f"), text("g", { signature: "t" }), text("h"), done()],
      ]),
    ).to.deep.equal([
      { type: "reasoning.delta", round: 1, text: "ab", part: 0 },
      { type: "reasoning.delta", round: 1, text: "c", part: 1 },
      { type: "reasoning.delta", round: 1, text: "d" },
      { type: "reasoning.delta", round: 1, text: "", signature: "s" },
      { type: "reasoning.delta", round: 1, text: "e" },
      { type: "reasoning.delta", round: 1, text: "", encrypted: "x", id: "i" },
      { type: "text.delta", round: 1, text: "f" },
      { type: "text.delta", round: 1, text: "g", signature: "t" },
      { type: "text.delta", round: 1, text: "h" },
    ]);
  });

  it("from vendor parts keep their place among the others", async () => {
    const activity = (more = {}): Delta => ({ type: "activity", kind: "part", wire: "w", data: { n: 1 }, ...more });
    expect(await written([[text("a"), activity(), text("b"), activity({ keep: true }), done()]])).to.deep.equal([
      { type: "text.delta", round: 1, text: "a" },
      { type: "provider.activity", round: 1, kind: "part", wire: "w", data: { n: 1 } },
      { type: "text.delta", round: 1, text: "b" },
      { type: "provider.activity", round: 1, kind: "part", wire: "w", data: { n: 1 }, keep: true },
    ]);
    let deep: unknown = {};
    for (let level = 0; level < 100; level++) deep = [deep];
    const bench = await run({ model: new ScriptedModel([reads([activity({ data: deep })])]) });
    expect(bench.terminal).to.have.nested.property("error.code", "too_large");
    expect(bench.of("provider.activity")).to.deep.equal([]);
  });

  it("of parallel calls are written call by call, with ids unique in the run", async () => {
    const call = (index: number, more: object): Delta => ({ type: "tool_call", index, ...more });
    const model = new ScriptedModel([
      reads([
        text("a"),
        call(0, { id: "same", name: "look", arguments: '{"n"' }),
        call(0, { arguments: ":1}" }),
        call(1, { id: "same", name: "look", arguments: "{}" }),
        call(0, { sealed: true }),
        call(1, { sealed: true, signature: "s" }),
        done("tool_calls"),
      ]),
      reads([call(0, { id: "same", name: "look", arguments: "{}", sealed: true }), done("tool_calls")]),
      ["end"],
    ]);
    const bench = await run({ model, tools: [tool("look", () => "seen")] });
    expect(bench.of("tool_call.started").map(({ round, call, index }) => [round, call, index])).to.deep.equal([
      [1, "same", 0],
      [1, "same_2", 1],
      [2, "same_3", 0],
    ]);
    expect(bench.of("tool_call.delta").map(({ call, arguments: piece }) => [call, piece])).to.deep.equal([
      ["same", '{"n":1}'],
      ["same_2", "{}"],
      ["same_3", "{}"],
    ]);
    expect(
      bench.of("tool_call.ready").map(({ call, arguments: input, signature }) => [call, input, signature]),
    ).to.deep.equal([
      ["same", { n: 1 }, undefined],
      ["same_2", {}, "s"],
      ["same_3", {}, undefined],
    ]);
    expect(bench.types.indexOf("text.delta")).to.be.below(bench.types.indexOf("tool_call.started"));
  });

  it("of a client tool are marked as such, and its call ends the run", async () => {
    const clientTools = [{ name: "pick", description: "", parameters: {} }];
    const model = new ScriptedModel([[say.call(0, "pick", { n: 1 })]]);
    const bench = await run({ model, request: { clientTools } });
    expect(bench.of("tool_call.started")[0]).to.include({ name: "pick", client: true });
    expect(bench.terminal).to.deep.include({
      finish: "tool_calls",
      calls: [{ call: "call-pick-0", name: "pick", arguments: { n: 1 } }],
    });
  });

  it("without a name are rejected like an unknown tool, with a line in the log", async () => {
    const { log, line } = recorder();
    const model = new ScriptedModel([
      reads([{ type: "tool_call", index: 0, id: "c", arguments: "{}" }, done("tool_calls")]),
      ["end"],
    ]);
    const bench = await run({ model, tools: [tool("look", () => "")], logger: log });
    const [rejected] = bench.of("tool_call.rejected");
    expect(rejected).to.deep.include({ call: "c", name: "unnamed", arguments: "{}" });
    expect(rejected?.error).to.include({ code: "tool_not_found" });
    expect(line("tool call rejected")).to.deep.include({
      level: "warn",
      fields: { run: "run-1", call: "c", tool: "unnamed", code: "tool_not_found", reason: rejected?.error.err },
    });
  });

  it("count towards the generation's limit with their signatures and with every event", async () => {
    const over = async (...deltas: Delta[]) => {
      const limits = { generationBytes: 200 };
      const { terminal } = await run({ model: new ScriptedModel([reads(deltas, [done()])]), limits });
      return terminal.type === "run.finished" && terminal.finish === "max_output";
    };
    const long = "x".repeat(200 - 64);
    const rows: readonly (readonly [Delta, Delta])[] = [
      [text(long), text(`${long}y`)],
      [text("", { signature: long }), text("y", { signature: long })],
      [reasoning("", { signature: long }), reasoning("y", { signature: long })],
      [reasoning("", { encrypted: long }), reasoning("y", { encrypted: long })],
      [
        { type: "activity", kind: "part", wire: "w", data: long.slice(2) },
        { type: "activity", kind: "part", wire: "w", data: long.slice(1) },
      ],
    ];
    for (const [within, beyond] of rows) {
      expect(await over(within), JSON.stringify(within).slice(0, 40)).to.equal(false);
      expect(await over(beyond), JSON.stringify(beyond).slice(0, 40)).to.equal(true);
    }
  });
});

describe("the end of a generation", () => {
  it("records finish, raw reason, the vendor's id and model; the first end counts", async () => {
    const bench = await run({
      model: new ScriptedModel([
        reads(
          [{ type: "response", id: "r1", model: "m-1" }, text("a")],
          [{ type: "response" }, { type: "usage", usage: { inputTokens: 3, outputTokens: 1 } }],
          [done("length", { raw: "max" }), done("stop")],
        ),
      ]),
    });
    expect(bench.of("generation.finished")[0]).to.deep.include({
      round: 1,
      attempt: 1,
      finish: "length",
      raw: "max",
      responseId: "r1",
      responseModel: "m-1",
      usage: { inputTokens: 3, outputTokens: 1 },
    });
    const plain = (await run({ model: new ScriptedModel([["a"]]) })).of("generation.finished")[0];
    expect(plain).not.to.have.any.keys("raw", "responseId", "responseModel");
  });

  it("is tool_calls where a server says stop but there are calls", async () => {
    const model = (finish: "stop" | "length") =>
      new ScriptedModel([
        reads([{ type: "tool_call", index: 0, id: "c", name: "look", arguments: "{}", sealed: true }, done(finish)]),
        ["end"],
      ]);
    const tools = [tool("look", () => "")];
    expect((await run({ model: model("stop"), tools })).of("generation.finished")[0]?.finish).to.equal("tool_calls");
    expect((await run({ model: model("length"), tools })).of("generation.finished")[0]?.finish).to.equal("length");
  });

  it("that never arrives is a cut stream, reported with its cost if known", async () => {
    class Cut extends ScriptedModel {
      override readonly stream = async function* () {
        yield [text("x".repeat(40))];
      };
    }
    const bench = await run({ model: new Cut([]), request: { input: { text: "hi" } } });
    const [failed] = bench.of("generation.failed");
    expect(failed?.error).to.include({ code: "stream_error" });
    expect(failed?.usage).to.include({ outputTokens: 10, source: "estimated" });
    const refused = await run({ model: new ScriptedModel([[say.fail("unauthorized")]]) });
    expect(refused.of("generation.failed")[0]).not.to.have.property("usage");
  });

  it("after a failover lists the skipped models", async () => {
    const failing = () => [say.fail("unavailable")];
    const first = new ScriptedModel(Array.from({ length: 5 }, failing));
    const { Breakers } = await import("../../src/agent/run/breaker.ts");
    const clock = new VirtualClock();
    const breakers = new Breakers(clock);
    const models = () => [first, new ScriptedModel([["ok"]])];
    for (let count = 0; count < 5; count++) await run({ model: models(), breakers, clock, run: `run-${count}` });
    const bench = await run({ model: models(), breakers, clock });
    expect(bench.of("round.started").map(({ model, skipped }) => [model, skipped])).to.deep.equal([["p1/m", ["p0/m"]]]);
  });

  it("leaves the breaker's probe free when the request could not be made", async () => {
    const { Breakers } = await import("../../src/agent/run/breaker.ts");
    const clock = new VirtualClock();
    const breakers = new Breakers(clock);
    for (let count = 0; count < 5; count++) failing(breakers, { run: `${count}` });
    await clock.advance(30_000);
    const hooks = [
      {
        beforeGeneration: () => {
          throw new VenturiError("x", "forbidden", "no");
        },
      },
    ];
    const denied = await run({ model: new ScriptedModel([["never"]]), breakers, clock, agent: { hooks } });
    expect(denied.terminal).to.have.nested.property("error.code", "forbidden");
    expect(breakers.view("p0").state).to.equal("half-open");
    const next = await run({ model: new ScriptedModel([["ok"]]), breakers, clock });
    expect(next.terminal).to.include({ type: "run.finished", output: "ok" });
    expect(breakers.view("p0").state).to.equal("closed");
  });
});

describe("a tool's run", () => {
  const calling = (name = "look", input = {}) => new ScriptedModel([[say.call(0, name, input)], ["end"]]);

  it("reports as saved exactly the time that overlapped with the generation", async () => {
    const clock = new VirtualClock();
    const model = new ScriptedModel([[say.call(0, "look", {}), say.wait(30)], ["end"]], { clock });
    const look = tool("look", () => new Promise((resolve) => void clock.after(50, () => resolve("seen"))));
    const bench = new Bench({ model, tools: [look], clock });
    const over = bench.run();
    for (let step = 0; step < 20; step++) await clock.advance(5);
    await over;
    expect(bench.of("tool.finished")[0]).to.include({ ms: 50, savedMs: 30, ok: true, output: "seen" });
    const quick = await run({
      model: new ScriptedModel([[say.call(0, "look", {})], ["end"]], { clock: new VirtualClock() }),
      tools: [tool("look", () => "x")],
      clock: new VirtualClock(),
    });
    expect(quick.of("tool.finished")[0]).not.to.have.property("savedMs");
  });

  it("reports progress as it arrives, except empty text", async () => {
    const look = tool("look", async function* () {
      yield "one";
      yield "";
      yield "two";
    } as never);
    const bench = await run({ model: calling(), tools: [look] });
    expect(bench.of("tool.output").map(({ text }) => text)).to.deep.equal(["one", "two"]);
    expect(bench.of("tool.finished")[0]).to.include({ output: "two" });
  });

  it("that gives more than 64 images or files, or more than 32 MiB of them, fails with too_large", async () => {
    const output = async (count: number, data = "x") => {
      const images = Array(count).fill({ mediaType: "image/png", data });
      const files = Array(count).fill({ mediaType: "application/pdf", data });
      const ends = [];
      for (const rich of [new RichOutput("text", images), new RichOutput("text", [], files)]) {
        const bench = await run({ model: calling(), tools: [tool("look", () => rich)] });
        ends.push(bench.of("tool.finished")[0]?.error?.code);
      }
      return ends;
    };
    expect(await output(64)).to.deep.equal([undefined, undefined]);
    expect(await output(65)).to.deep.equal(["too_large", "too_large"]);
    const half = "x".repeat(16 * 1024 * 1024);
    expect(await output(2, half)).to.deep.equal([undefined, undefined]);
    expect(await output(2, `${half}x`)).to.deep.equal(["too_large", "too_large"]);
  });

  it("is shown up to its output limit", async () => {
    const finished = async (length: number) =>
      (await run({ model: calling(), tools: [tool("look", () => "x".repeat(length))], policy: { maxOutput: 100 } })).of(
        "tool.finished",
      )[0];
    expect(await finished(100)).not.to.have.property("shown");
    expect(await finished(101)).to.include({ shown: 100 });
  });

  it("that fails is logged with code, reason and duration", async () => {
    const { log, line } = recorder();
    const look = tool("look", () => {
      throw new Error("bug");
    });
    await run({ model: calling(), tools: [look], logger: log });
    expect(line("tool failed")?.fields).to.include({
      run: "run-1",
      round: 1,
      call: "call-look-0",
      tool: "look",
      code: "tool_failed",
    });
    expect(line("tool failed")?.fields.reason).to.match(/^look: bug/);
    expect(line("tool failed")?.fields.ms).to.be.a("number");
  });

  it("is forced in the first round only, if the client forced it", async () => {
    for (const [toolChoice, wanted] of [
      ["required", ["required", undefined]],
      [{ name: "look" }, [{ name: "look" }, undefined]],
      ["none", ["none", "none"]],
      ["auto", ["auto", "auto"]],
      [undefined, [undefined, undefined]],
    ] as const) {
      const model = calling();
      const nativeChoice = { wire: "w", fields: { tool_choice: 1 } };
      await run({
        model: Object.assign(model, { wire: "w" }),
        tools: [tool("look", () => "")],
        request: { ...(toolChoice && { toolChoice }), nativeChoice },
      });
      expect(model.requests.map((request) => request.toolChoice)).to.deep.equal(wanted);
      expect(model.requests.map((request) => request.nativeChoice !== undefined)).to.deep.equal(
        wanted.map((choice) => choice !== undefined),
      );
    }
  });
});
