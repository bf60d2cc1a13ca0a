import { expect } from "chai";
import { Countdown } from "../../src/agent/run/countdown.ts";
import { checkCall, forCall, needsOf } from "../../src/agent/run/for-call.ts";
import { HookChain } from "../../src/agent/run/hook-chain.ts";
import {
  checkInput,
  inputSchema,
  instructionsFor,
  placeholders,
  writtenInstructions,
} from "../../src/agent/run/inputs.ts";
import { LimitReached, limitIn } from "../../src/agent/run/limit-reached.ts";
import { checkContext, LiveContext } from "../../src/agent/run/live-context.ts";
import { lowerLimits } from "../../src/agent/run/request-limits.ts";
import { ToolTable } from "../../src/agent/tools/tool-table.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Hooks } from "../../src/core/ports/hooks.ts";
import type { Tool } from "../../src/core/ports/tool.ts";
import type { Schema } from "../../src/core/values/schema.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { ScriptedModel } from "../../src/testing/model.ts";
import { agentOf, deferred, tool } from "./harness.ts";

const model = () => new ScriptedModel([]);
const agent = (more: object = {}, tools: readonly Tool[] = []) => agentOf({ model: model(), tools, agent: more });
const request = (more: object = {}) => ({ agent: "tester", input: { text: "hi" }, ...more });
const failure = (work: () => unknown): VenturiError => {
  try {
    work();
  } catch (thrown) {
    if (VenturiError.isInstance(thrown)) return thrown;
    throw thrown;
  }
  return expect.fail("it was taken");
};

/** A schema of a program, with the check in hand. */
const standard = (validate: (value: unknown) => unknown): Schema =>
  ({ "~standard": { version: 1, vendor: "own", validate, jsonSchema: { input: () => ({}) } } }) as never;

describe("a countdown", () => {
  it("runs out once, after its time less the pauses", async () => {
    const clock = new VirtualClock();
    let ended = 0;
    const countdown = new Countdown(clock, 100, () => {
      ended += 1;
    });
    await clock.advance(40);
    countdown.hold();
    countdown.hold();
    await clock.advance(1_000);
    countdown.letGo();
    await clock.advance(1_000);
    expect([ended, clock.pending]).to.deep.equal([0, 0]);
    countdown.letGo();
    await clock.advance(59);
    expect(ended).to.equal(0);
    await clock.advance(1);
    expect(ended).to.equal(1);
  });

  it("that is stopped never runs out, also when a pause ends later", async () => {
    const clock = new VirtualClock();
    const countdown = new Countdown(clock, 100, () => expect.fail("ran out"));
    countdown.hold();
    countdown.stop();
    countdown.letGo();
    await clock.advance(1_000);
    const running = new Countdown(clock, 100, () => expect.fail("ran out"));
    running.stop();
    expect(clock.pending).to.equal(0);
  });
});

describe("a request's limits", () => {
  const { limits } = agentOf({
    model: model(),
    limits: { maxToolRounds: 5, maxToolCalls: 9, tokens: 100, time: 1_000 },
  });

  it("lower the agent's and never raise them", () => {
    expect(lowerLimits(limits, undefined)).to.equal(limits);
    expect(lowerLimits(limits, {})).to.deep.equal(limits);
    const lower = { maxToolRounds: 0, maxToolCalls: 3, tokens: 99, time: 1 };
    expect(lowerLimits(limits, lower)).to.deep.equal({ ...limits, ...lower });
    expect(lowerLimits(limits, { maxToolRounds: 6, maxToolCalls: 10, tokens: 101, time: 1_001 })).to.deep.equal(limits);
    const open = { ...limits, tokens: undefined, time: undefined };
    expect(lowerLimits(open, { tokens: 7 })).to.deep.equal({ ...open, tokens: 7 });
    expect(lowerLimits(open, {})).to.deep.equal(open);
  });

  it("that do not exist are refused by name", () => {
    for (const [asked, path] of [
      [{ maxToolRounds: -1 }, "maxToolRounds"],
      [{ maxToolCalls: 1.5 }, "maxToolCalls"],
      [{ tokens: 0 }, "tokens"],
      [{ time: 0 }, "time"],
      [{ time: "1" }, "time"],
    ] as const) {
      const error = failure(() => lowerLimits(limits, asked));
      expect(error).to.include({ op: "run.start", code: "invalid_input" });
      expect(error.message).to.match(new RegExp(`^limits\\.${path}: .`));
    }
    expect(failure(() => lowerLimits(limits, { more: 1 })).message).to.match(/^limits\.more: unknown key; /);
  });

  it("when reached are found behind any error that wraps them", () => {
    const reached = new LimitReached("max_tokens", "enough");
    expect(reached).to.deep.include({ op: "agent.run", code: "budget_exceeded", details: { limit: "max_tokens" } });
    expect(new LimitReached("max_rounds", "enough").code).to.equal("max_rounds_exceeded");
    const wrapped = new VenturiError("a", "internal", "x", {
      cause: new VenturiError("b", "internal", "y", { cause: reached }),
    });
    expect([limitIn(reached), limitIn(wrapped), limitIn(new VenturiError("a", "internal", "x"))]).to.deep.equal([
      "max_tokens",
      "max_tokens",
      undefined,
    ]);
  });
});

describe("an agent for one call", () => {
  it("has the model that the call chose, if the agent allows it", () => {
    const other = { ...agent().model, name: "other" };
    const free = agent({ overrides: { models: new Map([["other", other]]), options: new Set() } });
    expect(forCall(free, request()).model.name).to.equal("main");
    expect(forCall(free, request({ model: "main" })).model.name).to.equal("main");
    expect(forCall(free, request({ model: "other" })).model.name).to.equal("other");
    const error = failure(() => forCall(free, request({ model: "third" })));
    expect(error).to.deep.include({ op: "run.start", code: "forbidden", details: { model: "third" } });
    expect(error.message).to.match(/"third"; it allows: main, other$/);
    expect(forCall(free, request({ limits: { maxToolCalls: 1 } })).limits.maxToolCalls).to.equal(1);
  });

  it("keeps only the models of its chain that can do what the call needs, or all if none can", () => {
    const blind = Object.assign(model(), { capabilities: { ...model().capabilities, vision: false } });
    const seeing = Object.assign(model(), { capabilities: { ...model().capabilities, vision: true } });
    const picture = { messages: [{ role: "user", parts: [{ type: "image", mediaType: "image/png", data: "" }] }] };
    const names = (models: readonly ScriptedModel[], input: object) =>
      forCall(agentOf({ model: models }), request({ input })).model.targets.map(({ name }) => name);
    expect(names([blind, seeing], picture)).to.deep.equal(["p1/m"]);
    expect(names([blind, seeing], { text: "hi" })).to.deep.equal(["p0/m", "p1/m"]);
    expect(names([blind, blind], picture)).to.deep.equal(["p0/m", "p1/m"]);
  });

  it("needs what its tools, its images and its files need", () => {
    const none = { tools: false, vision: false, files: [] };
    expect(needsOf(agent(), request())).to.deep.equal(none);
    expect(needsOf(agent({}, [tool("a", () => "")]), request())).to.deep.equal({ ...none, tools: true });
    const spec = { name: "c", description: "", parameters: {} };
    expect(needsOf(agent(), request({ clientTools: [spec] }))).to.deep.equal({ ...none, tools: true });
    expect(needsOf(agent(), request({ clientTools: [] }))).to.deep.equal(none);
    const file = (mediaType: string) => ({ type: "file", mediaType, data: "" });
    const parts = [file("a/b"), file("a/b"), file("c/d"), { type: "text", text: "" }];
    const messages = [
      { role: "user", parts },
      { role: "user", parts: [{ type: "image", mediaType: "i", data: "" }] },
    ];
    expect(needsOf(agent(), request({ input: { messages } }))).to.deep.equal({
      tools: false,
      vision: true,
      files: ["a/b", "c/d"],
    });
  });

  it("refuses options, tools and choices that it does not have", () => {
    const free = agent({ overrides: { models: new Map(), options: new Set(["own"]) } }, [tool("look", () => "")]);
    const spec = (name: string) => ({ name, description: "", parameters: {} });
    for (const fine of [
      {},
      { options: { temperature: 1, own: { a: 1 } } },
      { clientTools: [spec("a"), spec("b")], toolChoice: { name: "b" } },
      { toolChoice: "auto" },
      { toolChoice: "none" },
      { toolChoice: "required" },
      { toolChoice: { name: "look" } },
    ]) {
      checkCall(free, request(fine));
    }
    const refusals: readonly (readonly [object, RegExp])[] = [
      [
        { options: { other: 1 } },
        /^options\.other: tester does not let a call set it; it allows: .*temperature.*, own$/,
      ],
      [{ options: { temperature: "hot" } }, /^options\.temperature: /],
      [{ clientTools: [spec("a"), spec("a")] }, /^tools: "a" is listed twice$/],
      [
        { toolChoice: { name: "c" }, clientTools: [spec("a")] },
        /^toolChoice: the tool "c" has to be called, and the tools are: look, a$/,
      ],
    ];
    for (const [asked, message] of refusals) {
      const error = failure(() => checkCall(free, request(asked)));
      expect(error).to.include({ op: "run.start", code: "invalid_input" });
      expect(error.message).to.match(message);
    }
    expect(failure(() => checkCall(free, request({ options: { other: 1 } }))).details).to.deep.equal({
      option: "other",
    });
    expect(failure(() => checkCall(agent(), request({ toolChoice: "required" }))).message).to.equal(
      "toolChoice: a tool has to be called, and the tools are: none",
    );
  });
});

describe("an agent's inputs", () => {
  const inputs = { city: { type: "string", minLength: 2 }, days: { type: "integer", default: 3 } };

  it("are checked by name, filled with defaults and refused in words", () => {
    const taker = agent({ inputs });
    const input = { text: "hi", variables: { city: "Bonn" } };
    expect(checkInput(taker, input)).to.deep.equal({ text: "hi", variables: { city: "Bonn", days: 3 } });
    const given = { text: "hi" };
    expect(checkInput(agent(), given)).to.equal(given);
    const refusals: readonly (readonly [object, string, object | undefined])[] = [
      [{}, "the input has neither text nor messages", undefined],
      [{ messages: [] }, "the input has neither text nor messages", undefined],
      [{ text: " \n" }, "the input's text is empty", undefined],
      [{ text: "", messages: [] }, "the input's text is empty", undefined],
      [
        { text: "hi", variables: { town: 1, land: 2, city: "Bonn" } },
        "unknown input town, land; tester takes: city, days",
        undefined,
      ],
      [{ text: "hi" }, 'the input "city" is missing', { input: "city" }],
      [
        { text: "hi", variables: { city: "B" } },
        'the input "city" must NOT have fewer than 2 characters',
        { input: "city" },
      ],
    ];
    for (const [asked, message, details] of refusals) {
      expect(failure(() => checkInput(taker, asked))).to.deep.include({
        op: "agent.input",
        code: "invalid_input",
        message,
        details,
      });
    }
    expect(failure(() => checkInput(agent(), { text: "hi", variables: { a: 1 } })).message).to.match(/takes: none$/);
    const messages = [{ role: "user" as const, parts: [] }];
    checkInput(agent(), { text: "", messages });
    checkInput(agent(), { messages });
    expect(failure(() => checkInput(taker, { text: "hi", variables: { city: "Bonn", days: "x" } })).message).to.equal(
      'the input "days" must be integer',
    );
  });

  it("are checked by a program's schema where there is one, and are what it makes of them", () => {
    const doubled = agent({
      instructions: "{{ n }} and {{n}} and {{o}} and {{ missing }}",
      inputsSchema: standard((value) => {
        const { n } = value as { n?: number };
        return n === undefined
          ? { issues: [{ message: "no n", path: ["n"] }, { message: "empty" }] }
          : { value: { n: n * 2, o: { a: [1] } } };
      }),
    });
    const input = { text: "hi", variables: { n: 4 } };
    expect(checkInput(doubled, input)).to.equal(input);
    expect(instructionsFor(doubled, input)).to.equal('8 and 8 and {"a":[1]} and {{ missing }}');
    expect(failure(() => checkInput(doubled, { text: "hi" }))).to.include({
      code: "invalid_input",
      message: "the inputs do not fit tester: n: no n; inputs: empty",
    });
  });

  it("replace their placeholders in the instructions", () => {
    const taker = agent({ inputs, instructions: "{{city}} for {{ days }} days, {{toString}}{{}}" });
    expect(instructionsFor(taker, { text: "", variables: { city: "Bonn", days: 3 } })).to.equal(
      "Bonn for 3 days, {{toString}}{{}}",
    );
    expect(instructionsFor(taker, { text: "" })).to.equal(taker.instructions);
    expect(placeholders("{{a}} {{ b-c }} {{}} {d} {{e f}}")).to.deep.equal(["a", "b-c"]);
    expect(inputSchema(inputs)).to.deep.equal({
      type: "object",
      properties: inputs,
      required: ["city"],
      additionalProperties: false,
    });
  });

  it("are given to the function that writes the instructions", async () => {
    const writes = (write: (given: { inputs: unknown; context: unknown }) => unknown) =>
      writtenInstructions(
        { agent: agent({ writeInstructions: write }), context: "c" },
        { text: "", variables: { a: 1 } },
      );
    expect(await writes(({ inputs, context }) => JSON.stringify([inputs, context]))).to.equal('[{"a":1},"c"]');
    expect(await writtenInstructions({ agent: agent(), context: 1 }, { text: "" })).to.equal(undefined);
    const thrown = await writes(() => {
      throw new Error("no");
    }).catch((error) => error);
    expect(thrown).to.include({ op: "agent.instructions", code: "plugin_failed" });
  });
});

describe("a run's context", () => {
  const about = { run: "r", signal: new AbortController().signal };
  const numbers = standard((value) =>
    typeof value === "number" ? { value: value + 1 } : { issues: [{ message: "no number" }] },
  );

  it("is what is stored, as the agent's schema makes it, and made once for each agent", async () => {
    expect(await new LiveContext(1, about).of(agent())).to.equal(1);
    expect(await new LiveContext(1, about).of(agent({ context: { schema: numbers } }))).to.equal(2);
    const seen: unknown[] = [];
    const provide = (stored: unknown, given: unknown) => {
      seen.push([stored, given]);
      return { stored };
    };
    const live = new LiveContext(1, about);
    const one = agent({ context: { schema: numbers, provide } });
    expect(await live.of(one)).to.equal(await live.of(one));
    await live.of({ ...one, name: "other" });
    expect(seen).to.deep.equal([
      [2, { ...about, agent: "tester" }],
      [2, { ...about, agent: "other" }],
    ]);
  });

  it("that the agent does not take any more is a conflict, and one that cannot be made is the plugin's failure", async () => {
    const context = { schema: numbers };
    const conflict = await new LiveContext("x", about).of(agent({ context })).catch((thrown) => thrown);
    expect(conflict).to.include({ op: "agent.context", code: "conflict" });
    expect((conflict as VenturiError).message).to.match(/^tester@r1 does not take .*\(context: no number\)/);
    const provide = () => {
      throw new Error("no");
    };
    const failed = await new LiveContext(1, about)
      .of(agent({ context: { ...context, provide } }))
      .catch((thrown) => thrown);
    expect(failed).to.include({ op: "agent.context", code: "plugin_failed" });
  });

  it("is disposed in reverse order, whatever fails, and created again afterwards", async () => {
    const order: string[] = [];
    const made = {
      a: { [Symbol.dispose]: () => void order.push("a") },
      b: { [Symbol.asyncDispose]: async () => Promise.reject(new Error("b")) },
      c: { [Symbol.asyncDispose]: async () => void order.push("c"), [Symbol.dispose]: () => void order.push("never") },
      d: "plain",
      e: null,
    };
    const live = new LiveContext(1, about);
    let count = 0;
    for (const name of ["a", "b", "c", "d", "e"] as const) {
      const provide = () => {
        count += 1;
        return made[name];
      };
      await live.of({ ...agent({ context: { schema: numbers, provide } }), name });
    }
    expect((await live.dispose()).map((thrown) => (thrown as Error).message)).to.deep.equal(["b"]);
    expect(order).to.deep.equal(["c", "a"]);
    expect(await live.dispose()).to.deep.equal([]);
    await live.of({ ...agent({ context: { schema: numbers, provide: () => ++count } }), name: "a" });
    expect(count).to.equal(6);
  });

  it("is checked before the run starts", () => {
    checkContext(agent(), undefined);
    checkContext(agent({ context: { schema: numbers } }), 1);
    expect(failure(() => checkContext(agent(), 1))).to.include({
      op: "agent.context",
      code: "invalid_input",
      message: "tester takes no context",
    });
    expect(failure(() => checkContext(agent({ context: { schema: numbers } }), "x"))).to.include({
      code: "invalid_input",
      message: "the context does not fit tester: context: no number",
    });
  });
});

describe("a chain of hooks", () => {
  function chain(...hooks: Hooks[]) {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const blamed: string[] = [];
    const owner = {
      clock,
      stalls: {
        blame: ({ what, run }: { what: string; run: string }) => blamed.push(`${what} of run ${run}`),
        totalMs: 0,
      } as never,
      fail: () => {},
    };
    const context = { run: "r", agent: "a", context: "c", depth: 0, signal: controller.signal };
    return { hooks: new HookChain(hooks, owner, context), clock, controller, blamed, context };
  }
  const call = { call: "c", name: "n", arguments: {} };
  /** A hook's context without its functions. */
  const facts = (about: unknown) =>
    Object.fromEntries(Object.entries(about as object).filter(([, value]) => typeof value !== "function"));

  it("passes what one returns on to the next, and what nobody changes as it is", async () => {
    const seen: unknown[] = [];
    const { hooks, blamed, context } = chain(
      { beforeRun: (asked) => ({ ...asked, agent: `${asked.agent}1` }) },
      { beforeRun: () => undefined },
      {},
      {
        beforeRun: async (asked, about) => {
          seen.push(facts(about));
          return { ...asked, agent: `${asked.agent}2` };
        },
      },
    );
    expect(hooks.empty).to.equal(false);
    expect(chain().hooks.empty).to.equal(true);
    expect((await hooks.beforeRun(request())).agent).to.equal("tester12");
    expect(seen).to.deep.equal([context]);
    expect(blamed[0]).to.equal("the hook beforeRun of run r");
    const same = request();
    expect(await chain({}).hooks.beforeRun(same)).to.equal(same);
  });

  it("calls each hook with its value and its round", async () => {
    const seen: [string, unknown, unknown][] = [];
    const note =
      (name: string) =>
      (value: unknown, about: unknown): undefined =>
        void seen.push([name, value, facts(about)]);
    const { hooks, context } = chain({
      afterRun: note("afterRun"),
      beforeGeneration: note("beforeGeneration"),
      afterGeneration: note("afterGeneration"),
      beforeTool: note("beforeTool"),
      afterTool: (one, result, about) => void seen.push(["afterTool", [one, result], facts(about)]),
    } as Hooks);
    await hooks.afterRun({ output: "o" });
    await hooks.beforeGeneration("g" as never, 2);
    await hooks.afterGeneration("h" as never, 3);
    await hooks.beforeTool(call, 4);
    await hooks.afterTool(call, { ok: true, output: "x" }, 5);
    expect(seen).to.deep.equal([
      ["afterRun", { output: "o" }, context],
      ["beforeGeneration", "g", { ...context, round: 2 }],
      ["afterGeneration", "h", { ...context, round: 3 }],
      ["beforeTool", call, { ...context, round: 4 }],
      ["afterTool", [call, { ok: true, output: "x" }], { ...context, round: 5 }],
    ]);
  });

  it("asks no further hook once one stands in for the tool", async () => {
    const { hooks } = chain(
      { beforeTool: (one) => ({ ...one, arguments: { a: 1 } }) },
      { beforeTool: () => ({ output: undefined }) },
      { beforeTool: () => expect.fail("asked") },
    );
    expect(await hooks.beforeTool(call, 1)).to.deep.equal({
      ...call,
      arguments: { a: 1 },
      standIn: { output: undefined },
    });
  });

  it("distinguishes a denial from a broken plugin and from one that takes too long", async () => {
    const denied = await chain({
      beforeRun: () => {
        throw new VenturiError("x", "forbidden", "no");
      },
    })
      .hooks.beforeRun(request())
      .catch((thrown) => thrown);
    expect(denied).to.include({ op: "hook.beforeRun", code: "forbidden", message: "no" });
    const broken = await chain({ beforeRun: () => Promise.reject(new Error("bug")) })
      .hooks.beforeRun(request())
      .catch((thrown) => thrown);
    expect(broken).to.include({ op: "hook.beforeRun", code: "plugin_failed" });
    expect(broken.cause).to.have.property("message", "bug");
    const slow = chain({ afterGeneration: () => new Promise<void>(() => {}) });
    const late = slow.hooks.afterGeneration({} as never, 1).catch((thrown) => thrown);
    await slow.clock.advance(29_999);
    expect(slow.clock.pending).to.equal(1);
    await slow.clock.advance(1);
    expect(await late).to.include({
      op: "hook.afterGeneration",
      code: "plugin_failed",
      message: "the hook afterGeneration took longer than 30000 ms",
    });
    const quick = chain({ beforeRun: async () => undefined });
    await quick.hooks.beforeRun(request());
    expect(quick.clock.pending).to.equal(0);
  });

  it("is left at once when the run is aborted, unless the run is ending: then it has a short time", async () => {
    const waiting = deferred();
    const { hooks, controller, clock } = chain({
      beforeRun: () => waiting.promise as never,
      afterRun: () => waiting.promise,
    });
    const asked = hooks.beforeRun(request()).catch((thrown) => thrown);
    await clock.advance(0);
    controller.abort(new VenturiError("agent.run", "stream_interrupted", "cancelled"));
    expect(await asked).to.include({ code: "stream_interrupted" });
    hooks.hurry(50);
    let over = false;
    const ending = hooks.afterRun({ output: "" }).catch((thrown) => {
      over = true;
      return thrown;
    });
    await clock.advance(49);
    expect(over).to.equal(false);
    await clock.advance(1);
    expect(await ending).to.include({ code: "plugin_failed", message: "the hook afterRun took longer than 50 ms" });
  });
});

describe("a table of tools", () => {
  const spec = (name: string) => ({ name, description: "client's", parameters: {} });

  it("offers the agent's tools and the client's, which come first where both have a name", () => {
    const table = new ToolTable([tool("a", () => ""), tool("b", () => "")], [spec("b"), spec("c")]);
    expect(table.specs.map(({ name, description }) => [name, description])).to.deep.equal([
      ["a", "a"],
      ["b", "client's"],
      ["c", "client's"],
    ]);
    expect([table.isClient("a"), table.isClient("b"), table.isClient("c")]).to.deep.equal([false, true, true]);
    expect([table.get("a")?.name, table.get("b"), table.get("c")]).to.deep.equal(["a", undefined, undefined]);
    expect(table.check("c", { any: 1 })).to.deep.equal({ ok: true, input: { any: 1 } });
  });

  it("finds a tool by a vendor's name for it, unless two claim it or a tool has it", () => {
    const table = new ToolTable(
      [tool("a", () => "", { aliases: ["x", "both", "b"] }), tool("b", () => "", { aliases: ["both"] })],
      [spec("c")],
    );
    expect(["a", "x", "both", "b", "c", "none"].map((name) => table.nameOf(name))).to.deep.equal([
      "a",
      "a",
      "both",
      "b",
      "c",
      "none",
    ]);
    expect(table.specs[0]).to.deep.include({ aliases: ["x", "both", "b"] });
    expect(new ToolTable([tool("z", () => "")]).specs[0]).not.to.have.property("aliases");
  });

  it("checks arguments as they are, and says what does not fit", () => {
    const parameters = { type: "object", required: ["n"], properties: { n: { type: "integer" } } };
    const own = standard((value) =>
      "n" in (value as object)
        ? { value: { n: "seen" } }
        : { issues: Array.from({ length: 7 }, (_, at) => ({ message: `m${at}` })) },
    );
    const table = new ToolTable(
      [
        tool("json", () => "", { parameters }),
        tool("own", () => "", { parameters: own as never }),
        tool("adapts", () => "", { parameters, adapt: (input) => ({ n: input.number }) }),
        tool("breaks", () => "", {
          adapt: () => {
            throw new Error("bug");
          },
        }),
      ],
      [spec("c")],
    );
    expect(table.check("json", { n: 1 })).to.deep.equal({ ok: true, input: { n: 1 } });
    expect(table.check("own", { n: 1 })).to.deep.equal({ ok: true, input: { n: "seen" } });
    expect(table.check("adapts", { number: 2 })).to.deep.equal({ ok: true, input: { n: 2 } });
    const error = (name: string, input = {}) => {
      const checked = table.check(name, input);
      return checked.ok ? expect.fail() : [checked.error.op, checked.error.code, checked.error.message];
    };
    const invalid = ["tool.check", "tool_invalid_arguments"];
    expect(error("json")).to.deep.equal([
      ...invalid,
      "the arguments of json do not fit: arguments must have required property 'n'",
    ]);
    expect(error("json", { n: "x" })).to.deep.equal([
      ...invalid,
      "the arguments of json do not fit: /n must be integer",
    ]);
    expect(error("own")).to.deep.equal([
      ...invalid,
      "the arguments of own do not fit: arguments: m0; arguments: m1; arguments: m2; arguments: m3; arguments: m4",
    ]);
    expect(error("breaks")).to.deep.equal(["tool.check", "plugin_failed", "bug"]);
    expect(table.check("none", { a: 1 }), "a client that brought tools").to.deep.equal({ ok: true, input: { a: 1 } });
    const alone = new ToolTable([tool("json", () => ""), tool("own", () => "")], []).check("none", {});
    expect(alone.ok || alone.error.message).to.equal('there is no tool "none"; the tools are: json, own');
    const empty = new ToolTable([]).check("x", {});
    expect(empty.ok || empty.error.message).to.equal('there is no tool "x"; the tools are: none');
  });
});
