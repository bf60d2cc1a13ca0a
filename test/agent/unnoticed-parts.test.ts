// Small changes of the agent's parts that no other test noticed: each was found by `npm run mutate`.
import { expect } from "chai";
import { withinMember } from "../../src/agent/model/route.ts";
import { ContentStore } from "../../src/agent/run/content.ts";
import { askAbout, blocked } from "../../src/agent/run/guard-filter.ts";
import { judgeHooks } from "../../src/agent/run/judge-hooks.ts";
import type { MemberLimits } from "../../src/agent/run/members.ts";
import { Members } from "../../src/agent/run/members.ts";
import { faultOf } from "../../src/agent/schema/json-schema.ts";
import { patternOf } from "../../src/agent/schema/pattern.ts";
import { toolError } from "../../src/agent/tools/outcome.ts";
import { readSkillTool } from "../../src/agent/tools/read-skill.ts";
import type { VenturiError } from "../../src/core/errors/errors.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { type Generation, ScriptedModel, say } from "../../src/testing/model.ts";
import { Bench, run, tool } from "./harness.ts";

/** Patterns are kept, so each test has its own. */
let made = 0;
const unique = () => `u${"x".repeat(made++)}`;

describe("a pattern", () => {
  it("holds what stands ahead of it, wanted and not wanted", () => {
    const id = unique();
    const pattern = patternOf(`^(?=.*\\d)(?!.*\\.\\.)${id}`);
    expect([`${id}1`, id, `${id}1..`].map((text) => pattern.test(text))).to.deep.equal([true, false, false]);
    expect(patternOf(`^${unique()}`).test("x")).to.equal(false);
  });

  it("reads scripts and categories by each of their names", () => {
    for (const name of ["L", "Letter", "gc=L", "General_Category=Letter"]) {
      const pattern = patternOf(`^\\p{${name}}(?:${unique()})?$`);
      expect([pattern.test("é"), pattern.test("1")], name).to.deep.equal([true, false]);
    }
    expect(patternOf(`^\\p{Script=Greek}(?:${unique()})?$`).test("λ")).to.equal(true);
    expect(patternOf(`^\\P{Lu}(?:${unique()})?$`).test("A")).to.equal(false);
  });
});

describe("seats at a model", () => {
  const limits: MemberLimits = { concurrency: 1, tokensPerMinute: undefined };

  it("are not given to one who went away while waiting", () => {
    const member = new Members(new VirtualClock()).of("m");
    const admitted: string[] = [];
    const seat = member.take(0);
    const leave = member.wait(limits, 0, () => admitted.push("gone"));
    member.wait(limits, 0, () => admitted.push("stays"));
    leave();
    seat.leave(0);
    expect(admitted).to.deep.equal(["stays"]);
  });

  it("are counted for ten thousand models, and for no more", () => {
    const members = new Members(new VirtualClock());
    const first = members.of("m0");
    for (let index = 1; index < 10_000; index++) members.of(`m${index}`);
    expect(members.of("m0")).to.equal(first);
    expect(members.of("m9999")).to.equal(members.of("m9999"));
    expect(members.of("one more")).not.to.equal(members.of("one more"));
  });
});

describe("the fastest of models", () => {
  it("that was not measured lately is tried by one run at a time", async () => {
    const clock = new VirtualClock();
    const slow = (): Generation => [say.wait(500), "ok"];
    const models = [new ScriptedModel([slow(), slow()], { clock }), new ScriptedModel([slow(), slow()], { clock })];
    const targets = models.map((port, n) => ({ name: `p${n}/m`, provider: `p${n}`, model: "m", port }));
    const chain = { targets, routing: { choose: "fastest" as const, sticky: false } };
    const members = new Members(clock);
    const running = [1, 2].map(() => new Bench({ model: models, chain, clock, members }).run());
    await clock.advance(1_000);
    await Promise.all(running);
    expect(models.map(({ requests }) => requests.length)).to.deep.equal([1, 1]);
  });
});

describe("a model that asks to wait", () => {
  it("longer than is allowed is not asked again, neither at once nor after the others", async () => {
    for (const [retryAfterMs, longestWait] of [
      [5_000, 4_000],
      [6_000, 5_500],
    ] as const) {
      const clock = new VirtualClock();
      const script = () => [[say.fail("rate_limited", "wait", { retryAfterMs })], ["late"]];
      const models = [new ScriptedModel(script(), { clock }), new ScriptedModel(script(), { clock })];
      const bench = new Bench({ model: models, chain: { retry: { max: 1, longestWait } }, clock });
      const running = bench.run();
      await clock.advance(20_000);
      await running;
      expect(bench.terminal.type).to.equal("run.failed");
      expect(models.map(({ requests }) => requests.length)).to.deep.equal([1, 1]);
    }
  });
});

describe("two models that ask to wait", () => {
  it("are waited for no longer than the one that is ready first", async () => {
    const clock = new VirtualClock();
    const script = (retryAfterMs: number) => [[say.fail("rate_limited", "wait", { retryAfterMs })], ["late"]];
    const models = [20_000, 10_000].map((wait) => new ScriptedModel(script(wait), { clock }));
    const bench = new Bench({ model: models, chain: { retry: { max: 1, longestWait: 60_000 } }, clock });
    const running = bench.run();
    await clock.advance(18_000);
    await running;
    expect(bench.terminal).to.include({ type: "run.finished", output: "late" });
    expect(models.map(({ requests }) => requests.length)).to.deep.equal([1, 2]);
  });
});

describe("a hook behind a tool", () => {
  const answered = async (ok: boolean, change: object) => {
    const bench = await run({
      model: new ScriptedModel([[say.call(0, "look", {})], ["done"]]),
      tools: [
        tool("look", () => {
          if (!ok) throw new Error("it broke");
          return "seen";
        }),
      ],
      agent: { hooks: [{ afterTool: (_, result) => ({ ...result, ...change }) }] },
    });
    return bench.of("tool.finished")[0];
  };

  it("may turn a failure into a success, and only then is there no error", async () => {
    expect(await answered(false, {})).to.deep.include({ ok: false });
    expect((await answered(false, {}))?.error?.err).to.contain("it broke");
    const mended = await answered(false, { ok: true, output: "mended" });
    expect(mended).to.include({ ok: true, output: "mended" });
    expect(mended).not.to.have.property("error");
    expect((await answered(false, { output: "***" }))?.error?.err).to.contain("***");
  });
});

describe("a tool that asked", () => {
  it("has only the rest of its time once it has the answer", async () => {
    const clock = new VirtualClock();
    const bench = new Bench({
      model: new ScriptedModel([[say.call(0, "ask", {})], ["done"]], { clock }),
      tools: [
        tool(
          "ask",
          async (_, { ask }) => {
            await ask({ id: "q", name: "ask", arguments: {}, reason: "may I" });
            return await new Promise<never>(() => {});
          },
          { timeout: 1_000 },
        ),
      ],
      clock,
    });
    const running = bench.run();
    await clock.advance(5_000);
    expect(bench.of("tool.finished")).to.deep.equal([]);
    const [asked] = bench.of("approval.requested");
    bench.signal("approve", { call: asked?.call ?? "", approved: true });
    await clock.advance(1_100);
    await running;
    expect(bench.of("tool.finished")[0]?.error?.code).to.equal("tool_timeout");
  });
});

describe("the judge of results", () => {
  it("is asked about each text but an empty one", async () => {
    const judged: string[] = [];
    const guard = {
      name: "g",
      actions: { results: "block" },
      guard: {
        judge: async (text: string) => {
          judged.push(text);
          return { ok: true };
        },
      },
    };
    const hooks = judgeHooks(guard as never);
    const context = { run: "r", depth: 0, signal: new AbortController().signal, decided: () => {} };
    for (const output of ["", "seen"])
      await hooks.afterTool?.({ call: "c" } as never, { ok: true, output }, context as never);
    expect(judged).to.deep.equal(["seen"]);
  });

  it("names its operation when it refuses", () => {
    expect(blocked("g", "results", "no")).to.include({ op: "guard.check", code: "content_blocked" });
  });
});

describe("a person who is asked about a text", () => {
  it("refuses it with the guard, the direction and the reason", async () => {
    const asked = async (approved: boolean) => {
      const context = { decided: () => {}, ask: async () => ({ approved, reason: "no" }) };
      const about = { guard: { name: "g", guard: {}, actions: {} }, direction: "results" };
      await askAbout(context as never, about as never, { text: "t", found: new Map() });
    };
    await asked(true);
    const thrown = await asked(false).catch((error: unknown) => error);
    expect(thrown).to.deep.include({
      op: "guard.ask",
      code: "content_blocked",
      details: { guard: "g", direction: "results" },
    });
    expect(String(thrown)).to.contain("no");
  });
});

describe("an answer at a model with a small context", () => {
  it("is cut to the room that the request leaves, and only then", () => {
    const request = (maxTokens?: number) => ({ options: maxTokens === undefined ? {} : { maxTokens } }) as never;
    const target = { member: { contextTokens: 100 } } as never;
    expect(withinMember(request(50), target, 60)).to.deep.equal({ options: { maxTokens: 40 } });
    for (const same of [request(40), request(10), request()]) expect(withinMember(same, target, 60)).to.equal(same);
    const open = request(1_000);
    expect(withinMember(open, {} as never, 60)).to.equal(open);
  });
});

describe("what a tool threw", () => {
  it("is reported with the short code behind it", () => {
    const failed = (code: unknown) =>
      toolError(
        tool("t", () => ""),
        new Error("fetch failed", { cause: { code } }),
      ).message;
    expect(failed("ECONNREFUSED")).to.equal("t: fetch failed (ECONNREFUSED)");
    for (const code of ["x".repeat(65), 7, undefined]) expect(failed(code)).to.equal("t: fetch failed");
    expect(failed("x".repeat(64))).to.contain("(x");
  });
});

describe("a schema with a fault in it", () => {
  it("names the place", () => {
    const schema = { type: "object", properties: { a: { anyOf: [{ type: "string" }, { pattern: "(" }] } } };
    expect(faultOf(schema)?.path).to.deep.equal(["properties", "a", "anyOf", 1]);
    expect(faultOf({ type: "object" })).to.equal(undefined);
    expect(() => patternOf(`(?<n>a)\\k<n>${unique()}`)).to.throw("backreferences");
  });
});

describe("a large result", () => {
  it("stays where it is in a journal without a place for large content", async () => {
    const text = "x".repeat(2 ** 20);
    expect(await new ContentStore(undefined).keepOutput("r", text)).to.equal(undefined);
  });
});

describe("a file of a skill", () => {
  const skill = { name: "s", hash: "h", files: new Map([["a.md", { text: "hello", size: 5 }]]) };
  const read = (path: string): unknown => {
    try {
      return readSkillTool([skill as never], []).call({ name: "s", path }, {
        skills: [{ name: "s", hash: "h" }],
      } as never);
    } catch (thrown) {
      return [(thrown as VenturiError).op, (thrown as VenturiError).code];
    }
  };

  it("is read by a plain path, and refused by any other as a call that is denied", () => {
    expect(read("./a.md")).to.contain("hello");
    for (const path of [
      "../a.md",
      "/a.md",
      "~/a.md",
      "c:a.md",
      "a\\b.md",
      "x/../../a.md",
      `${"a/".repeat(3_000)}a.md`,
      "a\n.md",
    ])
      expect(read(path), path).to.deep.equal(["tool.call", "tool_denied"]);
    expect(read("b.md")).to.deep.equal(["tool.call", "not_found"]);
  });
});
