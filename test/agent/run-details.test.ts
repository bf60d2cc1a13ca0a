import { expect } from "chai";
import { z } from "zod";
import { firstRequest } from "../../src/agent/model/first-request.ts";
import { optionsFor } from "../../src/agent/model/options.ts";
import { Breakers } from "../../src/agent/run/breaker.ts";
import { jsonSchemaOf, parse } from "../../src/agent/schema/standard.ts";
import { ToolTable } from "../../src/agent/tools/tool-table.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Delta } from "../../src/core/model/deltas.ts";
import type { Budget, CallContext } from "../../src/core/ports/tool.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { recorder } from "../journal/log-recorder.ts";
import { failing } from "./failing.ts";
import { agentOf, Bench, deferred, run, tool } from "./harness.ts";

const look = tool("look", () => "seen");

describe("a provider that fails", () => {
  it("behind an open breaker is named with how long that lasts", async () => {
    const clock = new VirtualClock();
    const breakers = new Breakers(clock);
    for (let count = 0; count < 5; count++) failing(breakers, { run: `${count}`, code: "timeout" });
    await clock.advance(1_000);
    const { terminal } = await run({ model: new ScriptedModel([["never"]]), breakers, clock });
    expect(terminal)
      .to.have.nested.property("error.err")
      .that.matches(/^p0\/m: p0 failed repeatedly; .* for 29 s more$/);
    expect(terminal).to.have.deep.nested.property("error.details", {
      provider: "p0",
      model: "m",
      breaker: "open",
      retryAfterMs: 29_000,
    });
  });

  it("is retried after its retry-after, up to a minute, or after 0.5 s doubling up to 8 s", async () => {
    const waits = async (details: Record<string, unknown> | undefined, max: number) => {
      const failing = Array.from({ length: max }, () => [say.fail("unavailable", "down", details)]);
      const clock = new VirtualClock();
      const bench = new Bench({ model: new ScriptedModel([...failing, ["ok"]]), clock, chain: { retry: { max } } });
      const over = bench.run();
      while (bench.types.at(-1) !== "run.finished") await clock.advance(1_000);
      await over;
      return bench.of("generation.failed").map(({ retryMs = 0 }) => retryMs);
    };
    const [asked = 0] = await waits({ retryAfterMs: 60_000 }, 1);
    expect(asked).to.be.within(60_000, 75_000);
    const [zero = 1] = await waits({ retryAfterMs: 0 }, 1);
    expect(zero).to.equal(0);
    for (const none of [{ retryAfterMs: -1 }, { retryAfterMs: "5" }]) {
      const [own = 0] = await waits(none, 1);
      expect(own, JSON.stringify(none)).to.be.within(375, 500);
    }
    const grown = await waits(undefined, 4);
    for (const [tries, wait] of grown.entries()) expect(wait).to.be.within(375 * 2 ** tries, 500 * 2 ** tries);
  });

  it("is not retried when it says so, even if the code is retryable", async () => {
    const bench = await run({
      model: new ScriptedModel([[say.fail("rate_limited", "no credit", { retry: false })], ["never"]]),
      chain: { retry: { max: 3 } },
    });
    expect(bench.terminal).to.have.nested.property("error.code", "rate_limited");
    expect(bench.of("generation.failed")).to.have.length(1);
  });

  it("because of the operator's key or account is not blamed on the caller", async () => {
    for (const code of ["unauthorized", "forbidden", "not_found"] as const) {
      const { terminal } = await run({ model: new ScriptedModel([[say.fail(code, "no such key")]]) });
      expect(terminal).to.have.deep.nested.property("error.code", "llm_error");
      expect(terminal).to.have.nested.property("error.err", 'the provider "p0" refused to serve p0/m: no such key');
      expect(terminal).to.have.deep.nested.property("error.details", { provider: "p0", model: "p0/m", refused: code });
    }
  });

  it("while the run is cancelled costs what had been sent", async () => {
    const bench = new Bench({ model: new ScriptedModel([["x".repeat(40), say.silence()]]) });
    const over = bench.run();
    await bench.when("text.delta");
    bench.signal("cancel", { reason: "enough" });
    await over;
    expect(bench.of("generation.failed")[0]?.usage).to.include({ outputTokens: 10 });
    expect(bench.terminal).to.have.nested.property("error.err", "enough");
  });
});

describe("a running tool", () => {
  it("knows what is left of the run's budget", async () => {
    const clock = new VirtualClock();
    const budgets: Budget[] = [];
    const spending = tool("look", async (_input, context) => {
      await clock.advance(100);
      context.spent?.({ inputTokens: 10, outputTokens: 5 });
      budgets.push(context.budget());
      return "";
    });
    const model = new ScriptedModel(
      [[say.usage({ inputTokens: 20, outputTokens: 2 }), say.call(0, "look", {})], ["end"]],
      { clock },
    );
    await run({ model, tools: [spending], clock, limits: { tokens: 1_000, time: 5_000, maxToolCalls: 3 } });
    expect(budgets).to.deep.equal([{ maxToolCalls: 2, tokens: 1_000 - 22 - 15, time: 4_900 }]);
    budgets.length = 0;
    const open = new ScriptedModel([[say.call(0, "look", {})], ["end"]], { clock });
    await run({
      model: open,
      tools: [spending],
      clock,
      limits: { tokens: undefined, time: undefined, maxToolCalls: 1 },
    });
    expect(budgets).to.deep.equal([{ maxToolCalls: 0 }]);
  });

  it("knows its run, call and session, and has a key of its own", async () => {
    const seen: CallContext[] = [];
    const noting = tool("look", (_input, context) => {
      seen.push(context);
      return "";
    });
    const model = () => new ScriptedModel([[say.call(0, "look", {})], ["end"]]);
    await run({ model: model(), tools: [noting], request: { session: "s", context: { user: 1 } } });
    await run({ model: model(), tools: [noting] });
    expect(seen[0]).to.deep.include({
      run: "run-1",
      round: 1,
      call: "call-look-0",
      agent: "tester",
      attempt: 1,
      idempotencyKey: "run-1:call-look-0",
      session: "s",
      stored: { user: 1 },
    });
    expect(seen[1]).not.to.have.property("session");
  });

  it("outputs nothing for undefined, JSON for values, and fails for values JSON cannot express", async () => {
    const output = async (value: unknown) =>
      (
        await run({
          model: new ScriptedModel([[say.call(0, "look", {})], ["end"]]),
          tools: [tool("look", () => value)],
        })
      ).of("tool.finished")[0];
    for (const [value, text] of [
      [undefined, ""],
      [null, ""],
      ["x", "x"],
      [0, "0"],
      [{ a: [1] }, '{"a":[1]}'],
      [() => 1, "() => 1"],
    ] as const) {
      expect(await output(value), String(value)).to.include({ ok: true, output: text });
    }
    expect((await output(1n))?.error).to.include({ op: "tool.call", code: "tool_failed" });
  });

  it("takes as long as it took", async () => {
    const clock = new VirtualClock();
    const slow = tool("look", async () => {
      await clock.advance(70);
      return "";
    });
    const model = new ScriptedModel([[say.call(0, "look", {})], ["end"]], { clock });
    const bench = await run({ model, tools: [slow], clock, policy: { dispatch: "round" } });
    expect(bench.of("tool.finished")[0]?.ms).to.equal(70);
    expect(bench.terminal.timing).to.include({ tool: 70 });
  });
});

describe("a run's time limit", () => {
  it("counts from its first event, also after a restart", async () => {
    const clock = new VirtualClock();
    const history = [
      {
        type: "run.started",
        agent: "tester",
        input: { text: "go" },
        run: "run-1",
        seq: 1,
        at: clock.now() - 600,
      } as RunEvent,
    ];
    const bench = new Bench({
      model: new ScriptedModel([["a", say.silence()]]),
      history,
      clock,
      limits: { time: 1_000 },
    });
    const over = bench.run();
    await clock.advance(399);
    expect(bench.types.at(-1)).to.equal("text.delta");
    await clock.advance(1);
    await over;
    expect(bench.terminal).to.include({ type: "run.finished", finish: "max_time" });
  });
});

describe("a generation's request", () => {
  it("has no system message without instructions", async () => {
    const model = new ScriptedModel([["x"]]);
    await run({ model, agent: { instructions: "" } });
    expect(model.requests[0]?.messages.map(({ role }) => role)).to.deep.equal(["user"]);
    const told = new ScriptedModel([["x"]]);
    const extra = { role: "system" as const, parts: [{ type: "text" as const, text: "client's" }] };
    await run({ model: told, request: { instructions: extra } });
    expect(told.requests[0]?.messages.slice(0, 2)).to.deep.equal([
      { role: "system", parts: [{ type: "text", text: "You are a test." }] },
      extra,
    ]);
  });

  it("has the options of all layers, later ones first, and those for tools only with tools", () => {
    const agent = agentOf({
      model: new ScriptedModel([]),
      chain: { options: { temperature: 1, topP: 0.5 }, toolOptions: { temperature: 2 } },
      agent: { defaults: { temperature: 0, maxTokens: 5, seed: 1 } as never, options: { seed: 2 } as never },
    });
    const none = new ToolTable([]);
    const some = new ToolTable([look]);
    const asked = (options?: object) => ({ agent: "a", input: {}, ...(options && { options: options as never }) });
    expect(optionsFor(agent, asked(), none)).to.deep.equal({ temperature: 1, topP: 0.5, maxTokens: 5, seed: 2 });
    expect(optionsFor(agent, asked(), some)).to.deep.equal({ temperature: 2, topP: 0.5, maxTokens: 5, seed: 2 });
    expect(optionsFor(agent, asked({ seed: 3, topP: null, maxTokens: undefined }), none)).to.deep.equal({
      temperature: 1,
      maxTokens: 5,
      seed: 3,
    });
  });

  it("made without a run has what the client asked for, and nothing else", () => {
    const agent = agentOf({ model: new ScriptedModel([]), agent: { instructions: "" } });
    const plain = firstRequest(agent, { agent: "a", input: { text: "hi" } }, { model: "m" });
    expect(plain).to.deep.equal({
      model: "m",
      messages: [{ role: "user", parts: [{ type: "text", text: "hi" }] }],
      tools: [],
      options: {},
    });
    const more = {
      toolChoice: "none" as const,
      output: { name: "n", schema: {} },
      native: { wire: "w", fields: {} },
      nativeChoice: { wire: "w", fields: {} },
    };
    expect(firstRequest(agent, { agent: "a", input: { text: "hi" }, ...more }, { model: "m" })).to.deep.equal({
      ...plain,
      ...more,
    });
  });

  it("has a cache key for each session that does not show its name", async () => {
    const keys = async (session?: string) => {
      const model = new ScriptedModel([["x"]]);
      await run({ model, request: session === undefined ? {} : { session } });
      return model.requests[0]?.cache;
    };
    expect(await keys()).to.deep.equal({ mode: "auto" });
    const one = await keys("ada@example.com");
    expect(one?.key).to.match(/^[\w-]{32}$/);
    expect(await keys("ada@example.com")).to.deep.equal(one);
    expect((await keys("other"))?.key).not.to.equal(one?.key);
  });

  it("does not reuse ids of calls that the session has", async () => {
    const session = [
      {
        role: "assistant" as const,
        parts: [{ type: "tool_call" as const, call: "call-look-0", name: "look", arguments: {} }],
      },
    ];
    const bench = await run({ model: new ScriptedModel([[say.call(0, "look", {})], ["end"]]), tools: [look], session });
    expect(bench.of("tool_call.started")[0]?.call).to.equal("call-look-0_2");
  });
});

describe("arguments that arrive in unusual ways", () => {
  const call = (more: object): Delta => ({ type: "tool_call", index: 0, ...more });
  const pieces = async (...deltas: Delta[]) => {
    const model = new ScriptedModel([deltas.map((delta) => ({ deltas: [delta] })), ["end"]]);
    const bench = await run({ model, tools: [look] });
    return {
      deltas: bench.of("tool_call.delta").map(({ arguments: piece }) => piece),
      ready: bench.of("tool_call.ready").map(({ arguments: input }) => input),
      names: bench.of("tool_call.started").map(({ name }) => name),
    };
  };
  const done: Delta = { type: "done", finish: "tool_calls" };

  it("before the name are written together with it", async () => {
    expect(
      await pieces(call({ id: "c", arguments: '{"a"' }), call({ name: "look", arguments: ":1}" }), done),
    ).to.deep.equal({
      deltas: ['{"a":1}'],
      ready: [{ a: 1 }],
      names: ["look"],
    });
  });

  it("complete after the fragments add nothing, or only what is new", async () => {
    const start = call({ id: "c", name: "look", arguments: '{"a"' });
    expect(
      await pieces(start, call({ arguments: ":1}" }), call({ arguments: '{"a":1}', replace: true }), done),
    ).to.deep.include({
      deltas: ['{"a"', ":1}"],
      ready: [{ a: 1 }],
    });
    expect(await pieces(start, call({ arguments: '{"a":2}', replace: true }), done)).to.deep.include({
      deltas: ['{"a"', ":2}"],
      ready: [{ a: 2 }],
    });
  });
});

describe("a run that is taken away", () => {
  it("stops at once and writes nothing more, whoever takes it", async () => {
    for (const take of ["release", "journal"] as const) {
      const bench = new Bench({ model: new ScriptedModel([["a", say.silence()]]) });
      const over = bench.run();
      await bench.when("text.delta");
      const before = bench.events.length;
      (take === "release" ? bench.release : bench.log.controller).abort(new Error("gone"));
      await over;
      expect(bench.events).to.have.length(before);
    }
  });

  it("is interrupted with its terminal event, also when that came before the start", async () => {
    const bench = new Bench({ model: new ScriptedModel([["never"]]) });
    bench.interrupt.abort(new VenturiError("service", "shutting_down", "stopping"));
    await bench.run();
    expect(bench.terminal).to.have.nested.property("error.code", "shutting_down");
  });

  it("that has ended is not run again", async () => {
    const first = await run({ model: new ScriptedModel([["x"]]) });
    const again = await run({ model: new ScriptedModel([]), history: first.events });
    expect(again.events).to.have.length(first.events.length);
  });

  it("waiting for a person is parked after a while, with the signals it saw, and says so", async () => {
    const clock = new VirtualClock();
    const { log, line } = recorder();
    const asking = tool("look", () => "seen", { effect: "effectful", approval: "always" });
    const bench = new Bench({
      model: new ScriptedModel([[say.call(0, "look", {})], ["end"]]),
      tools: [asking],
      clock,
      parkAfter: 500,
      logger: log,
      policy: { approvalTimeout: 10_000 },
    });
    const over = bench.run();
    await bench.when("approval.requested");
    await clock.advance(499);
    expect(bench.log.parks).to.deep.equal([]);
    await clock.advance(1);
    await over;
    expect(bench.log.parks).to.deep.equal([{ seenSignals: 0, wakeAfter: 9_500 }]);
    expect(line("run parked")?.fields).to.deep.equal({ run: "run-1", agent: "tester", wakeAfter: 9_500 });
    expect(bench.types.at(-1)).to.equal("approval.requested");
  });

  it("waiting for a person survives a shutdown, parked or released; other runs do not", async () => {
    const asking = tool("look", () => "seen", { effect: "effectful", approval: "always" });
    const interrupted = async (code: "shutting_down" | "stream_interrupted", parkAfter?: number) => {
      const model = new ScriptedModel([[say.call(0, "look", {})], ["end"]]);
      const bench = new Bench({ model, tools: [asking], ...(parkAfter === undefined ? {} : { parkAfter }) });
      const over = bench.run();
      await bench.when("approval.requested");
      await new Promise((resolve) => setImmediate(resolve));
      bench.interrupt.abort(new VenturiError("service", code, "stopping"));
      await over;
      return { last: bench.types.at(-1), parks: bench.log.parks.length };
    };
    expect(await interrupted("shutting_down")).to.deep.equal({ last: "approval.requested", parks: 0 });
    expect(await interrupted("shutting_down", 60_000)).to.deep.equal({ last: "approval.requested", parks: 1 });
    expect(await interrupted("stream_interrupted", 60_000)).to.deep.equal({ last: "run.failed", parks: 0 });
  });

  it("has no time limit while it waits for a person, neither the run's nor the tool's", async () => {
    const clock = new VirtualClock();
    const asking = tool(
      "look",
      async (_input, context) => {
        const { approved } = await context.ask({ id: "q", name: "sure", arguments: {} } as never);
        return approved ? "yes" : "no";
      },
      { timeout: 100 },
    );
    const bench = new Bench({
      model: new ScriptedModel([[say.call(0, "look", {})], ["end"]]),
      tools: [asking],
      clock,
      limits: { time: 200 },
      policy: { approvalTimeout: 10_000 },
    });
    const over = bench.run();
    const { call } = await bench.when("approval.requested");
    await clock.advance(5_000);
    bench.signal("approve", { call, approved: true });
    await clock.advance(0);
    await over;
    expect(bench.of("tool.finished")[0]).to.include({ ok: true, output: "yes" });
    expect(bench.terminal).to.include({ finish: "stop", output: "end" });
    expect(bench.terminal.timing).to.include({ approval: 5_000 });
  });

  it("answered in time is not parked", async () => {
    const clock = new VirtualClock();
    const gate = deferred<string>();
    const asking = tool("look", () => gate.promise, { effect: "effectful", approval: "always" });
    const bench = new Bench({
      model: new ScriptedModel([[say.call(0, "look", {})], ["end"]]),
      tools: [asking],
      clock,
      parkAfter: 500,
    });
    const over = bench.run();
    const { call } = await bench.when("approval.requested");
    bench.signal("approve", { call, approved: true, by: "ada", reason: "fine" });
    await bench.when("tool.started");
    await clock.advance(5_000);
    gate.resolve("seen");
    await over;
    expect(bench.log.parks).to.deep.equal([]);
    expect(bench.of("approval.resolved")[0]).to.include({ approved: true, by: "ada", reason: "fine", signal: 1 });
    expect(bench.terminal).to.include({ output: "end" });
  });
});

describe("a program's schema", () => {
  it("is converted once, by its own means or by zod's", () => {
    let converted = 0;
    const own = {
      "~standard": {
        version: 1,
        vendor: "own",
        validate: (value: unknown) => ({ value }),
        jsonSchema: {
          input: ({ target }: { target: string }) => {
            converted += 1;
            return { $schema: "x", type: "object", target };
          },
        },
      },
    } as never;
    expect(jsonSchemaOf(own)).to.deep.equal({ type: "object", target: "draft-2020-12" });
    expect(jsonSchemaOf(own)).to.equal(jsonSchemaOf(own));
    expect(converted).to.equal(1);
    const shape = z.object({ a: z.string().default("x") });
    const standard = { ...shape["~standard"], jsonSchema: undefined };
    const old = Object.defineProperty(Object.create(shape), "~standard", { value: standard });
    expect(jsonSchemaOf(old as never)).to.deep.include({ type: "object" });
    expect(jsonSchemaOf(old as never)).not.to.have.property("required");
  });

  it("that cannot be converted says what to use instead", () => {
    const of = (vendor: string, more: object = {}) =>
      ({ "~standard": { version: 1, vendor, validate: () => ({}), ...more } }) as never;
    expect(() => jsonSchemaOf(of("valibot")))
      .to.throw(VenturiError, /toStandardJsonSchema/)
      .with.property("code", "config_invalid");
    expect(() => jsonSchemaOf(of("own"))).to.throw(VenturiError, /Standard JSON Schema/);
    const failing = () => {
      throw new Error("a date");
    };
    expect(() => jsonSchemaOf(of("own", { jsonSchema: { input: failing } })))
      .to.throw(VenturiError, /the own schema has no JSON Schema.*: a date$/)
      .that.includes({ op: "schema.read", code: "config_invalid" });
    const later = of("own", { validate: () => Promise.reject(new Error("late")) });
    expect(() => parse(later, {}, "x")).to.throw(VenturiError, /checks asynchronously/);
    const keyed = of("own", { validate: () => ({ issues: [{ message: "m", path: [{ key: "a" }, 0] }] }) });
    expect(parse(keyed, {}, "x")).to.deep.equal({ ok: false, problems: ["a.0: m"] });
  });
});
