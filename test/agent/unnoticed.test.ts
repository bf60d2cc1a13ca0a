// Small changes of the agent that no other test noticed: each was found by `npm run mutate`.
import { expect } from "chai";
import { bodyAcross } from "../../src/agent/model/across-wires.ts";
import { FilteredDeltas } from "../../src/agent/model/filtered-deltas.ts";
import { fitTo } from "../../src/agent/model/fit.ts";
import { forCall } from "../../src/agent/run/for-call.ts";
import { HookChain } from "../../src/agent/run/hook-chain.ts";
import { freshInput } from "../../src/agent/run/judge-hooks.ts";
import { memberOf } from "../../src/agent/run/split.ts";
import { shownFirst } from "../../src/agent/tools/approval-show.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Delta } from "../../src/core/model/deltas.ts";
import type { Message } from "../../src/core/model/messages.ts";
import type { GenerationRequest } from "../../src/core/model/provider.ts";
import type { TextFilter } from "../../src/core/ports/hooks.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { agentOf, Bench, deferred, run, tool } from "./harness.ts";

const user = (text: string): Message => ({ role: "user", parts: [{ type: "text", text }] });
const assistant = (text: string): Message => ({ role: "assistant", parts: [{ type: "text", text }] });

describe("the end of a run", () => {
  it("waits for a hook that hangs no longer than the grace of tools, once the run has failed", async () => {
    const clock = new VirtualClock();
    const { promise } = deferred();
    const bench = new Bench({
      model: new ScriptedModel([[say.fail("llm_error")]], { clock }),
      agent: { hooks: [{ afterRun: () => promise }] },
      clock,
    });
    const running = bench.run();
    await clock.advance(49);
    expect(bench.types).not.to.include("run.failed");
    await clock.advance(1);
    await running;
    expect(bench.terminal.type).to.equal("run.failed");
  });

  it("has no reason of a pause for which nobody gave one", async () => {
    const bench = new Bench({
      model: new ScriptedModel([[say.call(0, "look", {})], ["done"]]),
      tools: [tool("look", () => "")],
    });
    bench.log.onEvent = ({ type }) => {
      if (type === "tool.started") bench.signal("pause", {});
    };
    await bench.run();
    expect(bench.of("run.paused")[0]).not.to.have.property("reason");
  });

  it("takes a report of a crash for no approval, and says how the process of the owner before ended", async () => {
    const first = await run({ model: new ScriptedModel([["half"]]) });
    const history = first.events.slice(0, first.types.indexOf("text.delta"));
    for (const [epoch, cause] of [
      [0, "was killed"],
      [-1, undefined],
    ] as const) {
      const bench = new Bench({ model: new ScriptedModel([["whole"]]), history });
      bench.signal("crashed", { epoch, at: 5, cause: "was killed", worker: "w0" });
      await bench.run();
      expect(bench.terminal).to.include({ type: "run.finished", output: "whole" });
      const resumed = JSON.stringify(bench.of("run.resumed")[0]);
      if (cause === undefined) expect(resumed).not.to.contain("was killed");
      else expect(resumed).to.contain(cause);
    }
  });
});

/** Holds everything back, in upper case, until it is flushed. */
const holding = (): TextFilter => {
  let held = "";
  const out = () => {
    const text = held.toUpperCase();
    held = "";
    return text;
  };
  return {
    push(text) {
      held += text;
      return "";
    },
    flush: out,
    end: async () => out(),
  };
};

function filtered(filter: (of: "output" | "reasoning" | "results") => TextFilter | undefined) {
  const clock = new VirtualClock();
  const signal = new AbortController().signal;
  const hooks = new HookChain([{ filter }], { clock, fail: () => {} }, {
    run: "r",
    agent: "a",
    signal,
    depth: 0,
  } as never);
  const deltas = FilteredDeltas.of(hooks, 1, () => {});
  if (deltas === undefined) return expect.fail("no filter");
  return { apply: (...batch: Delta[]) => deltas.apply(batch), end: () => deltas.end() };
}

describe("deltas behind a filter", () => {
  it("pass on no empty text, but a signature without text and the id of a thought", () => {
    const { apply } = filtered(holding);
    expect(apply({ type: "text", text: "held" })).to.deep.equal([]);
    expect(apply({ type: "text", text: "", signature: "s" })).to.deep.equal([
      { type: "text", text: "", signature: "s" },
    ]);
    expect(apply({ type: "refusal", text: "no" })).to.deep.equal([]);
    expect(apply({ type: "reasoning", text: "", id: "rs_1", part: 0 })).to.deep.equal([
      { type: "reasoning", text: "", id: "rs_1", part: 0 },
    ]);
    expect(apply({ type: "reasoning", text: "hm", part: 0 })).to.deep.equal([]);
  });

  it("name the part of a thought that was held back, and no part of a text", async () => {
    const { apply, end } = filtered(holding);
    apply({ type: "text", text: "said" }, { type: "reasoning", text: "one", part: 0 });
    expect(apply({ type: "reasoning", text: "two", part: 1 })).to.deep.equal([
      { type: "reasoning", text: "ONE", part: 0 },
    ]);
    expect(apply({ type: "tool_call", index: 0, id: "c", name: "look", arguments: "" })).to.deep.equal([
      { type: "text", text: "SAID" },
      { type: "reasoning", text: "TWO", part: 1 },
      { type: "tool_call", index: 0, id: "c", name: "look", arguments: "" },
    ]);
    apply({ type: "reasoning", text: "three", part: 1 }, { type: "text", text: "end" });
    expect(await end()).to.deep.equal([
      { type: "text", text: "END" },
      { type: "reasoning", text: "THREE", part: 1 },
    ]);
  });

  it("flush the text before an activity, but not before a citation, and screen what is in both", () => {
    const { apply } = filtered(holding);
    const cited = { type: "activity", kind: "citation", wire: "w", data: { URL: "X" } } as const;
    expect(apply({ type: "text", text: "said" }, cited)).to.deep.equal([cited]);
    const searched = { type: "activity", kind: "search", data: { Q: "A" }, keep: true } as never;
    expect(apply(searched)).to.deep.equal([
      { type: "text", text: "SAID" },
      { type: "activity", kind: "search", data: { Q: "A" }, keep: true },
    ]);
    expect(apply({ type: "activity", kind: "search", data: { Q: "secret" }, keep: true } as never)).to.deep.equal([
      { type: "activity", kind: "search", data: { Q: "SECRET" } },
    ]);
    expect(apply({ type: "activity", kind: "fields", data: {} } as never)).to.deep.equal([]);
    expect(apply({ type: "response", id: "r", native: { wire: "W", fields: { a: "masked" } } } as never)).to.deep.equal(
      [{ type: "response", id: "r" }],
    );
  });

  it("pass through the filters of two hooks, the first one's output into the second", () => {
    const clock = new VirtualClock();
    const adding = (sign: string): TextFilter => ({
      push: (text) => `${text}${sign}`,
      flush: () => sign,
      end: async () => sign,
    });
    const hooks = new HookChain(
      [{ filter: () => adding("1") }, { filter: () => adding("2") }],
      { clock, fail: () => {} },
      { run: "r", agent: "a", signal: new AbortController().signal, depth: 0 } as never,
    );
    const filter = hooks.filter("output", 1);
    expect(filter?.push("x")).to.equal("x12");
    expect(filter?.flush()).to.equal("122");
  });
});

describe("what is judged as input", () => {
  it("is what users said since the model last spoke", () => {
    expect(freshInput([user("one"), user("two")])).to.deep.equal(["one", "two"]);
    expect(freshInput([user("old"), assistant("a"), user("new"), user(""), user("newer")])).to.deep.equal([
      "new",
      "newer",
    ]);
    expect(freshInput([user("old"), assistant("a")])).to.deep.equal([]);
  });
});

describe("values shown first to who approves", () => {
  const approval = (show: string[]) => ({ when: "always", show }) as never;
  it("are found by their path, cut, and left out when absent", () => {
    const values = { arguments: { to: { name: "Ada" }, amount: 5, text: "x".repeat(300) } };
    expect(shownFirst(approval(["arguments.to.name", "arguments.amount", "arguments.text"]), values)).to.deep.equal({
      show: [
        { name: "name", value: "Ada" },
        { name: "amount", value: "5" },
        { name: "text", value: "x".repeat(200) },
      ],
    });
    expect(shownFirst(approval(["arguments.none", "arguments", "arguments.toString"]), values)).to.deep.equal({});
    expect(shownFirst("always" as never, values)).to.deep.equal({});
  });
});

describe("an agent for one call", () => {
  it("is the same object when every model can take the call, and has only the models that can otherwise", () => {
    const able = new ScriptedModel([]);
    const blind = Object.assign(new ScriptedModel([]), { capabilities: { ...able.capabilities, tools: false } });
    const plain = agentOf({ model: [able, blind] });
    const request = { agent: "tester", input: { text: "hi" } };
    expect(forCall(plain, request)).to.equal(plain);
    const working = agentOf({ model: [able, blind], tools: [tool("look", () => "")] });
    expect(forCall(working, request).model.targets.map(({ name }) => name)).to.deep.equal(["p0/m"]);
  });

  it("has the member of its economy's split, too", () => {
    const of = (name: string) => ({ ...agentOf({ model: new ScriptedModel([]) }).model, name });
    const economy = { ...of("cheap"), split: [{ chain: of("cheaper"), weight: 1 }] };
    const key = { tenant: "t", run: "r", request: { agent: "tester", input: { text: "hi" } } } as never;
    expect(memberOf({ ...of("main"), economy } as never, key).economy?.targets).to.deep.equal(
      economy.split[0]?.chain.targets,
    );
    const plain = of("main");
    expect(memberOf(plain, key)).to.equal(plain);
  });
});

describe("a request fitted to a vendor", () => {
  const asked = (more: Partial<GenerationRequest>): GenerationRequest => ({
    model: "m",
    messages: [user("hi")],
    tools: [],
    options: {},
    cache: { mode: "auto" },
    ...more,
  });
  const grants = { native: ["*"] } as never;
  const look = { name: "look", description: "looks", parameters: {} };

  it("translates Anthropic's metadata only when it holds nothing but the user's id", () => {
    const across = (metadata: object) =>
      bodyAcross({ wire: "anthropic-messages", fields: { metadata } }, "openai-chat");
    expect(across({ user_id: "u" })).to.deep.include({ fields: { safety_identifier: "u" }, left: [] });
    for (const metadata of [{ user_id: "u", other: 1 }, { other: 1 }])
      expect(across(metadata)).to.deep.include({ fields: {}, left: ["metadata"] });
  });

  it("asks Anthropic for one call at a time only while there are tools that may be called", () => {
    const port = { wire: "anthropic-messages" };
    const native = { wire: "openai-chat", fields: { parallel_tool_calls: false } };
    const choice = { wire: "anthropic-messages", fields: { "tool_choice.disable_parallel_tool_use": true } };
    expect(fitTo(port, asked({ native, tools: [look] }), grants).request).to.deep.include({
      toolChoice: "auto",
      nativeChoice: choice,
    });
    for (const more of [{ tools: [] }, { tools: [look], toolChoice: "none" as const }])
      expect(fitTo(port, asked({ native, ...more }), grants).request).not.to.have.property("nativeChoice");
  });
});

describe("a tool's failure", () => {
  it("is one of tool.call when the run is aborted, whatever the reason is", async () => {
    const bench = new Bench({
      model: new ScriptedModel([[say.call(0, "slow", {})]]),
      tools: [
        tool(
          "slow",
          (_, { signal }) => new Promise((_done, fail) => signal.addEventListener("abort", () => fail(signal.reason))),
        ),
      ],
    });
    bench.log.onEvent = ({ type }) => {
      if (type === "tool.started") bench.interrupt.abort(new VenturiError("agent.run", "stream_interrupted", "over"));
    };
    await bench.run();
    expect(bench.of("tool.finished")[0]?.error).to.include({ op: "tool.call: agent.run", code: "stream_interrupted" });
  });

  it("has no empty progress, and none once it has ended", async () => {
    let tell = (_: string) => {};
    const bench = await run({
      model: new ScriptedModel([[say.call(0, "look", {})], ["done"]]),
      tools: [
        tool("look", (_, { progress }) => {
          tell = progress;
          progress("");
          progress("half");
          return "seen";
        }),
      ],
      agent: {
        hooks: [
          {
            filter: (of) =>
              of === "results"
                ? { push: (text) => (text === "half" ? "" : text), flush: () => "", end: async () => "" }
                : undefined,
          },
        ],
      },
    });
    tell("late");
    expect(bench.of("tool.output")).to.deep.equal([]);
    expect(bench.terminal.type).to.equal("run.finished");
  });
});
