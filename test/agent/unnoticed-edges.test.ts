// Small changes at the edges of the agent's parts that no other test noticed: each was found by `npm run mutate`.
import { expect } from "chai";
import { partAcross } from "../../src/agent/model/across-wires.ts";
import { foldResults } from "../../src/agent/model/fold-results.ts";
import { isUnusual } from "../../src/agent/run/blame.ts";
import { Breakers } from "../../src/agent/run/breaker.ts";
import { HookChain } from "../../src/agent/run/hook-chain.ts";
import { Waits } from "../../src/agent/run/waits.ts";
import type { Checking } from "../../src/agent/schema/check.ts";
import { canonical, equal } from "../../src/agent/schema/equal.ts";
import { patternOf } from "../../src/agent/schema/pattern.ts";
import { innerSchemas, References } from "../../src/agent/schema/references.ts";
import { compileCondition } from "../../src/agent/tools/condition.ts";
import { mayHave } from "../../src/agent/tools/reachable.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Message } from "../../src/core/model/messages.ts";
import type { PastStall } from "../../src/core/ports/stalls.ts";
import type { EventBody } from "../../src/core/run/events.ts";
import type { RunRequest } from "../../src/core/run/run-request.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { failing } from "./failing.ts";
import { Bench, deferred, run, tool } from "./harness.ts";

describe("a file by its id", () => {
  const part = (wire: string, data: object) => ({ type: "opaque" as const, wire, data }) as never;
  const ofChat = part("openai-chat", { type: "file", file: { file_id: "f" } });
  const ofResponses = part("openai-responses", { type: "input_file", file_id: "f" });

  it("goes from one of OpenAI's wires to the other, and to no third", () => {
    expect(partAcross(ofChat, "openai-responses")).to.deep.equal(ofResponses);
    expect(partAcross(ofResponses, "openai-chat")).to.deep.equal(ofChat);
    for (const to of ["anthropic-messages", undefined]) {
      expect([partAcross(ofChat, to), partAcross(ofResponses, to)]).to.deep.equal([undefined, undefined]);
    }
    const foreign = [part("gemini", { type: "input_file", file_id: "f" }), part("gemini", { type: "file", file: {} })];
    for (const one of foreign)
      for (const to of ["openai-chat", "openai-responses"]) expect(partAcross(one, to)).to.equal(undefined);
    expect(partAcross(part("openai-responses", { type: "input_file" }), "openai-chat")).to.equal(undefined);
    expect(partAcross(part("openai-responses", { type: "image", file_id: "f" }), "openai-chat")).to.equal(undefined);
  });
});

describe("folded results", () => {
  const said = (role: "user" | "assistant"): Message => ({ role, parts: [{ type: "text", text: "x" }] });
  const result = (call: string): Message =>
    ({ role: "tool", parts: [{ type: "tool_result", call, output: "r".repeat(500) }] }) as never;

  it("are those before the newest rounds that had any, however much was said since", () => {
    const messages = [said("user"), result("a"), result("b"), said("assistant"), result("c"), said("assistant")];
    const talk = [said("user"), said("assistant"), said("user")];
    for (const more of [[], talk]) {
      expect(foldResults([...messages, ...more], 2).calls).to.deep.equal([]);
      expect(foldResults([...messages, ...more], 1).calls).to.deep.equal(["a", "b"]);
      expect(foldResults([...messages, ...more], 0).calls).to.deep.equal(["a", "b", "c"]);
    }
    expect(foldResults([result("a"), said("user")], 1).calls).to.deep.equal([]);
  });
});

describe("an unusual request", () => {
  it("is one with a vendor's fields, its own or a tool's, or with a schema for the answer", () => {
    const request = (more: object) => isUnusual({ agent: "a", input: { text: "" }, ...more } as RunRequest);
    const native = { wire: "w", fields: { x: 1 } };
    expect([request({}), request({ clientTools: [{ name: "t" }] })]).to.deep.equal([false, false]);
    for (const more of [
      { native },
      { output: { schema: {} } },
      { clientTools: [{ name: "t" }, { name: "u", native }] },
    ])
      expect(request(more), JSON.stringify(more)).to.equal(true);
  });
});

describe("the breakers of two tenants", () => {
  it("count each one's failures, whoever came first", () => {
    const breakers = new Breakers(new VirtualClock());
    const target = { provider: "p0", model: "m" };
    for (let time = 0; time < 4; time++) failing(breakers, { tenant: "one", run: `${time}` });
    failing(breakers, { tenant: "two", run: "a" });
    expect(breakers.of(target as never, { tenant: "one", run: "x" }).admit()).to.equal(true);
    failing(breakers, { tenant: "one", run: "fifth" });
    expect(breakers.of(target as never, { tenant: "one", run: "y" }).admit()).to.equal(false);
    expect(breakers.of(target as never, { tenant: "two", run: "z" }).admit()).to.equal(true);
  });

  it("keep the failures of many tenants while others succeed", () => {
    const breakers = new Breakers(new VirtualClock());
    for (let time = 0; time < 4; time++) failing(breakers, { tenant: "sick", run: `${time}` });
    for (let tenant = 0; tenant < 40; tenant++) {
      const well = breakers.of({ provider: "p0", model: "m" } as never, { tenant: `t${tenant}`, run: "r" });
      well.answering(1);
      well.answering(-1);
    }
    const sick = breakers.of({ provider: "p0", model: "m" } as never, { tenant: "sick", run: "x" });
    sick.answering(1);
    sick.answering(-1);
    failing(breakers, { tenant: "sick", run: "fifth" });
    expect(sick.admit()).to.equal(false);
  });
});

describe("a hook that asks a person", () => {
  it("is not late while the person thinks, and is late afterwards", async () => {
    const clock = new VirtualClock();
    const answered = deferred<{ approved: boolean }>();
    const { signal } = new AbortController();
    let verdict: unknown;
    const hooks = new HookChain(
      [
        {
          beforeRun: async (_, context) => {
            verdict = await context.ask({ message: "may it?" } as never);
            await new Promise(() => {});
          },
        },
      ],
      { clock, fail: () => {}, ask: () => answered.promise as never },
      { run: "r", agent: "a", signal, depth: 0 } as never,
    );
    let late: VenturiError | undefined;
    const asked = hooks.beforeRun({ agent: "a", input: { text: "" } }).catch((thrown) => {
      late = thrown;
    });
    await clock.advance(3_600_000);
    expect(late).to.equal(undefined);
    answered.resolve({ approved: true });
    await clock.advance(0);
    expect(verdict).to.deep.equal({ approved: true });
    await clock.advance(3_600_000);
    await asked;
    expect(late).to.include({ code: "plugin_failed" });
  });
});

describe("what a run waits for", () => {
  it("is the wait that began last and is still open", async () => {
    const clock = new VirtualClock();
    const waits = new Waits(clock);
    expect(waits.current).to.equal(undefined);
    const ends = ["one", "two", "three"].map((name) => waits.begin("hook", name));
    await clock.advance(7);
    for (const name of ["three", "two", "one"]) {
      expect(waits.current).to.deep.equal({ part: "hook", name, ms: 7 });
      ends.pop()?.();
    }
    expect(waits.current).to.equal(undefined);
  });

  it("names who blocked the process to its own tenant, a guess as one, and says where nothing was executed", () => {
    const told = (stall: Partial<PastStall>) => {
      const past = {
        order: 1,
        part: "blocked",
        from: 0,
        ms: 300,
        culprit: undefined,
        isGuess: true,
        busy: true,
        ...stall,
      };
      const stalls = { totalMs: 300, blame: () => {}, watch: () => () => {}, since: () => [past as PastStall] };
      const body = { type: "round.finished", round: 1 } as unknown as EventBody;
      new Waits(new VirtualClock(), stalls, { tenant: "t" }).putOn(body, 0);
      return body.waited?.[0]?.name;
    };
    const culprit = { what: "the tool x", run: "r", tenant: "t" };
    expect(told({})).to.equal(undefined);
    expect(told({ busy: false })).to.equal("nothing was executed");
    expect(told({ busy: false, isGuess: false })).to.equal(undefined);
    expect(told({ culprit, isGuess: false })).to.equal("the tool x of run r");
    expect(told({ culprit, isGuess: false, busy: false })).to.equal("the tool x of run r");
    expect(told({ culprit })).to.equal("something, while the tool x of run r ran,");
    expect(told({ culprit, busy: false })).to.equal("nothing was executed, while the tool x of run r ran");
    expect(told({ culprit: { ...culprit, tenant: "u" }, isGuess: false })).to.equal("another tenant's run");
  });
});

describe("a schema", () => {
  it("pays for every value that it compares or writes down, nested ones too", () => {
    const spentBy = (work: (checking: Checking) => unknown): number => {
      let spent = 0;
      work({
        spend: (steps: number) => {
          spent += steps;
        },
      } as Checking);
      return spent;
    };
    const value = { list: [[0], [1]] };
    expect(spentBy((checking) => equal(value, structuredClone(value), checking))).to.equal(6);
    expect(spentBy((checking) => canonical(value, checking))).to.equal(6);
    expect(spentBy((checking) => canonical("x".repeat(640), checking))).to.equal(11);
  });

  it("has no pattern that refers back, by name or number", () => {
    for (const source of ["(?<a>x)\\k<a>", "\\\\\\k<a>", "(x)\\1"]) expect(() => patternOf(source), source).to.throw();
    expect(patternOf("\\\\k<a>").test("\\k<a>")).to.equal(true);
  });

  it("has lists of schemas only where it has lists, and items of both kinds", () => {
    const one = { type: "string" };
    expect(innerSchemas({ allOf: one, anyOf: one, oneOf: one, prefixItems: one })).to.deep.equal([]);
    expect(innerSchemas({ items: one })).to.deep.equal([one]);
    expect(innerSchemas({ items: [one, one], allOf: [one] })).to.deep.equal([one, one, one]);
  });

  it("of draft 7 has no id beside a reference; of a later one it has", () => {
    const $id = "https://x.test/a";
    for (const [$schema, beside] of [
      ["http://json-schema.org/draft-07/schema#", false],
      ["https://json-schema.org/draft/2020-12/schema", true],
    ] as const) {
      const root = { $schema, definitions: { a: { $ref: "#/definitions/b", $id }, b: { $id: "https://x.test/b" } } };
      const { resolve } = { resolve: (name: string) => new References(root).resolve(name, root) };
      expect(resolve("https://x.test/b")).to.equal(root.definitions.b);
      if (beside) expect(resolve($id)).to.equal(root.definitions.a);
      else expect(() => resolve($id)).to.throw();
    }
  });

  it("that is kept elsewhere may have any property", () => {
    expect(mayHave({ $ref: "https://x.test/a" }, ["b"])).to.equal(true);
    const root = { $ref: "#/$defs/a~1b", $defs: { "a/b": { properties: { c: {} } } } };
    expect([mayHave(root, ["c"]), mayHave(root, ["d"])]).to.deep.equal([true, false]);
  });
});

describe("a condition", () => {
  it("compares maps written in it by what they hold", () => {
    const holds = compileCondition("{'k': a} == {'k': 1}");
    expect([holds({ a: 1 }), holds({ a: 2 })]).to.deep.equal([true, false]);
  });
});

describe("a filter that refuses", () => {
  const refusing = (of: string) => ({
    filter: (what: string) =>
      what === of
        ? {
            push: () => {
              throw new VenturiError("hook.filter", "forbidden", "not this");
            },
            flush: () => "",
            end: async () => "",
          }
        : undefined,
  });

  it("ends the run, and no other model is asked", async () => {
    const models = [new ScriptedModel([["one"]]), new ScriptedModel([["two"]])];
    const bench = await run({ model: models, agent: { hooks: [refusing("output") as never] } });
    expect(bench.terminal).to.have.nested.property("error.code", "forbidden");
    expect(models.map(({ requests }) => requests.length)).to.deep.equal([1, 0]);
  });

  it("a tool's progress, tells none of it", async () => {
    const bench = await run({
      model: new ScriptedModel([[say.call(0, "look", {})], ["done"]]),
      tools: [
        tool("look", (_, { progress }) => {
          progress("secret");
          return "seen";
        }),
      ],
      agent: { hooks: [refusing("results") as never] },
    });
    expect(bench.terminal).to.have.nested.property("error.code", "forbidden");
    expect(bench.of("tool.output")).to.deep.equal([]);
  });
});

describe("a tool's progress", () => {
  it("is told up to a megabyte", async () => {
    const bench = await run({
      model: new ScriptedModel([[say.call(0, "look", {})], ["done"]]),
      tools: [
        tool("look", (_, { progress }) => {
          progress("a".repeat(1024 * 1024));
          progress("b");
          return "seen";
        }),
      ],
    });
    expect(bench.of("tool.output").map(({ text }) => [text[0], text.length])).to.deep.equal([["a", 1024 * 1024]]);
  });
});

describe("the hook before a generation", () => {
  it("is told the number of its round", async () => {
    const rounds: unknown[] = [];
    const hooks = [{ beforeGeneration: (_: unknown, { round }: { round?: number }) => void rounds.push(round) }];
    const model = new ScriptedModel([[say.call(0, "look", {})], [say.call(0, "look", { again: 1 })], ["done"]]);
    await run({ model, tools: [tool("look", () => "seen")], agent: { hooks: hooks as never } });
    expect(rounds).to.deep.equal([1, 2, 3]);
  });
});

describe("reasoning without text", () => {
  it("is no event", async () => {
    const deltas = (type: "text" | "reasoning", text: string) => ({ deltas: [{ type, text }] as const });
    const model = new ScriptedModel([[deltas("reasoning", ""), deltas("text", "a"), deltas("reasoning", "")]]);
    expect((await run({ model })).types.filter((type) => type.endsWith(".delta"))).to.deep.equal(["text.delta"]);
  });
});

describe("a hedge of which both fail", () => {
  it("in the middle of their answers is the failure of the first", async () => {
    const clock = new VirtualClock();
    const broken = (message: string) => {
      const error = new VenturiError("provider.stream", "unavailable", message);
      return [say.wait(3_000), { deltas: [{ type: "error" as const, error }] }, "and more"];
    };
    const models = ["one", "two"].map((name) => new ScriptedModel([broken(name), broken(name)], { clock }));
    const targets = models.map((port, n) => ({ name: `p${n}/m`, provider: `p${n}`, model: "m", port }));
    const bench = new Bench({
      model: models,
      chain: { targets, routing: { choose: "order", sticky: false, hedgeAfter: 2_000 } },
      clock,
    });
    const running = bench.run();
    await clock.advance(20_000);
    await running;
    expect(bench.terminal).to.have.nested.property("error.code", "unavailable");
    expect(bench.of("text.delta")).to.deep.equal([]);
  });
});
