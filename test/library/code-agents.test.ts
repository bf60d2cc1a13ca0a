import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import { expect } from "chai";
import * as v from "valibot";
import {
  type AgentSpec,
  agent,
  type ContextOf,
  context,
  jsonSchema,
  openVenturi,
  sqlite,
  type ToolContext,
  tool,
  type Venturi,
  VenturiError,
} from "venturi";
import { z } from "zod";
import { say } from "../../src/testing/model.ts";
import { collect, scripted } from "./scripted.ts";

const failure = async (work: Promise<unknown>): Promise<VenturiError> => {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!VenturiError.is(thrown)) throw new Error(`expected a VenturiError, got ${String(thrown)}`);
  return thrown;
};

describe("agents in code", () => {
  let opened: Venturi | undefined;
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "venturi-code-"));
  });
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });
  after(() => rmSync(folder, { recursive: true }));

  const open = async (...given: Parameters<typeof scripted>) => {
    const made = await scripted(...given);
    opened = made.venturi;
    return made;
  };

  it("a tool's arguments are checked and completed by its schema, whatever library that is from", async () => {
    const seen: unknown[] = [];
    const call = (input: unknown) => {
      seen.push(input);
      return "ok";
    };
    const schemas = {
      zod: z.object({ order: z.string(), lang: z.string().default("en") }),
      valibot: toStandardJsonSchema(v.object({ order: v.string(), lang: v.optional(v.string(), "en") })),
      arktype: type({ order: "string", lang: "string = 'en'" }),
      json: jsonSchema<{ order: string }>({
        type: "object",
        properties: { order: { type: "string" } },
        required: ["order"],
      }),
    };
    const tools = Object.entries(schemas).map(([name, input]) => tool({ name, description: name, input, call }));
    const names = Object.keys(schemas);
    const { venturi, model } = await open(
      [
        names.map((name, index) => say.call(index, name, { order: "A-17" }, `good-${name}`)),
        names.map((name, index) => say.call(index, name, { order: 17 }, `bad-${name}`)),
        ["done"],
      ],
      { agents: [agent({ name: "a", model: "scripted/m", tools })] },
    );
    const run = await venturi.start(venturi.agent("a"), "go");
    const results = await collect(run.events({ types: ["tool.finished", "tool_call.rejected"] }));
    expect(seen).to.deep.equal([
      { order: "A-17", lang: "en" },
      { order: "A-17", lang: "en" },
      { order: "A-17", lang: "en" },
      { order: "A-17" },
    ]);
    const rejected = results.flatMap((event) => (event.type === "tool_call.rejected" ? [event.error.code] : []));
    expect(rejected).to.deep.equal(names.map(() => "tool_invalid_arguments"));
    for (const spec of model.requests[0]?.tools ?? []) {
      expect(spec.parameters, spec.name).to.deep.include({ type: "object", required: ["order"] });
    }
  });

  it("a schema without a JSON Schema, or one that checks asynchronously, is refused with what to do", async () => {
    const plain = v.object({ a: v.string() }) as never; // what a JavaScript caller may bring
    const later = z.object({ a: z.string().optional() }).refine(async () => true);
    const withTool = (input: never) =>
      openVenturi({
        agents: [
          agent({
            name: "a",
            model: "simulator/small",
            tools: [tool({ name: "t", description: "", input, call: () => 1 })],
          }),
        ],
      });
    const error = await failure(withTool(plain));
    expect(error.message).to.contain("toStandardJsonSchema");
    expect((await failure(withTool(later as never))).message).to.contain("checks asynchronously");
    const asking = agent({ name: "b", model: "simulator/small", output: later });
    expect((await failure(openVenturi({ agents: [asking] }))).message).to.match(/agents\.b\.output: .*asynchronously/);
  });

  it("the context is checked at the start, provided once per attempt, given to tools and hooks, and disposed", async () => {
    const log: string[] = [];
    const shop = context({
      stored: z.object({ userId: z.string(), level: z.number().default(1) }),
      provide: ({ userId, level }) => {
        log.push(`provide ${userId} ${level}`);
        return { userId, [Symbol.asyncDispose]: async () => void log.push("dispose") };
      },
    });
    const who = tool({
      name: "who",
      description: "Says who asks",
      input: z.object({}),
      call: (_input, { context }: ToolContext<ContextOf<typeof shop>>) => context.userId,
    });
    const support = agent({
      name: "support",
      model: "scripted/m",
      context: shop,
      tools: [who],
      hooks: { beforeTool: (_call, about) => void log.push(`hook ${about.context.userId}`) },
    });
    const { venturi, model } = await open([[say.call(0, "who", {})], ["done"]], { agents: [support] });
    const bad = await failure(venturi.run(support, "go", { context: { userId: 1 } as never }));
    expect([bad.code, bad.message]).to.deep.equal([
      "invalid_input",
      "the context does not fit support: userId: Invalid input: expected string, received number",
    ]);
    const run = await venturi.start(support, "go", { context: { userId: "u1" } });
    const [finished] = await collect(run.events({ types: ["tool.finished"] }));
    expect(finished?.output).to.equal("u1");
    await venturi.close();
    opened = undefined;
    expect(log).to.deep.equal(["provide u1 1", "hook u1", "dispose"]);
    expect(JSON.stringify(model.requests)).not.to.contain("userId");
  });

  it("a context that this agent does not take any more ends the run with both revisions' story", async () => {
    const path = join(folder, "context.db");
    const before = agent({
      name: "a",
      model: "scripted/m",
      context: z.object({ id: z.number() }),
      tools: [tool({ name: "ask", description: "", input: z.object({}), approval: "always", call: () => "x" })],
    });
    const first = await scripted([[say.call(0, "ask", {})]], { agents: [before], journal: sqlite(path) });
    const run = await first.venturi.start(before, "go", { context: { id: 1 } });
    for await (const _ of run.events({ types: ["approval.requested"] })) break;
    await first.venturi.close();
    const after = agent({ name: "a", model: "scripted/m", context: z.object({ userId: z.string() }) });
    const { venturi } = await open([["never"]], { agents: [after], journal: sqlite(path) });
    const again = await venturi.get(run.id, after);
    await again.approve("call-ask-0");
    const error = await failure(again.result());
    expect(error.code).to.equal("conflict");
    expect(error.message).to.match(
      /^a@[0-9a-f]+ does not take the context .*\(userId: .*Deploy code that takes both, or cancel/,
    );
  });

  it("instructions by function are written once and kept with the run; inputs have defaults and transforms", async () => {
    let calls = 0;
    const greeter = agent({
      name: "greeter",
      model: "scripted/m",
      inputs: z.object({
        name: z.string(),
        day: z.string().transform((text) => new Date(text)),
        level: z.number().default(2),
      }),
      instructions: ({ inputs }) =>
        `${++calls}: greet ${inputs.name} of ${inputs.day.getUTCFullYear()}, ${inputs.level}`,
      tools: [tool({ name: "nothing", description: "", input: z.object({}), call: () => "" })],
    });
    const { venturi, model } = await open([[say.call(0, "nothing", {})], ["Hello"]], { agents: [greeter] });
    const result = await venturi.run(greeter, "go", { inputs: { name: "Ada", day: "2026-01-01" } });
    expect([result.text, result.object]).to.deep.equal(["Hello", undefined]);
    for (const { messages } of model.requests) {
      expect(messages[0]?.parts).to.deep.equal([{ type: "text", text: "1: greet Ada of 2026, 2" }]);
    }
    const error = await failure(venturi.run(greeter, "go", { inputs: { name: "Ada" } as never }));
    expect(error.message).to.match(/^the inputs do not fit greeter: day: /);
  });

  it("the object is checked by the schema beyond JSON Schema, repaired once, and has its defaults and transforms", async () => {
    const answer = agent({
      name: "answer",
      model: "scripted/m",
      output: z
        .object({
          low: z.number(),
          high: z.number(),
          at: z
            .string()
            .transform((text) => new Date(text))
            .optional(),
        })
        .refine(({ low, high }) => low <= high, { error: "low is above high" })
        .transform((range) => ({ ...range, width: range.high - range.low })),
    });
    const { venturi, model } = await open([['{"low":3,"high":1}'], ['{"low":1,"high":3,"at":"2026-01-01"}']], {
      agents: [answer],
    });
    const { object } = await venturi.run(answer, "go");
    expect(object).to.deep.equal({ low: 1, high: 3, width: 2, at: new Date("2026-01-01") });
    expect(JSON.stringify(model.requests[1]?.messages)).to.contain("low is above high");
  });

  it("an approval function decides once per call; its reason is shown, and a person may change the arguments", async () => {
    const asked: number[] = [];
    const paid: number[] = [];
    const refund = tool({
      name: "refund",
      description: "",
      input: z.object({ amount: z.number() }),
      approval: async ({ amount }, { agent }) => {
        asked.push(amount);
        return amount > 100 && `${agent} refunds ${amount}`;
      },
      call: ({ amount }) => {
        paid.push(amount);
        return amount;
      },
    });
    const broken = tool({
      name: "broken",
      description: "",
      input: z.object({}),
      approval: () => {
        throw new Error("the database is down");
      },
      call: () => paid.push(-1),
    });
    const cashier = agent({ name: "cashier", model: "scripted/m", tools: [refund, broken] });
    const script = [
      [say.call(0, "refund", { amount: 50 }), say.call(1, "refund", { amount: 500 }), say.call(2, "broken", {})],
      ["done"],
    ];
    const { venturi, model } = await open(script, { agents: [cashier] });
    const run = await venturi.start(cashier, "go");
    for await (const event of run.events({ types: ["approval.requested"] })) {
      expect(event).to.deep.include({ arguments: { amount: 500 }, reason: "cashier refunds 500" });
      const misfit = await failure(run.approve(event.call, { arguments: { amount: "much" } }));
      expect(misfit.code).to.equal("invalid_input");
      expect(await run.approve(event.call, { arguments: { amount: 60 }, by: "ada" })).to.equal(true);
      expect(await run.approve(event.call)).to.equal(false);
    }
    expect(paid).to.deep.equal([50, 60]);
    expect(asked).to.deep.equal([50, 500]);
    const told = JSON.stringify(model.requests[1]?.messages);
    expect(told).to.contain('[a person changed the arguments to {\\"amount\\":60}]');
    expect(told).to.contain("whether broken needs approval could not be decided: the database is down");
  });

  it("onApproval answers here; what it leaves or breaks waits for an answer from elsewhere", async () => {
    const act = tool({
      name: "act",
      description: "",
      input: z.object({ n: z.number() }),
      approval: "always",
      call: ({ n }) => n,
    });
    const actor = agent({ name: "actor", model: "scripted/m", tools: [act] });
    const calls = [1, 2, 3].map((n, index) => say.call(index, "act", { n }));
    const { venturi } = await open([calls, ["done"]], { agents: [actor] });
    const run = await venturi.start(actor, "go", {
      onApproval: ({ arguments: { n } }) => {
        if (n === 3) throw new Error("no");
        return n === 1 ? { approved: false, reason: "not the first" } : undefined;
      },
    });
    let waiting = 0;
    for await (const event of run.events({ types: ["approval.requested"] })) {
      if (event.arguments.n === 1) continue;
      await run.approve(event.call, { by: "elsewhere" });
      if (++waiting === 2) break;
    }
    const finished = await collect(run.events({ types: ["tool.finished"] }));
    const byOutput = finished.map(({ output }) => output).sort();
    expect(byOutput).to.deep.equal(["2", "3", "tool_denied: not the first"]);
  });

  it("hooks may stand in for a tool", async () => {
    const real = tool({
      name: "real",
      description: "",
      input: z.object({}),
      call: () => {
        throw new Error("called");
      },
    });
    const careful = agent({
      name: "careful",
      model: "scripted/m",
      tools: [real],
      hooks: { beforeTool: () => ({ output: { stands: "in" } }) },
    });
    const { venturi } = await open([[say.call(0, "real", {})], ["done"]], { agents: [careful] });
    const run = await venturi.start(careful, "go");
    const [finished] = await collect(run.events({ types: ["tool.finished"] }));
    expect(finished).to.deep.include({ ok: true, output: '{"stands":"in"}' });
  });

  it("hooks that return nothing have the types of hooks", async () => {
    const seen: string[] = [];
    const note = (what: string): void => void seen.push(what);
    const later = async (what: string): Promise<void> => note(what);
    const watched = agent({
      name: "watched",
      model: "scripted/m",
      hooks: { beforeRun: () => note("run"), beforeGeneration: () => later("generation") },
    });
    const { venturi } = await open([["done"]], { agents: [watched] });
    expect((await venturi.run(watched, "go")).text).to.equal("done");
    expect(seen).to.deep.equal(["run", "generation"]);
  });

  it("an agent as a tool is a run of its own, with its context made of the caller's", async () => {
    const who = tool({
      name: "who",
      description: "",
      input: z.object({}),
      call: (_input, { context }: ToolContext<{ userId: string }>) => context.userId,
    });
    const inner = agent({
      name: "inner",
      model: "scripted/m",
      context: z.object({ userId: z.string() }),
      tools: [who],
    });
    const outer = agent({
      name: "outer",
      model: "scripted/m",
      context: z.object({ id: z.string() }),
      tools: [inner.asTool({ name: "ask", context: (caller: { id: string }) => ({ userId: `user ${caller.id}` }) })],
    });
    const script = [[say.call(0, "ask", { task: "who am I?" })], [say.call(0, "who", {})], ["you are it"], ["done"]];
    const { venturi, model } = await open(script, { agents: [outer] });
    const result = await venturi.run(outer, "go", { context: { id: "7" } });
    expect(result.text).to.equal("done");
    expect(JSON.stringify(model.requests[2]?.messages)).to.contain("user 7");
    expect(JSON.stringify(model.requests[3]?.messages)).to.contain("you are it");
  });

  it("YAML and code name each other's agents, tools and models; one name in both is an error with both places", async () => {
    const file = join(folder, "venturi.yaml");
    writeFileSync(
      file,
      "models: { main: { chain: [scripted/m] } }\ntools: { calculator: { type: calculator } }\nagents:\n  written: { model: main, tools: [shout], handoffs: [coded] }\njournal: { type: memory }\n",
    );
    const shout = tool({
      name: "shout",
      description: "",
      input: z.object({ text: z.string() }),
      call: ({ text }) => text.toUpperCase(),
    });
    const coded = agent({ name: "coded", model: "main", tools: ["calculator"], handoffs: ["written"] });
    const app = { configFile: file, agents: [coded], tools: [shout] };
    const script = [
      [say.call(0, "shout", { text: "hi" })],
      ["HI"],
      [say.call(0, "calculator", { expression: "6*7" })],
      ["42"],
    ];
    const { venturi, model } = await open(script, app);
    expect((await venturi.run(venturi.agent("written"), "go")).text).to.equal("HI");
    expect((await venturi.run(coded, "go")).text).to.equal("42");
    expect(model.requests[2]?.tools.map(({ name }) => name)).to.deep.equal(["calculator", "transfer_to_written"]);
    const shown = await venturi.config();
    expect(shown).to.match(/written:\n +model: main # .*venturi\.yaml:4:/);
    expect(shown).to.match(/coded:\n +model: main # .*code-agents\.test\.[jt]s:\d+:\d+/);
    const same = agent({ name: "written", model: "main" });
    const error = await failure(
      openVenturi({ ...app, agents: [same], providers: [{ name: "scripted", provider: model }] }),
    );
    expect(error.code).to.equal("config_invalid");
    expect(error.message).to.match(/code-agents\.test\.[jt]s:\d+:\d+ agents\.written: .*taken by .*venturi\.yaml:4:3/);
    expect(await failure(scripted([], { agents: [coded, agent({ name: "coded", model: "main" })] }))).to.have.property(
      "code",
      "config_invalid",
    );
  });

  it("mistakes are reported together, each with its place in the program", async () => {
    const wrong = agent({
      name: "wrong",
      model: "anthropic/claude-sonnet-4-5",
      tools: ["calculater"],
      limits: { time: "soon" },
      handoffs: ["nobody"],
    });
    const error = await failure(openVenturi({ agents: [wrong], env: {} }));
    expect(error.message).to.contain("the variable ANTHROPIC_API_KEY is not set");
    expect(error.message).to.contain('"calculater" is not among the tools');
    expect(error.message).to.contain('"nobody" is not among the agents');
    expect(error.message).to.match(/code-agents\.test\.[jt]s:\d+:\d+ agents\.wrong\.limits\.time: /);
  });

  it("runs are handles: not thenable, read again and again, and a reader that leaves stops nothing", async () => {
    const plain = agent({ name: "plain", model: "scripted/m" });
    const { venturi } = await open([["one ", say.wait(5), "two"], [say.fail("llm_error", "broke")]], {
      agents: [plain],
    });
    const run = await venturi.start(plain, "go", { metadata: { user: "u1" }, session: "s" });
    expect(run).not.to.have.property("then");
    expect([run.agent, run.session, run.metadata]).to.deep.equal(["plain", "s", { user: "u1" }]);
    for await (const _text of run.text()) break;
    expect((await collect(run.text())).join("")).to.equal("one two");
    expect((await collect(run)).map(({ seq }) => seq)).to.deep.equal((await collect(run)).map(({ seq }) => seq));
    expect((await collect(run.events({ after: 2 })))[0]?.seq).to.equal(3);
    const failed = await venturi.start(plain, "go");
    expect((await failure(failed.result())).code).to.equal("llm_error");
    expect(await failed.outcome()).to.deep.include({ ok: false, text: "" });
    expect((await failure(collect(failed.text()))).code).to.equal("llm_error");
    expect((await collect(failed)).at(-1)?.type).to.equal("run.failed");
  });

  it("a run ends with its caller's signal, with cancel, and with an await using block", async () => {
    const slow = agent({ name: "slow", model: "scripted/m" });
    const script = Array.from({ length: 4 }, () => ["a", say.silence()]);
    const { venturi } = await open(script, { agents: [slow] });
    const stop = new AbortController();
    const signalled = await venturi.start(slow, "go", { signal: stop.signal });
    for await (const event of signalled) if (event.type === "text.delta") stop.abort();
    expect(await signalled.outcome()).to.have.nested.property("error.code", "stream_interrupted");
    const reader = new AbortController();
    const cancelled = await venturi.start(slow, "go");
    const cut = await failure(
      (async () => {
        for await (const _text of cancelled.text({ signal: reader.signal }))
          reader.abort(new VenturiError("test", "timeout", "cut"));
      })(),
    );
    expect(cut.code).to.equal("timeout");
    await cancelled.cancel("enough");
    expect((await failure(cancelled.result())).message).to.equal("enough");
    let left = "";
    {
      await using held = await venturi.start(slow, "go");
      left = held.id;
    }
    expect((await (await venturi.get(left)).outcome()).ok).to.equal(false);
    const early = await failure(venturi.start(slow, "go", { signal: AbortSignal.abort() }));
    expect(early.code).to.equal("stream_interrupted");
  });

  it("sessions continue a conversation and list what was said", async () => {
    const plain = agent({ name: "plain", model: "scripted/m" });
    const { venturi, model } = await open([["Hello Ada"], ["You are Ada"]], { agents: [plain] });
    const chat = venturi.session(plain, "ada");
    await chat.run("I am Ada");
    await chat.run("Who am I?");
    expect(JSON.stringify(model.requests[1]?.messages)).to.contain("I am Ada").and.to.contain("Hello Ada");
    expect((await chat.messages()).map(({ role }) => role)).to.deep.equal(["user", "assistant", "user", "assistant"]);
    expect(await collect(chat.runs())).to.have.length(2);
  });

  it("agents of one name with other tools in one program are a mistake; tools of one name in two agents are not", async () => {
    const one = tool({ name: "same", description: "", input: z.object({}), call: () => "one" });
    const two = tool({ name: "same", description: "", input: z.object({}), call: () => "two" });
    const a = agent({ name: "a", model: "scripted/m", tools: [one] });
    const b = agent({ name: "b", model: "scripted/m", tools: [two] });
    const { venturi } = await open([[say.call(0, "same", {})], ["x"], [say.call(0, "same", {})], ["x"]], {
      agents: [a, b],
    });
    const outputs: unknown[] = [];
    for (const each of [a, b]) {
      const run = await venturi.start<AgentSpec>(each, "go");
      for await (const event of run) if (event.type === "tool.finished") outputs.push(event.output);
    }
    expect(outputs).to.deep.equal(["one", "two"]);
  });
});
