import { expect } from "chai";
import type { RunEvent } from "../../src/core/run/events.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { recorder } from "../journal/log-recorder.ts";
import { Bench, deferred, run, tool } from "./harness.ts";

const look = tool("look", () => "seen");
const paused = (text: string) => ({
  deltas: [
    { type: "text" as const, text },
    { type: "done" as const, finish: "pause" as const },
  ],
});
const cut = (text: string, finish: "length" | "content_filter" | "refusal") => ({
  deltas: [
    { type: "text" as const, text },
    { type: "done" as const, finish },
  ],
});

describe("the beginning of a run", () => {
  it("records who asked for what, without absent fields", async () => {
    const asked = {
      session: "s",
      parent: { run: "p", call: "c", depth: 1 },
      caller: { id: "key-1" },
      metadata: { a: 1 },
    };
    const full = await run({
      model: new ScriptedModel([["x"]]),
      request: asked,
      agent: { writeInstructions: () => "be kind" },
    });
    expect(full.of("run.started")[0]).to.deep.include({
      agent: "tester",
      input: { text: "go" },
      config: "test",
      instructions: "be kind",
      session: "s",
      parent: asked.parent,
      by: "key-1",
      metadata: { a: 1 },
    });
    const bare = await run({ model: new ScriptedModel([["x"]]) });
    expect(Object.keys(bare.of("run.started")[0] ?? {})).to.have.members([
      "type",
      "agent",
      "input",
      "config",
      "run",
      "seq",
      "at",
    ]);
  });

  it("notes the agent's revision when the run was accepted under another", async () => {
    for (const [revision, noted] of [
      [undefined, []],
      ["r1", []],
      ["r0", ["r1"]],
    ] as const) {
      const bench = await run({
        model: new ScriptedModel([["x"]]),
        request: revision === undefined ? {} : { revision },
      });
      expect(bench.of("agent.revised").map((event) => event.revision)).to.deep.equal(noted);
    }
  });

  it("after a restart is logged with the worker and the idle time", async () => {
    const clock = new VirtualClock();
    const { log, line } = recorder();
    const history = [
      {
        type: "run.started",
        agent: "tester",
        input: { text: "go" },
        run: "run-1",
        seq: 1,
        at: clock.now() - 70,
      } as RunEvent,
    ];
    const bench = await run({ model: new ScriptedModel([["x"]]), history, clock, logger: log });
    expect(bench.of("run.resumed")[0]).to.include({ epoch: 1 });
    expect(line("run resumed")).to.deep.include({
      level: "info",
      fields: { run: "run-1", agent: "tester", epoch: 1, worker: "w", events: 1, idleMs: 70 },
    });
    expect(bench.of("run.started")).to.have.length(1);
  });

  it("that only adds its input to the session asks no model", async () => {
    const bench = await run({ model: new ScriptedModel([]), request: { remember: true } });
    expect(bench.types).to.deep.equal(["run.started", "run.finished"]);
    expect(bench.terminal).to.include({ finish: "stop", output: "" });
  });
});

describe("the end of a run", () => {
  it("with a schema has the object, asks again once, and fails when the answer never fits", async () => {
    const output = { type: "object", required: ["a"] };
    const good = await run({ model: new ScriptedModel([['{"a":1}']]), agent: { output } });
    expect(good.terminal).to.deep.include({ finish: "stop", object: { a: 1 } });
    const second = await run({ model: new ScriptedModel([["no"], ['{"a":2}']]), agent: { output } });
    expect(second.terminal).to.deep.include({ object: { a: 2 } });
    expect(second.of("message.added")).to.have.length(1);
    const never = await run({ model: new ScriptedModel([["no"], ["{}"]]), agent: { output } });
    expect(never.terminal).to.have.nested.property("error.code", "llm_error");
    expect(never.terminal)
      .to.have.nested.property("error.err")
      .that.matches(/must have required property 'a'$/);
  });

  it("with a schema but an answer that was cut has that finish and no object, without asking again", async () => {
    const output = { type: "object", required: ["a"] };
    for (const finish of ["length", "content_filter", "refusal"] as const) {
      const bench = await run({ model: new ScriptedModel([[cut("half", finish)]]), agent: { output } });
      expect(bench.terminal).to.include({ type: "run.finished", finish, output: "half" });
      expect(bench.terminal).not.to.have.property("object");
    }
    const complete = await run({ model: new ScriptedModel([[cut('{"a":1}', "length")]]), agent: { output } });
    expect(complete.terminal).to.deep.include({ finish: "length", object: { a: 1 } });
  });

  it("for a client that sent its own schema is what the model wrote, fitting or not", async () => {
    const request = { output: { name: "n", schema: { type: "object", required: ["a"] } } };
    const misfit = await run({ model: new ScriptedModel([["{}"]]), request });
    expect(misfit.terminal).to.include({ type: "run.finished", finish: "stop", output: "{}" });
    expect(misfit.terminal).not.to.have.property("object");
    const fitting = await run({ model: new ScriptedModel([['{"a":1}']]), request });
    expect(fitting.terminal).to.deep.include({ object: { a: 1 } });
  });

  it("comes after a vendor's pauses, which count as rounds of tools", async () => {
    const once = await run({ model: new ScriptedModel([[paused("a")], ["b"]]), limits: { maxToolRounds: 2 } });
    expect(once.terminal).to.include({ finish: "stop", output: "ab", rounds: 2 });
    const always = await run({
      model: new ScriptedModel(Array.from({ length: 9 }, () => [paused("a")])),
      limits: { maxToolRounds: 2 },
    });
    expect(always.terminal).to.include({ type: "run.finished", finish: "max_rounds", rounds: 3 });
  });

  it("leaves calls to the client with the reason the model stopped for", async () => {
    const clientTools = [{ name: "pick", description: "", parameters: {} }];
    const call = { type: "tool_call" as const, index: 0, id: "c", name: "pick", arguments: "{}", sealed: true };
    for (const [finish, told] of [
      ["stop", "tool_calls"],
      ["tool_calls", "tool_calls"],
      ["length", "length"],
    ] as const) {
      const model = new ScriptedModel([[{ deltas: [call, { type: "done", finish }] }]]);
      expect((await run({ model, request: { clientTools } })).terminal).to.deep.include({
        finish: told,
        calls: [{ call: "c", name: "pick", arguments: {} }],
      });
    }
    const broken = new ScriptedModel([
      [
        {
          deltas: [
            { ...call, arguments: '{"a":' },
            { type: "done", finish: "length" },
          ],
        },
      ],
    ]);
    expect((await run({ model: broken, request: { clientTools } })).terminal).to.deep.include({
      calls: [{ call: "c", name: "pick", arguments: {}, raw: '{"a":' }],
    });
  });

  it("with its own tools beside the client's executes them first", async () => {
    const clientTools = [{ name: "pick", description: "", parameters: {} }];
    const model = new ScriptedModel([[say.call(0, "look", {}), say.call(1, "pick", { n: 1 })]]);
    const bench = await run({ model, tools: [look], request: { clientTools } });
    expect(bench.of("tool.finished").map(({ name }) => name)).to.deep.equal(["look"]);
    expect(bench.terminal).to.deep.include({
      finish: "tool_calls",
      calls: [{ call: "call-pick-1", name: "pick", arguments: { n: 1 } }],
    });
  });

  it("is a failure at the first rejected call under onError: abort, and not under feedback", async () => {
    const strict = tool("strict", () => "", { parameters: { type: "object", required: ["a"] } });
    const model = () => new ScriptedModel([[say.call(0, "strict", { b: 1 })], ["ok"]]);
    const aborted = await run({ model: model(), tools: [strict], policy: { onError: "abort" } });
    expect(aborted.terminal).to.have.nested.property("error.code", "tool_invalid_arguments");
    const fed = await run({ model: model(), tools: [strict] });
    expect(fed.terminal).to.include({ output: "ok" });
    const clientTools = [{ name: "pick", description: "", parameters: {} }];
    const client = new ScriptedModel([
      [
        {
          deltas: [
            { type: "tool_call", index: 0, id: "c", name: "pick", arguments: "[", sealed: true },
            { type: "done", finish: "tool_calls" },
          ],
        },
      ],
    ]);
    const left = await run({ model: client, request: { clientTools }, policy: { onError: "abort" } });
    expect(left.terminal).to.include({ type: "run.finished", finish: "tool_calls" });
  });

  it("is postponed by a message that arrived meanwhile, which is included once", async () => {
    const gate = deferred();
    const model = new ScriptedModel([["a", say.until(() => gate.promise)], ["b"]]);
    const bench = new Bench({ model });
    const over = bench.run();
    await bench.when("text.delta");
    bench.signal("message", { text: "more" });
    bench.signal("message", {});
    gate.resolve();
    await over;
    expect(bench.of("message.added").map(({ message, signal }) => [message.parts[0], signal])).to.deep.equal([
      [{ type: "text", text: "more" }, 1],
      [{ type: "text", text: "" }, 2],
    ]);
    expect(bench.terminal).to.include({ output: "ab", rounds: 2 });
  });

  it("by a limit is an error or a finish, as the agent says, and counts calls before they are made", async () => {
    const two = () => new ScriptedModel([[say.call(0, "look", {}), say.call(1, "look", { n: 1 })], ["end"]]);
    for (const [maxToolCalls, finish, made] of [
      [2, "stop", 2],
      [1, "max_tool_calls", 0],
    ] as const) {
      const bench = await run({ model: two(), tools: [look], limits: { maxToolCalls }, policy: { dispatch: "round" } });
      expect(bench.terminal).to.include({ type: "run.finished", finish });
      expect(bench.of("tool.started")).to.have.length(made);
    }
    const error = await run({ model: two(), tools: [look], limits: { maxToolRounds: 0, onLimit: "error" } });
    expect(error.terminal).to.have.nested.property("error.code", "max_rounds_exceeded");
    expect(error.of("tool.started")).to.deep.equal([]);
    const spent = (outputTokens: number) =>
      run({
        model: new ScriptedModel([[say.usage({ inputTokens: 1, outputTokens: 45 }), say.call(0, "look", {})], ["end"]]),
        tools: [look],
        limits: { outputTokens },
      });
    expect((await spent(44)).terminal).to.include({ finish: "max_output" });
    expect((await spent(65)).terminal).to.include({ finish: "stop" });
    const used = (tokens: number) =>
      run({
        model: new ScriptedModel([[say.usage({ inputTokens: 300, outputTokens: 200 }), "x"]]),
        limits: { tokens },
      });
    expect((await used(499)).terminal).to.include({ finish: "max_tokens" });
    expect((await used(500)).terminal).to.include({ finish: "stop" });
  });

  it("by the sixth same call in a row is announced from the third on", async () => {
    const same = (count: number) => Array.from({ length: count }, () => [say.call(0, "look", { a: 1 })]);
    const outputs = (bench: Bench) =>
      bench.of("tool.finished").map(({ output }) => /same arguments (\d) times/.exec(output ?? "")?.[1]);
    const ended = await run({
      model: new ScriptedModel([...same(9), ["never"]]),
      tools: [look],
      limits: { maxToolRounds: 20 },
    });
    expect(ended.terminal).to.include({ type: "run.finished", finish: "repeated_calls" });
    expect(outputs(ended).slice(0, 5)).to.deep.equal([undefined, undefined, "3", "4", "5"]);
    const other = await run({
      model: new ScriptedModel([...same(5), [say.call(0, "look", { a: 2 })], ...same(5), ["done"]]),
      tools: [look],
      limits: { maxToolRounds: 20 },
    });
    expect(other.terminal).to.include({ finish: "stop", output: "done" });
    const within = await run({
      model: new ScriptedModel([
        [0, 1, 2, 3].flatMap((index) => say.call(index, "look", { a: 1 })),
        [say.call(0, "look", { a: 1 }), say.call(1, "look", { a: 1 })],
        ["never"],
      ]),
      tools: [look],
    });
    expect(within.terminal).to.include({ finish: "repeated_calls" });
  });

  it("is logged with tenant, session, parent and all tokens", async () => {
    const { log, line } = recorder();
    const usage = { inputTokens: 4, outputTokens: 3, cacheReadTokens: 2, cacheWriteTokens: 1 };
    await run({
      model: new ScriptedModel([[say.usage(usage), "x"]]),
      request: { session: "s", parent: { run: "p", call: "c", depth: 1 } },
      logger: log,
    });
    expect(line("run finished")?.fields).to.include({ session: "s", parent: "p", finish: "stop", ...usage });
  });
});
