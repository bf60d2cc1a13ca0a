import { expect } from "chai";
import { RichOutput } from "../../src/core/ports/tool.ts";
import { timeParts, timingKey } from "../../src/core/run/time-parts.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { Bench, deferred, run, tool } from "./harness.ts";

const add = tool("add", (input) => Number(input.a) + Number(input.b));

describe("the loop", () => {
  it("writes the text as it comes and the whole of it in the terminal event", async () => {
    const bench = await run({ model: new ScriptedModel([["Hel", "lo"]]) });
    expect(bench.types).to.deep.equal([
      "run.started",
      "round.started",
      "text.delta",
      "text.delta",
      "generation.finished",
      "round.finished",
      "run.finished",
    ]);
    expect(bench.terminal).to.include({ finish: "stop", output: "Hello", rounds: 1 });
    expect(bench.events.map((event) => event.seq)).to.deep.equal([1, 2, 3, 4, 5, 6, 7]);
  });

  it("runs the tools a model asks for and feeds the results back until it asks for none", async () => {
    const model = new ScriptedModel([
      ["Let me see. ", ...say.fragments({ name: "add", input: { a: 1, b: 2 }, size: 3 })],
      ["It is 3."],
    ]);
    const bench = await run({ model, tools: [add] });
    expect(bench.terminal).to.include({ finish: "stop", output: "Let me see. It is 3.", rounds: 2 });
    expect(model.requests[1]?.messages.slice(1)).to.deep.equal([
      { role: "user", parts: [{ type: "text", text: "go" }] },
      {
        role: "assistant",
        parts: [
          { type: "text", text: "Let me see. " },
          { type: "tool_call", call: "call-add-0", name: "add", arguments: { a: 1, b: 2 } },
        ],
        provider: "p0",
      },
      { role: "tool", parts: [{ type: "tool_result", call: "call-add-0", name: "add", ok: true, output: "3" }] },
    ]);
    model.assertUsed();
  });

  it("joins what one network read brought into one event of each kind", async () => {
    const model = new ScriptedModel([
      [{ deltas: ["a", "b", "c"].map((text) => ({ type: "text" as const, text })) }, "d"],
    ]);
    const bench = await run({ model });
    expect(bench.of("text.delta").map((event) => event.text)).to.deep.equal(["abc", "d"]);
  });

  it("gives results to the model in call order, whatever order they finish in", async () => {
    const slow = deferred<string>();
    const tools = [tool("slow", () => slow.promise), tool("fast", () => "fast")];
    const model = new ScriptedModel([[say.call(0, "slow", {}), say.call(1, "fast", {})], ["done"]]);
    const bench = new Bench({ model, tools });
    const running = bench.run();
    await bench.when("tool.finished");
    slow.resolve("slow");
    await running;
    expect(bench.of("tool.finished").map((event) => event.name)).to.deep.equal(["fast", "slow"]);
    const results = model.requests[1]?.messages.at(-1)?.parts ?? [];
    expect(results.map((part) => part.type === "tool_result" && part.output)).to.deep.equal(["slow", "fast"]);
  });

  it("makes a repeated vendor call id unique within the run", async () => {
    const call = say.call(0, "add", { a: 1, b: 1 }, "functions.add:0");
    const bench = await run({ model: new ScriptedModel([[call], [call], ["ok"]]), tools: [add] });
    const ids = bench.of("tool.started").map((event) => event.idempotencyKey);
    expect(ids).to.deep.equal(["run-1:functions.add:0", "run-1:functions.add:0_2"]);
  });

  it("sends reasoning back with its signature, byte for byte", async () => {
    const model = new ScriptedModel([
      [
        say.reasoning("hm ", { part: 0 }),
        say.reasoning("so", { part: 0, signature: "sig==" }),
        say.call(0, "add", { a: 1, b: 1 }),
      ],
      ["ok"],
    ]);
    await run({ model, tools: [add] });
    expect(model.requests[1]?.messages[2]?.parts[0]).to.deep.equal({
      type: "reasoning",
      text: "hm so",
      signature: "sig==",
    });
  });

  it("lets a message sent into the run be seen by the next round", async () => {
    const hold = deferred<string>();
    const model = new ScriptedModel([[say.call(0, "wait", {})], ["ok"]]);
    const bench = new Bench({ model, tools: [tool("wait", () => hold.promise)] });
    const running = bench.run();
    await bench.when("tool.started");
    bench.signal("message", { text: "hurry" });
    hold.resolve("waited");
    await running;
    expect(model.requests[1]?.messages.at(-1)).to.deep.equal({
      role: "user",
      parts: [{ type: "text", text: "hurry" }],
    });
  });

  it("goes on for another round when a message came while the last one was talking", async () => {
    const hold = deferred();
    const model = new ScriptedModel([["one", say.until(() => hold.promise)], ["two"]]);
    const bench = new Bench({ model });
    const running = bench.run();
    await bench.when("text.delta");
    bench.signal("message", { text: "more" });
    hold.resolve();
    await running;
    expect(bench.terminal).to.include({ output: "onetwo", rounds: 2 });
  });

  it("sends a tool's images to the model in the call's result", async () => {
    const image = { mediaType: "image/png", data: "AAAA" };
    const model = new ScriptedModel([[say.call(0, "draw", {})], ["ok"]]);
    const bench = await run({ model, tools: [tool("draw", () => new RichOutput("a dot", [image]))] });
    expect(bench.of("tool.finished")[0]).to.deep.include({ output: "a dot", images: [image] });
    expect(model.requests[1]?.messages.at(-1)?.parts[0]).to.deep.include({
      output: "a dot",
      images: [{ type: "image", ...image }],
    });
  });

  it("leaves the client's own tools to the client", async () => {
    const clientTools = [{ name: "pick", description: "", parameters: { type: "object" } }];
    const model = new ScriptedModel([[say.call(0, "pick", { x: 1 })]]);
    const bench = await run({ model, request: { clientTools } });
    expect(bench.terminal).to.deep.include({
      finish: "tool_calls",
      calls: [{ call: "call-pick-0", name: "pick", arguments: { x: 1 } }],
    });
  });

  it("splits the run's time into parts", async () => {
    const bench = await run({
      model: new ScriptedModel([["a", say.call(0, "add", { a: 1, b: 1 })], ["b"]]),
      tools: [add],
    });
    const { timing } = bench.terminal;
    expect(Object.keys(timing)).to.have.members(timeParts.map(timingKey));
  });
});
