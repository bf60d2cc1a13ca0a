import { expect } from "chai";
import { RunState } from "../../src/agent/state/run-state.ts";
import { continuedBy, extendSession } from "../../src/agent/state/session-messages.ts";
import type { Message } from "../../src/core/model/messages.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { type Bench, run, tool } from "./harness.ts";

const sessionOf = (bench: Bench) => extendSession([], RunState.of(bench.events));

describe("what a run adds to its session", () => {
  it("is what was asked, said, called and answered", async () => {
    const model = new ScriptedModel([["let me see", say.call(0, "look", {})], ["seen"]]);
    const bench = await run({ model, tools: [tool("look", () => "a tree")] });
    expect(sessionOf(bench).map(({ role }) => role)).to.deep.equal(["user", "assistant", "tool", "assistant"]);
  });

  it("excludes calls the client has not answered, and includes those it has", async () => {
    const clientTools = [{ name: "theirs", description: "", parameters: { type: "object" } }];
    const script = [say.reasoning("hm"), say.call(0, "look", {}), say.call(1, "theirs", {})];
    const tools = [tool("look", () => "a tree")];
    const bench = await run({ model: new ScriptedModel([script]), tools, request: { clientTools } });
    const both = sessionOf(bench);
    const types = (messages: readonly Message[]) => messages.map(({ parts }) => parts.map(({ type }) => type));
    expect(types(continuedBy(both, []))).to.deep.equal([["text"], ["reasoning", "tool_call"], ["tool_result"]]);
    const call = bench.of("run.finished")[0]?.calls?.[0]?.call ?? "";
    const result = { type: "tool_result" as const, call, name: "theirs", ok: true, output: "yes" };
    const answer: Message = { role: "tool", parts: [result] };
    expect(types(continuedBy(both, [answer]))).to.deep.equal([
      ["text"],
      ["reasoning", "tool_call", "tool_call"],
      ["tool_result"],
    ]);
    const again: Message = { role: "assistant", parts: [{ type: "tool_call", call, name: "theirs", arguments: {} }] };
    expect(types(continuedBy(both, [again, answer])), "stated again by the client").to.deep.equal([
      ["text"],
      ["reasoning", "tool_call"],
      ["tool_result"],
    ]);
    const model = new ScriptedModel([[say.reasoning("hm"), say.call(0, "theirs", {})]]);
    const alone = sessionOf(await run({ model, request: { clientTools } }));
    expect(continuedBy(alone, [])).to.have.length(1);
  });

  it("includes a failed run's partial text, without calls that were never made", async () => {
    const model = new ScriptedModel([["half", say.call(0, "pay", {}), say.fail("llm_error")]]);
    const bench = await run({ model, tools: [tool("pay", () => "", { effect: "effectful" })] });
    expect(sessionOf(bench).at(-1)).to.deep.equal({ role: "assistant", parts: [{ type: "text", text: "half" }] });
  });

  it("does not offer read_result for results of an ended run", async () => {
    const model = new ScriptedModel([[say.call(0, "long", {})], ["ok"]]);
    const bench = await run({ model, tools: [tool("long", () => "x".repeat(50), { maxOutput: 10 })] });
    const told = JSON.stringify(model.requests[1]?.messages);
    expect(told).to.contain("read_result");
    expect(JSON.stringify(sessionOf(bench)))
      .to.contain("cut: 10 of 50")
      .and.not.to.contain("read_result");
  });

  it("reserves its call ids for the next run", async () => {
    const script = () => new ScriptedModel([[say.call(0, "look", {}, "call_0")], ["ok"]]);
    const tools = [tool("look", () => "")];
    const first = await run({ model: script(), tools });
    const second = await run({ model: script(), tools, session: sessionOf(first) });
    expect(second.of("tool_call.ready")[0]?.call).to.equal("call_0_2");
  });

  describe("keeps calls and results in pairs", () => {
    const call = (id: string): Message["parts"][number] => ({
      type: "tool_call",
      call: id,
      name: "look",
      arguments: {},
    });
    const result = (id: string, output = "seen"): Message["parts"][number] => {
      return { type: "tool_result", call: id, name: "look", ok: true, output };
    };
    const said = (...parts: Message["parts"]): Message => ({ role: "assistant", parts });
    const got = (...parts: Message["parts"]): Message => ({ role: "tool", parts });
    const ask: Message = { role: "user", parts: [{ type: "text", text: "go" }] };

    it("when two turns have a call of one id: the later pair stays", () => {
      const session = [ask, said(call("c0"), call("c1")), got(result("c0", "old"), result("c1")), ask];
      const later = [said(call("c0")), got(result("c0", "new"))];
      expect(continuedBy([...session, ...later], [ask])).to.deep.equal([
        ...[ask, said(call("c1")), got(result("c1")), ask],
        ...later,
      ]);
      expect(continuedBy(session, later), "the client's").to.deep.equal([
        ...[ask, said(call("c1")), got(result("c1")), ask],
      ]);
    });

    it("when the turn with the call is gone", () => {
      expect(continuedBy([got(result("c0")), said({ type: "text", text: "so" })], [ask])).to.deep.equal([
        said({ type: "text", text: "so" }),
      ]);
    });

    it("when a later call of the same id has no result", () => {
      const pair = [said(call("c0")), got(result("c0"))];
      expect(continuedBy([...pair, ask, said(call("c0"))], [ask])).to.deep.equal([...pair, ask]);
    });
  });
});
