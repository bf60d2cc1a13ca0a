import { expect } from "chai";
import fc from "fast-check";
import { compact as compactTo } from "../../src/agent/model/compact.ts";
import { estimateMessage } from "../../src/agent/model/estimate.ts";
import { checkInput } from "../../src/agent/run/inputs.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Message } from "../../src/core/model/messages.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { agentOf, run, tool } from "./harness.ts";

const compact = (messages: readonly Message[], contextTokens: number | undefined, reserved = 0) =>
  compactTo(messages, contextTokens === undefined ? undefined : { contextTokens, share: 0.8, reserved });

describe("structured output", () => {
  const output = {
    type: "object",
    properties: { n: { type: "number" } },
    required: ["n"],
    additionalProperties: false,
  };

  it("is a validated object in run.finished", async () => {
    const bench = await run({ model: new ScriptedModel([['{"n":', "1}"]]), agent: { output } });
    expect(bench.terminal).to.deep.include({ object: { n: 1 } });
  });

  it("is asked for once more when it does not fit", async () => {
    const model = new ScriptedModel([["n is 1"], ['```json\n{"n":1}\n```']]);
    const bench = await run({ model, agent: { output } });
    expect(bench.terminal).to.deep.include({ object: { n: 1 } });
    expect(bench.of("message.added")[0]?.message.parts[0]).to.have.property("text").that.contains("not JSON");
  });

  it("is an error when it does not fit the second time either", async () => {
    const bench = await run({ model: new ScriptedModel([["no"], ['{"n":"1"}']]), agent: { output } });
    expect(bench.terminal).to.have.nested.property("error.code", "llm_error");
    expect(bench.terminal).to.have.nested.property("error.op", "agent.run: agent.output");
  });

  it("comes after the tools it needed, and is that of the last answer alone", async () => {
    const model = new ScriptedModel([["let me see", say.call(0, "look", {})], ['{"n":2}']]);
    const bench = await run({ model, tools: [tool("look", () => "2")], agent: { output } });
    expect(bench.terminal).to.deep.include({ object: { n: 2 }, output: 'let me see{"n":2}' });
    expect(model.requests.map((request) => request.output?.schema)).to.deep.equal([output, output]);
  });

  it("is that of the model which took over, without what was retracted", async () => {
    const first = new ScriptedModel([['{"n":', say.fail("unavailable")]]);
    const second = new ScriptedModel([['{"n":3}']]);
    const bench = await run({ model: [first, second], chain: { failover: "retract" }, agent: { output } });
    expect(bench.terminal).to.deep.include({ object: { n: 3 }, output: '{"n":3}' });
  });

  it("cut by the token limit ends the run without an object, because asking again would end the same way", async () => {
    const model = new ScriptedModel([['{"n":', say.done("length")]]);
    const bench = await run({ model, agent: { output } });
    expect(bench.terminal).to.deep.include({ type: "run.finished", finish: "length", output: '{"n":' });
    expect(bench.terminal).not.to.have.property("object");
  });
});

describe("hooks", () => {
  it("are called in order and may change what passes", async () => {
    const seen: string[] = [];
    const hook = (name: string) => ({
      beforeRun: (request: { agent: string; input: { text?: string } }) => {
        seen.push(`${name} run`);
        return { ...request, input: { text: `${request.input.text}+${name}` } };
      },
      beforeTool: (call: { call: string; name: string; arguments: Readonly<Record<string, unknown>> }) => {
        seen.push(`${name} tool`);
        return { ...call, arguments: { ...call.arguments, [name]: true } };
      },
      afterTool: (_: unknown, result: { ok: boolean; output: string }) => ({ ...result, output: `${result.output}!` }),
      afterRun: () => void seen.push(`${name} end`),
    });
    const echo = tool("echo", (input) => JSON.stringify(input));
    const model = new ScriptedModel([[say.call(0, "echo", {})], ["ok"]]);
    const bench = await run({ model, tools: [echo], agent: { hooks: [hook("a"), hook("b")] } });
    expect(seen).to.deep.equal(["a run", "b run", "a tool", "b tool", "a end", "b end"]);
    expect(bench.of("run.started")[0]?.input.text).to.equal("go+a+b");
    expect(bench.of("tool.finished")[0]?.output).to.equal('{"a":true,"b":true}!!');
  });

  it("may deny a tool, which the model sees", async () => {
    const deny = {
      beforeTool: () => {
        throw new VenturiError("policy.check", "tool_denied", "not on a Sunday");
      },
    };
    const bench = await run({
      model: new ScriptedModel([[say.call(0, "echo", {})], ["ok"]]),
      tools: [tool("echo", () => "ran")],
      agent: { hooks: [deny] },
    });
    expect(bench.of("tool.finished")[0]?.error).to.include({ code: "tool_denied", err: "not on a Sunday" });
  });

  it("that throw are plugin_failed for that run alone", async () => {
    const broken = {
      beforeGeneration: () => {
        throw new Error("oops");
      },
    };
    const bench = await run({ model: new ScriptedModel([["never"]]), agent: { hooks: [broken] } });
    expect(bench.terminal).to.have.nested.property("error.code", "plugin_failed");
  });
});

describe("inputs", () => {
  const agent = agentOf({
    model: new ScriptedModel([]),
    agent: { inputs: { customer: { type: "string" }, level: { type: "number", default: 1 } } },
  });

  it("are checked and completed before anything streams", () => {
    expect(checkInput(agent, { text: "x", variables: { customer: "c" } }).variables).to.deep.equal({
      customer: "c",
      level: 1,
    });
    for (const variables of [{}, { customer: 1 }, { customer: "c", nope: 1 }]) {
      expect(() => checkInput(agent, { text: "x", variables }))
        .to.throw(VenturiError)
        .with.property("code", "invalid_input");
    }
  });

  it("take the place of {{name}} in the instructions", async () => {
    const model = new ScriptedModel([["ok"]]);
    await run({
      model,
      agent: { instructions: "Serve {{ customer }}, not {{other}}.", inputs: { customer: { type: "string" } } },
      request: { input: { text: "x", variables: { customer: "Ada" } } },
    });
    expect(model.requests[0]?.messages[0]?.parts[0]).to.include({ text: "Serve Ada, not {{other}}." });
  });
});

describe("compaction", () => {
  const turn = fc
    .tuple(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 0, max: 3 }))
    .map(([size, calls]): Message[] => [
      { role: "user", parts: [{ type: "text", text: "u".repeat(size) }] },
      ...Array.from({ length: calls }, (_, index): Message[] => [
        {
          role: "assistant",
          parts: [
            { type: "reasoning", text: "r", signature: `s${index}` },
            { type: "tool_call", call: `c${index}`, name: "t", arguments: {} },
          ],
        },
        {
          role: "tool",
          parts: [{ type: "tool_result", call: `c${index}`, name: "t", ok: true, output: "o".repeat(size * 9) }],
        },
      ]).flat(),
      { role: "assistant", parts: [{ type: "text", text: "a".repeat(size) }] },
    ]);

  it("never separates a call from its result, keeps reasoning with what it keeps, and keeps the last turn", () => {
    fc.assert(
      fc.property(
        fc.array(turn, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 50, max: 3_000 }),
        (turns, budget) => {
          const all = turns.flat();
          const { messages, dropped } = compact(all, budget);
          const kept = dropped > 0 ? messages.slice(1) : messages;
          expect(kept).to.have.length(all.length - dropped);
          expect(kept[0]?.role).to.equal("user");
          expect(kept.length).to.be.at.least(turns.at(-1)?.length ?? 0);
          kept.forEach((message, index) => {
            const original = all[dropped + index];
            if (message.role !== "tool") expect(message).to.equal(original);
          });
          const size = messages.reduce((sum, message) => sum + estimateMessage(message), 0);
          if (size > budget * 0.8 + 40) expect(dropped).to.equal(all.length - (turns.at(-1)?.length ?? 0));
        },
      ),
    );
  });

  it("keeps system messages, and leaves room for instructions and tools", () => {
    const system: Message = { role: "system", parts: [{ type: "text", text: "rules" }] };
    const said = (role: "user" | "assistant"): Message => ({ role, parts: [{ type: "text", text: "x".repeat(392) }] });
    const all = [system, said("user"), said("assistant"), said("user")];
    expect(compact(all, 400).dropped).to.equal(0);
    const { messages, dropped } = compact(all, 400, 100);
    expect([messages[0], dropped, messages.length]).to.deep.equal([system, 2, 3]);
  });

  it("is reported once, however many rounds follow", async () => {
    const model = new ScriptedModel([[say.call(0, "look", {})], [say.call(0, "look", { n: 1 })], ["ok"]]);
    const old = { role: "user" as const, parts: [{ type: "text" as const, text: "x".repeat(4_000) }] };
    const answer: Message = { role: "assistant", parts: [{ type: "text", text: "y" }] };
    const tools = [tool("look", () => "seen")];
    const bench = await run({ model, tools, session: [old, answer], chain: { contextTokens: 1_000 } });
    expect(bench.of("context.compacted").map(({ dropped }) => dropped)).to.deep.equal([2]);
    for (const request of model.requests) expect(JSON.stringify(request.messages)).to.contain("2 earlier messages");
  });

  it("leaves a conversation that fits as it is", () => {
    const messages: Message[] = [{ role: "user", parts: [{ type: "text", text: "hi" }] }];
    expect(compact(messages, 1_000)).to.deep.equal({ messages, dropped: 0 });
  });
});
