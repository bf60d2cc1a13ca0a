// Small changes of a run's steps that no other test noticed: each was found by `npm run mutate`.
import { expect } from "chai";
import { bodyAcross, marksErrors } from "../../src/agent/model/across-wires.ts";
import { storable } from "../../src/agent/model/native-answer.ts";
import { structured } from "../../src/agent/model/structured.ts";
import { Breakers } from "../../src/agent/run/breaker.ts";
import { defaultTimeouts } from "../../src/agent/run/definition.ts";
import { HookCall, TooSlow } from "../../src/agent/run/hook-call.ts";
import { HookChain } from "../../src/agent/run/hook-chain.ts";
import { Members } from "../../src/agent/run/members.ts";
import type { Meter } from "../../src/agent/run/metering.ts";
import type { OutputCap } from "../../src/agent/run/output-cap.ts";
import { listedOf } from "../../src/agent/run/skills.ts";
import { Waits } from "../../src/agent/run/waits.ts";
import { needsApproval } from "../../src/agent/tools/approvals.ts";
import { type Message, textMessage } from "../../src/core/model/messages.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import type { Approval } from "../../src/core/ports/tool.ts";
import { answerLimits } from "../../src/core/values/value-limits.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { failing } from "./failing.ts";
import { agentOf, Bench, run, tool } from "./harness.ts";

describe("a fence that is not closed", () => {
  it("is not taken off, whatever follows the answer", () => {
    const schema = { type: "object" };
    for (const text of ['```json\n{"a":1}\nxyz', '{"a":1}\n```', '```\n{"a":1}   x'])
      expect(structured(text, schema), text).to.include({ ok: false });
  });
});

describe("an agent without skills", () => {
  it("lists none, rather than an empty list", () => {
    expect([listedOf(undefined), listedOf([])]).to.deep.equal([{}, {}]);
  });
});

describe("a hook's call", () => {
  const setUp = () => {
    const clock = new VirtualClock();
    const waits = new Waits(clock);
    const call = new HookCall("the hook x", "r", { clock, waits, fail: () => {} }, 1_000);
    const late = async (ms: number) => {
      let error: unknown;
      void call
        .late(() => false)
        .catch((thrown) => {
          error = thrown;
        });
      await clock.advance(ms);
      return error;
    };
    return { clock, waits, call, late };
  };

  it("is charged to the journal while it waits for that, and then to the hook again", () => {
    const { waits, call } = setUp();
    const name = () => [waits.current?.part, waits.current?.name];
    expect(name()).to.deep.equal(["hook", "the hook x"]);
    const ends = [call.waitForJournal(), call.waitForJournal()];
    expect(name()).to.deep.equal(["journal", ""]);
    ends[0]?.();
    expect(name()).to.deep.equal(["journal", ""]);
    ends[1]?.();
    expect(name()).to.deep.equal(["hook", "the hook x"]);
    call.end();
    expect(waits.current).to.equal(undefined);
  });

  it("that waited for the journal from the start has the journal to blame", async () => {
    const waiting = setUp();
    waiting.call.waitForJournal();
    expect(await waiting.late(1_000)).to.include({ op: "journal.read", code: "journal_failed" });
    expect(await setUp().late(1_000)).to.be.instanceOf(TooSlow);
    expect(await setUp().late(999)).to.equal(undefined);
  });
});

describe("a hook that throws at once", () => {
  it("is a broken plugin, whatever it throws", () => {
    const hooks = new HookChain(
      [
        {
          approval: () => {
            throw new Error("bug");
          },
        },
      ],
      { clock: new VirtualClock(), fail: () => {} },
      { run: "r", agent: "a", signal: new AbortController().signal, depth: 0 } as never,
    );
    expect(() => hooks.approval({ call: "c", name: "n", arguments: {} }, 1))
      .to.throw()
      .that.includes({ op: "hook.approval", code: "plugin_failed" });
  });
});

describe("calls that have no id of their own", () => {
  it("are told apart from round to round", async () => {
    const call = { deltas: [{ type: "tool_call", index: 0, name: "look", arguments: "{}", sealed: true }] } as never;
    const bench = await run({
      model: new ScriptedModel([[call], [call], ["done"]]),
      tools: [tool("look", () => "seen")],
    });
    const ids = bench.of("tool.finished").map(({ call: id }) => id);
    expect(ids).to.have.length(2);
    expect(new Set(ids).size).to.equal(2);
  });
});

describe("vendor fields of a response", () => {
  it("are an event, and do not keep another model from answering", async () => {
    const native = { wire: "w", fields: { a: 1 } };
    const response = { deltas: [{ type: "response", id: "r", native }] } as never;
    const first = new ScriptedModel([[response, say.fail("unavailable")]]);
    const bench = await run({ model: [first, new ScriptedModel([[response, "two"]])] });
    expect(bench.terminal).to.include({ type: "run.finished", output: "two" });
    const told = bench.of("provider.activity").map(({ kind, wire, data }) => ({ kind, wire, data }));
    expect(told).to.deep.include({ kind: "response", wire: "w", data: { a: 1 } });
  });
});

describe("instructions", () => {
  it("take their room from the conversation, where the model's context is known", async () => {
    const turns: Message[] = Array.from({ length: 6 }, (_, n) =>
      textMessage(n % 2 === 0 ? "user" : "assistant", `${n} ${"x".repeat(300)}`),
    );
    const dropped = async (instructions: string, contextTokens: number | undefined) => {
      const model = new ScriptedModel([["ok"]]);
      const bench = await run({ model, session: turns, chain: { contextTokens }, agent: { instructions } });
      expect(bench.terminal.type).to.equal("run.finished");
      return bench.of("context.compacted").map((event) => event.dropped);
    };
    const long = "y".repeat(1_600);
    expect(await dropped("short", 1_000)).to.deep.equal([]);
    expect((await dropped(long, 1_000)).length).to.equal(1);
    expect(await dropped(long, undefined)).to.deep.equal([]);
  });
});

describe("an approval that was asked for before a restart", () => {
  const pay = (more: object = {}) => tool("pay", () => "paid", { approval: "always", ...more });
  const asked = async () => {
    const bench = new Bench({ model: new ScriptedModel([[say.call(0, "pay", {})]]), tools: [pay()] });
    const running = bench.run();
    await bench.when("approval.requested");
    const history = [...bench.events];
    bench.signal("cancel", { reason: "over" });
    await running;
    return history;
  };

  it("is closed when none is needed any more, or its tool is gone", async () => {
    for (const [tools, approved, ok] of [
      [[pay({ approval: "never" })], true, true],
      [[], false, false],
    ] as const) {
      const bench = await run({ model: new ScriptedModel([["done"]]), tools, history: await asked() });
      expect(bench.of("approval.resolved").map((event) => event.approved)).to.deep.equal([approved]);
      expect(bench.of("tool.finished").map((event) => event.ok)).to.deep.equal([ok]);
      expect(bench.terminal.type).to.equal("run.finished");
    }
  });
});

describe("a pause that is asked for in the middle of a round", () => {
  it("begins once the round is closed, after a restart too", async () => {
    const tools = [tool("look", () => "seen")];
    const first = await run({ model: new ScriptedModel([[say.call(0, "look", {})], ["done"]]), tools });
    const history = first.events.slice(0, first.types.indexOf("generation.finished") + 1);
    const bench = new Bench({ model: new ScriptedModel([["done"]]), tools, history });
    bench.signal("pause", {});
    await bench.run();
    const later = bench.types.slice(history.length);
    expect(later.indexOf("run.paused")).to.be.greaterThan(later.indexOf("round.finished"));
    expect(later).to.include("tool.finished");
  });
});

describe("the tokens of a run", () => {
  it("that it produced end it when they are more than it may produce", async () => {
    const look = [say.call(0, "look", {}), say.usage({ inputTokens: 1, outputTokens: 51 }), say.done("tool_calls")];
    const tools = [tool("look", () => "seen")];
    const setup = { model: new ScriptedModel([look, ["more"]]), tools, limits: { outputTokens: 50 } };
    expect((await run(setup)).terminal).to.include({ finish: "max_output" });
    const enough = { ...setup, model: new ScriptedModel([look, ["more"]]), limits: { outputTokens: 5_000 } };
    expect((await run(enough)).terminal).to.include({ finish: "stop", output: "more" });
  });

  it("that a tool spends end it while the tool is running", async () => {
    const aborted: boolean[] = [];
    const spending = tool("look", async (_, { spent, signal }) => {
      for (const inputTokens of [900, 2_000]) {
        spent({ inputTokens });
        aborted.push(signal.aborted);
      }
      return "seen";
    });
    const model = new ScriptedModel([[say.call(0, "look", {})], ["more"]]);
    const bench = await run({ model, tools: [spending], limits: { tokens: 1_500 } });
    expect(bench.terminal).to.include({ finish: "max_tokens" });
    expect(aborted).to.deep.equal([false, true]);
    expect(model.requests).to.have.length(1);
  });
});

describe("questions about two calls of one tool", () => {
  const questions = async (approval: "always" | "once") => {
    const model = new ScriptedModel([[say.call(0, "pay", { n: 1 }), say.call(1, "pay", { n: 2 })], ["done"]]);
    const bench = new Bench({ model, tools: [tool("pay", () => "paid", { approval })] });
    const running = bench.run();
    const { call } = await bench.when("approval.requested");
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    const before = bench.of("approval.requested").length;
    bench.signal("approve", { call, approved: true });
    if (approval === "always")
      bench.signal("approve", { call: bench.of("approval.requested")[1]?.call, approved: true });
    await running;
    return [before, bench.of("approval.requested").length, bench.of("tool.finished").filter(({ ok }) => ok).length];
  };

  it("are asked side by side, or one for both where one approval is enough", async () => {
    expect(await questions("always")).to.deep.equal([2, 2, 2]);
    expect(await questions("once")).to.deep.equal([1, 1, 2]);
  });

  it("are not asked once the tool is allowed for the run", () => {
    const state = (allowed: string[], once: string[] = []) =>
      ({ state: { allowedForRun: new Set(allowed), approvedOnce: new Set(once) } }) as never;
    const needs = (of: never, approval: Approval) =>
      needsApproval(of, { name: "pay", approval }, () => ({ amount: 5 }));
    const approvals: Approval[] = ["always", "once", { when: "amount > 1" } as never];
    for (const approval of approvals) {
      expect(needs(state(["pay"]), approval)).to.equal(false);
      expect(needs(state(["other"]), approval)).to.equal(true);
    }
    expect(needs(state([], ["pay"]), "once")).to.equal(false);
    expect([needs(state([]), "never"), needs(state([]), { when: "amount > 9" } as never)]).to.deep.equal([
      false,
      false,
    ]);
  });
});

describe("what a memory was asked", () => {
  it("is told with its model, its usage and its cost, where it has them", async () => {
    const recalled = async (more: object) => {
      const search = async () => ({ notes: [], ...more });
      const recall = { notes: { name: "notes", search } as never, scopes: ["agent" as const], top: 3 };
      const bench = await run({ model: new ScriptedModel([["ok"]]), agent: { recall } });
      const {
        type: _t,
        run: _r,
        seq: _s,
        at: _a,
        waited: _w,
        ...told
      } = bench.of("memory.recalled")[0] ?? ({} as never);
      return told;
    };
    const plain = { store: "notes", query: "go", notes: [] };
    expect(await recalled({})).to.deep.equal(plain);
    const spent = { model: "e/small", usage: { inputTokens: 3 }, cost: 0.5 };
    expect(await recalled(spent)).to.deep.equal({ ...plain, ...spent });
  });
});

describe("vendor fields that are too large", () => {
  it("are left out by name, and the others are kept", () => {
    const logged: unknown[] = [];
    const log = { ...silentLog, warn: (_: string, facts?: object) => void logged.push(facts) };
    const cap = { size: 0 } as OutputCap;
    const fields = { small: 1, large: "x".repeat(answerLimits.size), other: [2] };
    const kept = storable({ wire: "w", fields }, cap, { run: "r", deps: { log } } as never);
    expect(kept).to.deep.equal({ wire: "w", fields: { small: 1, other: [2] }, omitted: ["large"] });
    expect(logged).to.deep.equal([{ run: "r", fields: ["large"] }]);
    expect(cap.size).to.be.within(1, 1_000);
  });
});

describe("the key of a vendor's cache", () => {
  it("is the session's where the client sent an empty one", async () => {
    const keyOf = async (key: string | undefined) => {
      const model = new ScriptedModel([["ok"]]);
      const native = { wire: "w", fields: key === undefined ? {} : { prompt_cache_key: key } };
      await run({ model, request: { session: "s", native } });
      return model.requests[0]?.cache?.key;
    };
    expect(await keyOf("")).to.equal(await keyOf(undefined));
    expect(await keyOf("mine")).not.to.equal(await keyOf(undefined));
  });
});

describe("a seat that is taken", () => {
  it("is kept where what is expected fits, without counting itself", () => {
    const seat = new Members(new VirtualClock()).of("m").take(0);
    expect(seat.expect({ concurrency: 1, tokensPerMinute: 100 }, 100)).to.equal(true);
    expect(seat.expect({ concurrency: 1, tokensPerMinute: 100 }, 101)).to.equal(false);
  });
});

describe("fields of one wire on another", () => {
  it("ask for probabilities only where they were asked for, and mark errors only where that can be said", () => {
    const across = (logprobs: unknown) =>
      bodyAcross({ wire: "openai-chat", fields: { logprobs } }, "openai-responses").fields;
    expect(across(true)).to.deep.equal({ include: ["message.output_text.logprobs"] });
    expect(across(false)).to.deep.equal({});
    const wires = ["openai-chat", "openai-responses", "anthropic-messages", undefined];
    expect(wires.map(marksErrors)).to.deep.equal([false, false, true, true]);
  });
});

describe("a summary that no budget pays for", () => {
  it("leaves the probe of its model to the next call", async () => {
    const clock = new VirtualClock();
    const breakers = new Breakers(clock);
    const small = { name: "s/small", provider: "p0", model: "m", port: new ScriptedModel([["never"]]) };
    for (let time = 0; time < 5; time++) failing(breakers, { run: `${time}` });
    await clock.advance(30_000);
    const model = {
      ...agentOf({ model: small.port }).model,
      name: "small",
      targets: [small],
      timeout: defaultTimeouts,
      contextTokens: 100_000,
    };
    const meter: Meter = {
      unsettled: false,
      reserve: async ({ model: name }) =>
        name === small.name
          ? { decision: "refuse", notices: [], budget: "b", message: "spent" }
          : { decision: "go", notices: [] },
      used: () => {},
    };
    const session = Array.from({ length: 20 }, (_, n) =>
      textMessage(n % 2 === 0 ? "user" : "assistant", "z".repeat(400)),
    );
    const main = { name: "q/main", provider: "q", model: "main", port: new ScriptedModel([["ok"]]) };
    const bench = new Bench({
      model: main.port,
      chain: { targets: [main], contextTokens: 2_000 },
      agent: { compaction: { by: "summary", at: 0.8, keep: 4, model } as never },
      session,
      breakers,
      clock,
      meter,
    });
    await bench.run();
    expect(small.port.requests).to.have.length(0);
    expect(breakers.of(small, { tenant: "default", run: "next" }).admit()).to.equal(true);
  });
});
