import { expect } from "chai";
import type { Compaction, ModelChain } from "../../src/agent/run/definition.ts";
import { defaultTimeouts } from "../../src/agent/run/definition.ts";
import { RunState } from "../../src/agent/state/run-state.ts";
import { extendSession } from "../../src/agent/state/session-messages.ts";
import type { Delta } from "../../src/core/model/deltas.ts";
import { type Message, textMessage } from "../../src/core/model/messages.ts";
import type { GenerationContext, GenerationRequest, Provider } from "../../src/core/model/provider.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { Bench, run, type Setup, tool } from "./harness.ts";

/** Summarizes by keeping every FACT line. */
class Summarizer implements Provider {
  readonly capabilities = { streaming: true, tools: false, vision: false, reasoning: false };
  readonly requests: GenerationRequest[] = [];
  fails = 0;

  async *stream(request: GenerationRequest): AsyncIterable<readonly Delta[]> {
    this.requests.push(request);
    if (this.fails > 0) {
      this.fails -= 1;
      throw new Error("down");
    }
    const text = [...new Set(textOf(request.messages).match(/FACT \w+/g) ?? [])].join("\n");
    yield [{ type: "text", text: text || "nothing" }];
    yield [
      { type: "usage", usage: { inputTokens: 100, outputTokens: 10 } },
      { type: "done", finish: "stop" },
    ];
  }
}

const textOf = (messages: readonly Message[]): string =>
  messages.flatMap(({ parts }) => parts.map((part) => ("text" in part ? part.text : JSON.stringify(part)))).join("\n");

const chainOf = (port: Provider): ModelChain => ({
  name: "small",
  targets: [{ name: "s/small", provider: "s", model: "small", port }],
  failover: "beforeFirstEvent",
  retry: { max: 0 },
  timeout: defaultTimeouts,
  options: {},
  toolOptions: {},
  contextTokens: 100_000,
});

const long = "z".repeat(400);
const turns = (count: number): Message[] =>
  Array.from({ length: count }, (_, n) => [
    textMessage("user", n === 2 ? `FACT blue ${long}` : `question ${n} ${long}`),
    textMessage("assistant", `answer ${n} ${long}`),
  ]).flat();

const setupOf = (port: Provider, more: Partial<Compaction> = {}): Pick<Setup, "chain" | "agent"> => ({
  chain: { contextTokens: 2_000 },
  agent: { compaction: { by: "summary", at: 0.8, keep: 4, model: chainOf(port), ...more } },
});

describe("compaction by summary", () => {
  it("replaces the beginning with a summary, keeps the newest messages, and records its range and cost", async () => {
    const small = new Summarizer();
    const model = new ScriptedModel([["blue"]]);
    const bench = await run({ model, session: turns(10), request: { input: { text: "which?" } }, ...setupOf(small) });
    const [event, ...others] = bench.of("context.compacted");
    expect(others).to.deep.equal([]);
    // 21 messages, at least 4 of which stay: the cut is at the beginning of a turn.
    expect(event).to.deep.include({ summary: "FACT blue", dropped: 16, range: { messages: 16, session: 20 } });
    expect(event).to.deep.include({ model: "s/small", usage: { inputTokens: 100, outputTokens: 10 } });
    const sent = model.requests[0]?.messages ?? [];
    expect(sent).to.have.length(1 + 1 + 5);
    expect(textOf(sent)).to.contain("FACT blue").and.not.contain("question 7");
    expect(textOf(sent)).to.contain("question 8");
    expect(small.requests[0]?.tools).to.deep.equal([]);
    expect(bench.terminal.spent?.map(({ by, name }) => `${by} ${name}`)).to.include("compaction s/small");
    expect(bench.terminal.usage.inputTokens).to.be.greaterThan(100);
  });

  it("is asked for as every other request of the run, with its tenant, session and trace", async () => {
    const contexts: GenerationContext[] = [];
    const summarizer = new Summarizer();
    const port: Provider = {
      capabilities: summarizer.capabilities,
      stream(request, context) {
        contexts.push(context);
        return summarizer.stream(request);
      },
    };
    const request = { session: "s-1", baggage: "who=ada" };
    const model = new ScriptedModel([[say.text("ok"), say.done()]]);
    await run({ model, session: turns(8), tenant: "acme", request, ...setupOf(port) });
    expect(contexts[0]).to.include({ tenant: "acme", session: "s-1", attempt: 0, baggage: "who=ada" });
  });

  it("is made once: not again by a later round, after a crash at any event, or by the next run of the session", async () => {
    const tools = [tool("look", () => "seen")];
    const script = () => new ScriptedModel([[say.call(0, "look", {})], ["ok"]]);
    const small = new Summarizer();
    const first = await run({ model: script(), tools, session: turns(10), ...setupOf(small) });
    expect(small.requests).to.have.length(1);
    for (let index = 1; index < first.events.length; index++) {
      const again = new Summarizer();
      const history = first.events.slice(0, index);
      const bench = new Bench({ model: script(), tools, session: turns(10), history, ...setupOf(again) });
      await bench.run();
      expect(bench.terminal.type, `after event ${index}`).to.equal("run.finished");
      const wasThere = history.some(({ type }) => type === "context.compacted");
      expect(again.requests.length, `after event ${index}`).to.equal(wasThere ? 0 : 1);
      expect(bench.of("context.compacted"), `after event ${index}`).to.have.length(1);
    }
    const session = extendSession(turns(10), RunState.of(first.events));
    const later = new Summarizer();
    const model = new ScriptedModel([["ok"]]);
    await run({ model, session, ...setupOf(later) });
    expect(later.requests).to.deep.equal([]);
    expect(textOf(model.requests[0]?.messages ?? []))
      .to.contain("FACT blue")
      .and.not.contain("question 7");
  });

  it("summarizes an earlier summary too, so that facts survive repeated compaction", async () => {
    let session: Message[] = turns(3);
    let asked = 0;
    for (let turn = 0; turn < 40; turn++) {
      const small = new Summarizer();
      const model = new ScriptedModel([[`answer ${long}`]]);
      const request = { input: { text: `question ${turn} ${long}` } };
      const bench = await run({ model, session, request, ...setupOf(small) });
      asked += small.requests.length;
      expect(textOf(model.requests[0]?.messages ?? []), `turn ${turn}`).to.contain("FACT blue");
      session = extendSession(session, RunState.of(bench.events));
    }
    expect(asked).to.be.within(5, 20);
    expect(session.length).to.be.below(16);
  });

  it("folds rounds of a long run, and keeps calls with their results and the task", async () => {
    const rounds = 12;
    const script = Array.from({ length: rounds }, (_, n) => [say.call(0, "look", { n }, `c${n}`)]);
    const model = new ScriptedModel([...script, ["ok"]]);
    const tools = [tool("look", () => long.repeat(2))];
    const request = { input: { text: "the task" } };
    const bench = await run({ model, tools, request, limits: { maxToolRounds: 20 }, ...setupOf(new Summarizer()) });
    expect(bench.terminal.type).to.equal("run.finished");
    expect(bench.of("context.compacted").length).to.be.within(1, 4);
    for (const { messages } of model.requests) {
      expect(textOf(messages)).to.contain("the task");
      const parts = messages.flatMap((message) => message.parts);
      const calls = parts.flatMap((part) => (part.type === "tool_call" ? [part.call] : []));
      const results = parts.flatMap((part) => (part.type === "tool_result" ? [part.call] : []));
      expect(results).to.deep.equal(calls);
    }
  });

  it("drops the oldest turns when summarizing fails, records why, and does not try again", async () => {
    const small = new Summarizer();
    small.fails = 9;
    const model = new ScriptedModel([[say.call(0, "look", {})], ["ok"]]);
    const bench = await run({ model, tools: [tool("look", () => "seen")], session: turns(10), ...setupOf(small) });
    expect(bench.terminal.type).to.equal("run.finished");
    expect(small.requests).to.have.length(1);
    const [why, dropped] = bench.of("context.compacted");
    expect(why).to.have.nested.property("error.err");
    expect(why?.error?.op).to.match(/^provider\.stream/);
    expect(dropped?.dropped).to.be.greaterThan(4);
  });

  for (const finish of ["refusal", "content_filter"] as const)
    it(`is no excuse of a model that ends with ${finish}: the oldest turns are dropped instead`, async () => {
      const said: Delta = { type: finish === "refusal" ? "refusal" : "text", text: "I cannot help with that." };
      const unwilling: Provider = {
        capabilities: { streaming: true, tools: false, vision: false, reasoning: false },
        async *stream() {
          yield [said, { type: "done", finish }];
        },
      };
      const model = new ScriptedModel([["ok"]]);
      const bench = await run({ model, session: turns(10), ...setupOf(unwilling) });
      const [why] = bench.of("context.compacted");
      expect(why?.summary).to.equal(undefined);
      expect(why?.error?.err).to.contain(finish);
      expect(textOf(model.requests[0]?.messages ?? []))
        .to.not.contain("cannot help")
        .and.not.contain("question 1 ");
    });

  it("cancelled while the summary is written ends the run, without a summary", async () => {
    const silent = new ScriptedModel([[say.silence()]]);
    const bench = new Bench({ model: new ScriptedModel([["ok"]]), session: turns(10), ...setupOf(silent) });
    const ended = bench.run();
    while (silent.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    bench.signal("cancel", { reason: "enough" });
    await ended;
    expect(bench.terminal).to.have.nested.property("error.err", "enough");
    expect(bench.of("context.compacted")).to.deep.equal([]);
  });

  it("of a conversation larger than the summary's model takes several requests, each within its context", async () => {
    const small = new Summarizer();
    const setup = setupOf(small);
    const model = { ...chainOf(small), contextTokens: 2_000 };
    const agent = { compaction: { by: "summary" as const, at: 0.8, keep: 4, model } };
    const bench = await run({
      model: new ScriptedModel([["ok"]]),
      session: turns(40),
      chain: setup.chain ?? {},
      agent,
    });
    expect(small.requests.length).to.be.greaterThan(3);
    for (const { messages } of small.requests) expect(textOf(messages).length / 4).to.be.below(2_000);
    expect(bench.of("context.compacted")[0]).to.deep.include({
      summary: "FACT blue",
      usage: { inputTokens: 100 * small.requests.length, outputTokens: 10 * small.requests.length },
    });
  });

  it("is not tried when the remaining tokens would not suffice", async () => {
    const small = new Summarizer();
    const bench = await run({
      model: new ScriptedModel([["ok"]]),
      session: turns(10),
      limits: { tokens: 1_900 },
      ...setupOf(small),
    });
    expect(small.requests).to.deep.equal([]);
    expect(bench.terminal.type).to.equal("run.finished");
  });

  it("stands for the same messages after older runs of the session were removed", async () => {
    const first = await run({ model: new ScriptedModel([["ok"]]), session: turns(10), ...setupOf(new Summarizer()) });
    for (const removed of [0, 2, 10, 16]) {
      const model = new ScriptedModel([["ok"]]);
      const history = first.events.slice(0, 2);
      expect(history.at(-1)?.type).to.equal("context.compacted");
      await run({ model, session: turns(10).slice(removed), history, ...setupOf(new Summarizer()) });
      const sent = textOf(model.requests[0]?.messages ?? []);
      expect(sent, `${removed} removed`)
        .to.contain("FACT blue")
        .and.contain("question 8")
        .and.not.contain("question 7");
      const after = textOf(extendSession(turns(10).slice(removed), RunState.of(first.events)));
      expect(after, `${removed} removed`)
        .to.contain("FACT blue")
        .and.contain("question 8")
        .and.not.contain("question 7");
    }
  });

  it("goes into a fork with the conversation that came before", async () => {
    const first = await run({ model: new ScriptedModel([["ok"]]), session: turns(10), ...setupOf(new Summarizer()) });
    const [started, compacted] = first.events;
    const messages = [...turns(10), textMessage("user", "go")];
    const fork = { ...started, input: { messages }, fork: { run: "run-0", after: 2 } } as RunEvent; // as `forkRecording` writes it
    const model = new ScriptedModel([["ok"]]);
    const small = new Summarizer();
    const bench = await run({ model, history: [fork, compacted as RunEvent], ...setupOf(small) });
    expect(small.requests).to.deep.equal([]);
    expect(textOf(model.requests[0]?.messages ?? []))
      .to.contain("FACT blue")
      .and.not.contain("question 7");
    const next = textOf(extendSession([], RunState.of(bench.events)));
    expect(next).to.contain("FACT blue").and.contain("question 8").and.not.contain("question 7");
  });
});

describe("results of old rounds", () => {
  const rounds = 6;
  const output = (n: number) => `result ${n} ${long.repeat(3)}`;
  const setup = () => {
    const script = Array.from({ length: rounds }, (_, n) => [say.call(0, "look", { n }, `c${n}`)]);
    const read = [say.call(0, "read_result", { call: "c0", offset: 0, length: 8 }, "r")];
    const model = new ScriptedModel([...script, read, ["ok"]]);
    const tools = [tool("look", (input) => output(Number(input.n)))];
    return { model, tools, agent: { compaction: { by: "drop" as const, at: 0.8, keep: 6, results: 3 } } };
  };

  it("are sent as a reference once more rounds followed, which read_result reads", async () => {
    const given = setup();
    const bench = await run(given);
    given.model.requests.forEach(({ messages, tools }, round) => {
      const sent = textOf(messages);
      for (let n = 0; n < Math.min(round, rounds); n++)
        expect(sent.includes(output(n)), `result ${n} in request ${round}`).to.equal(round - n <= 3);
      expect(tools.map(({ name }) => name)).to.deep.equal(["look", "read_result"]);
    });
    expect(textOf(given.model.requests.at(-1)?.messages ?? [])).to.contain("result 0\\n[8 of");
    expect(bench.of("context.compacted").flatMap(({ results = [] }) => results)).to.deep.equal([
      "c0",
      "c1",
      "c2",
      "c3",
    ]);
    const whole = bench.of("tool.finished").find(({ call }) => call === "c0")?.output;
    expect(whole).to.equal(output(0));
  });

  it("stay readable in the next run of the session, and are reported once", async () => {
    const session = extendSession([], RunState.of((await run(setup())).events));
    const model = new ScriptedModel([[say.call(0, "read_result", { call: "c1", offset: 0, length: 8 }, "r2")], ["ok"]]);
    const bench = await run({ ...setup(), model, session });
    expect(textOf(model.requests[1]?.messages ?? [])).to.contain("result 1\\n[8 of");
    expect(bench.of("context.compacted")).to.deep.equal([]);
  });

  it("of unknown calls are not found", async () => {
    const model = new ScriptedModel([[say.call(0, "read_result", { call: "none", offset: 0 }, "r")], ["ok"]]);
    const bench = await run({ ...setup(), model });
    expect(bench.of("tool.finished")[0]).to.have.nested.property("error.code", "not_found");
  });
});
