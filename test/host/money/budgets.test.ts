import { expect } from "chai";
import { type Log, silentLog } from "../../../src/core/ports/log.ts";
import { ProviderRegistry } from "../../../src/core/ports/registries.ts";
import { noTelemetry } from "../../../src/core/ports/telemetry.ts";
import type { RunEvent } from "../../../src/core/run/events.ts";
import { provide } from "../../../src/core/values/token.ts";
import { loadConfig } from "../../../src/host/config/load.ts";
import { type Host, openHost } from "../../../src/host/open.ts";
import { createTelemetry, defaultSettings } from "../../../src/telemetry/index.ts";
import { ScriptedModel, say } from "../../../src/testing/model.ts";
import { testFolder } from "../folder.ts";

const usage = { inputTokens: 1_000, outputTokens: 100 };
const config = (budgets: string) => `
providers: { demo: { type: simulator, pace: 0 } }
models:
  main: { chain: [demo/large], economy: demo/small, options: { maxTokens: 100 } }
agents: { a: { model: main }, b: { model: main, limits: { onLimit: error } } }
prices: { demo/large: { input: 100, output: 1000 }, demo/small: { input: 1, output: 10 } }
journal: { type: memory }
channels: {}
budgets: ${budgets}
`;

describe("a budget", () => {
  const folder = testFolder();
  let host: Host | undefined;
  afterEach(() => host?.close());
  const open = async (budgets: string, generations = 20) => {
    const model = new ScriptedModel(Array.from({ length: generations }, () => ["ok", say.usage(usage), say.done()]));
    host = await openHost({
      configFile: folder.write({ "venturi.yaml": config(budgets) }),
      env: {},
      log: silentLog,
      telemetry: noTelemetry,
      replace: [provide(ProviderRegistry, { names: () => ["demo"], get: () => model })],
    });
    return model;
  };
  const run = async (agent: string, more: object = {}, options: object = {}): Promise<RunEvent[]> => {
    const started = await host?.runs.start({ agent, input: { text: "hi" }, ...more }, options);
    const events: RunEvent[] = [];
    for await (const batch of host?.runs.follow(started?.run ?? "") ?? []) events.push(...batch);
    return events;
  };
  const endOf = (events: readonly RunEvent[]): string => {
    const last = events.at(-1);
    if (last?.type === "run.failed") return last.error.code;
    return last?.type === "run.finished" ? last.finish : "none";
  };
  const told = (events: readonly RunEvent[]) =>
    events.flatMap((event) => (event.type === "budget.warned" || event.type === "budget.exceeded" ? [event.type] : []));
  const modelsOf = (events: readonly RunEvent[]) =>
    events.flatMap((event) => (event.type === "round.started" ? [event.model] : []));

  it("stops a run before the call that would exceed it, and reports it once", async () => {
    // A generation costs 0.2, and so much is set aside: its estimated input is smaller, its answer has a limit.
    const model = await open("{ all: { of: service, usd: 0.7, per: day } }");
    const runs = [];
    for (let index = 0; index < 6; index++) runs.push(await run("a"));
    expect(runs.map(endOf)).to.deep.equal([
      "stop",
      "stop",
      "stop",
      "budget_exceeded",
      "budget_exceeded",
      "budget_exceeded",
    ]);
    expect(model.requests).to.have.length(3);
    expect(runs.map(told)).to.deep.equal([[], [], [], ["budget.exceeded"], [], []]);
    const failed = runs[3]?.at(-1);
    expect(failed?.type === "run.failed" ? failed.error.err : "").to.match(
      /^the budget "all"\s+allows \$0\.7 per day: \$0\.6 is spent, \$0 set aside .* may take \$0\.1\d*$/,
    );
    const [exceeded] = runs[3]?.filter(({ type }) => type === "budget.exceeded") ?? [];
    expect(exceeded).to.deep.include({
      budget: "all",
      of: "service",
      per: "day",
      limit: { usd: 0.7 },
      spent: { usd: 0.6, tokens: 3_300 },
    });
  });

  it("warns at 80 per cent", async () => {
    await open("{ all: { of: service, usd: 0.75, per: month } }");
    const runs = [];
    for (let index = 0; index < 4; index++) runs.push(await run("a"));
    expect(runs.map(told)).to.deep.equal([[], [], [], ["budget.warned"]]);
  });

  it("is each user's, tenant's, agent's, session's or run's own", async () => {
    await open("{ users: { of: user, tokens: 1200, per: hour }, one: { of: agent, only: b, tokens: 300, per: run } }");
    const ada = { metadata: { user: "ada" } };
    expect([endOf(await run("a", ada)), endOf(await run("a", ada))]).to.deep.equal(["stop", "budget_exceeded"]);
    expect(endOf(await run("a", { metadata: { user: "bob" } }))).to.equal("stop");
    expect(endOf(await run("a", ada, { tenant: "other" }))).to.equal("stop");
    expect(endOf(await run("a"))).to.equal("stop");
    expect([endOf(await run("b")), endOf(await run("b"))]).to.deep.equal(["stop", "stop"]);
  });

  it("is of one tenant's user or session, also where names with a slash read like another tenant's", async () => {
    for (const [budget, named] of [
      ["of: user, tokens: 1200, per: hour", (name: string) => ({ metadata: { user: name } })],
      ["of: session, tokens: 1200, per: day", (name: string) => ({ session: name })],
      ["of: agent, tokens: 1200, per: session", (name: string) => ({ session: name })],
    ] as const) {
      await open(`{ each: { ${budget} } }`);
      const ends = [
        endOf(await run("a", named("x/ada"), { tenant: "acme" })),
        endOf(await run("a", named("ada"), { tenant: "acme/x" })),
        endOf(await run("a", named("ada"), { tenant: "acme/x" })),
      ];
      expect(ends, budget).to.deep.equal(["stop", "stop", "budget_exceeded"]);
      await host?.close();
    }
  });

  it("is of the key, the tenant, the session, and the subject of a token whatever the request says", async () => {
    type Start = readonly [more: object, options: object];
    const user = (name: string, subject: string): Start => [
      { metadata: { user: name } },
      { caller: { id: `jwt:${subject}` } },
    ];
    const key = (id: string): Start => [{}, { caller: { id } }];
    const tenant = (name: string): Start => [{}, { tenant: name }];
    const session = (name: string): Start => [{ session: name }, {}];
    // The second is the same one's as the first, the third another's.
    const cases: readonly [of: string, per: string, starts: readonly [Start, Start, Start]][] = [
      ["key", "month", [key("k1"), key("k1"), key("k2")]],
      ["tenant", "month", [tenant("t1"), tenant("t1"), tenant("t2")]],
      ["session", "month", [session("s1"), session("s1"), session("s2")]],
      ["tenant", "session", [session("s1"), session("s1"), session("s2")]],
      ["user", "month", [user("x", "ada"), user("y", "ada"), user("x", "bob")]],
    ];
    for (const [of, per, starts] of cases) {
      await open(`{ one: { of: ${of}, tokens: 1200, per: ${per} } }`);
      const ends: string[] = [];
      for (const [more, options] of starts) ends.push(endOf(await run("a", more, options)));
      expect(ends, of).to.deep.equal(["stop", "budget_exceeded", "stop"]);
      await host?.close();
    }
  });

  it("is reported at 80 and 100 per cent in the log and the metrics, once each", async () => {
    const lines: unknown[][] = [];
    const log: Log = {
      ...silentLog,
      warn: (message, fields) => lines.push([message, fields?.percent, fields?.budget, fields?.spent]),
    };
    const telemetry = await createTelemetry(defaultSettings, { log: silentLog });
    const answers = Array.from({ length: 9 }, () => ["ok", say.usage(usage), say.done()]);
    const model = new ScriptedModel(answers);
    host = await openHost({
      configFile: folder.write({ "venturi.yaml": config("{ all: { of: service, usd: 0.75, per: month } }") }),
      env: {},
      log,
      telemetry,
      replace: [provide(ProviderRegistry, { names: () => ["demo"], get: () => model })],
    });
    for (let index = 0; index < 6; index++) await run("a");
    expect(lines.filter(([message]) => String(message).startsWith("budget"))).to.deep.equal([
      ["budget nearly used up", 80, "all", { usd: 0.6, tokens: 3_300 }],
      ["budget used up", 100, "all", { usd: 0.8, tokens: 4_400 }],
    ]);
    const counted = [...(await telemetry.metrics()).matchAll(/^venturi_budget_reached_total\{(.*)\} (\d+)$/gm)];
    expect(counted.map(([, labels, count]) => [/percent="(\d+)"/.exec(labels ?? "")?.[1], count]).sort()).to.deep.equal(
      [
        ["100", "1"],
        ["80", "1"],
      ],
    );
  });

  it("finishes the run with what it has when it says so, whatever the agent's onLimit", async () => {
    await open("{ all: { of: service, tokens: 1200, per: day, onExceed: finish } }");
    expect([endOf(await run("b")), endOf(await run("b"))]).to.deep.equal(["stop", "budget"]);
  });

  it("continues with the economy model if configured, and is still counted", async () => {
    await open(
      "{ soft: { of: service, usd: 0.35, per: day, onExceed: cheaper }, hard: { of: service, usd: 0.405, per: month } }",
    );
    const runs = [];
    for (let index = 0; index < 5; index++) runs.push(await run("a"));
    expect(runs.map((events) => modelsOf(events).at(-1))).to.deep.equal([
      "demo/large",
      "demo/large",
      "demo/small",
      "demo/small",
      undefined,
    ]);
    expect(runs.map(endOf)).to.deep.equal(["stop", "stop", "stop", "stop", "budget_exceeded"]);
  });

  it("reserves what running generations may cost: only as many start as there is room for", async () => {
    const model = await open("{ all: { of: service, tokens: 420, per: day } }");
    const runs = await Promise.all(Array.from({ length: 8 }, () => run("a")));
    // Each sets some 102 tokens aside, and then uses 1,100: the estimate is what is bounded, by one generation per run.
    expect(runs.map(endOf).filter((end) => end === "stop").length).to.be.within(1, 4);
    expect(model.requests.length).to.be.at.most(4);
  });

  it("holds what a second try may take while it runs, although the first has just been settled", async () => {
    const seen = Promise.withResolvers<void>();
    const model = new ScriptedModel([
      [say.usage({ inputTokens: 7, outputTokens: 0 }), say.fail("unavailable")],
      [say.until(() => seen.promise), "ok", say.usage(usage), say.done()],
    ]);
    const text = config("{ all: { of: service, tokens: 100000, per: month } }");
    const chain = "chain: [demo/large, demo/small], retry: { max: 0 }";
    host = await openHost({
      configFile: folder.write({ "venturi.yaml": text.replace("chain: [demo/large]", chain) }),
      env: {},
      log: silentLog,
      telemetry: noTelemetry,
      replace: [provide(ProviderRegistry, { names: () => ["demo"], get: () => model })],
    });
    const balance = async () => {
      const account = JSON.stringify(["all", "", new Date().toISOString().slice(0, 7)]);
      const [found] = (await host?.journal.balances?.([account])) ?? [];
      return [found?.spent.tokens, (found?.held.tokens ?? 0) > 0];
    };
    const running = run("a");
    while (model.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    while ((await balance())[0] !== 7) await new Promise((resolve) => setTimeout(resolve, 1));
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
    expect(await balance()).to.deep.equal([7, true]);
    seen.resolve();
    expect(endOf(await running)).to.equal("stop");
    expect(await balance()).to.deep.equal([1_107, false]);
  });

  it("in USD refuses a model whose price is not known", async () => {
    await open("{ all: { of: service, usd: 1, per: day } }");
    expect(endOf(await run("a"))).to.equal("stop");
    await host?.close();
    const text = config("{ all: { of: service, usd: 1, per: day } }").replace(/^prices.*$/m, "");
    host = await openHost({
      configFile: folder.write({ "venturi.yaml": text }),
      env: {},
      log: silentLog,
      telemetry: noTelemetry,
    });
    const events = await run("a");
    expect(endOf(events)).to.equal("budget_exceeded");
    const failed = events.at(-1);
    expect(failed?.type === "run.failed" ? failed.error.err : "").to.contain("the price of demo/large is not known");
  });

  it("that is invalid is refused with its location", async () => {
    const refusal = async (budgets: string) => {
      const file = folder.write({ "venturi.yaml": config(budgets) });
      return loadConfig({ file, env: {} }).then(
        () => "accepted",
        (thrown: Error) => thrown.message.replace(/^.*venturi\.yaml:/, ""),
      );
    };
    const one = "{ of: tenant, usd: 1, per: day }";
    expect(await refusal(`{ a: ${one}, b: { of: tenant, only: x, usd: 1, per: day } }`)).to.equal("accepted");
    expect(await refusal(`{ a: ${one}, b: ${one} }`)).to.match(
      /^9:\d+ budgets\.b: the budget "a" is of the same and per the same/,
    );
    expect(await refusal("{ a: { of: tenant, usd: -1, per: day } }")).to.equal(
      "9:34 budgets.a.usd: a budget must be more than 0",
    );
    expect(await refusal("{ a: { of: tenant, eur: 1, per: day } }")).to.match(/budgets\.a\.eur: unknown key/);
    expect(await refusal("{ a: { of: tenant, per: day } }")).to.match(
      /^9:\d+ budgets\.a: a budget needs usd or tokens/,
    );
    expect(await refusal("{ a: { of: nobody, usd: 1, per: day } }")).to.match(
      /budgets\.a\.of: expected one of service, tenant/,
    );
    // `^` is where the mistake is.
    for (const [budget, said] of [
      ["{ of: user, only: ^ada, usd: 1, per: day }", "only: write the user with its tenant, such as default/ada"],
      ["{ of: session, only: ^s, usd: 1, per: day }", "only: write the session with its tenant, such as default/s"],
      ["{ of: service, only: ^x, usd: 1, per: day }", "only: a budget of the service is of no one alone"],
      ["{ of: run, only: ^x, usd: 1, per: run }", "only: a budget of runs is of no one alone"],
      ["{ of: agent, only: ^bb, usd: 1, per: day }", 'only: there is no agent "bb"'],
      ["{ of: agent, only: b, tokens: ^0, per: day }", "tokens: a budget must be more than 0"],
      ["{ of: agent, only: b, tokens: ^1.5, per: day }", "tokens: "],
      ["{ of: tenant, usd: ^1 EUR, per: day }", "usd: expected"],
      ["{ of: tenant, usd: ^.nan, per: day }", "usd: "],
      ["{ of: tenant, usd: 1, per: ^week }", "per: expected one of run, session, minute"],
      ["{ of: tenant, usd: 1, per: day, onExceed: ^stop }", "onExceed: expected one of refuse"],
    ] as const) {
      const written = `{ a: ${budget} }`;
      const column = "budgets: ".length + written.indexOf("^") + 1;
      expect(await refusal(written.replace("^", "")), budget).to.satisfy((answer: string) =>
        answer.startsWith(`9:${column} budgets.a.${said}`),
      );
    }
    const saved = "{ a: { of: tenant, usd: 1, per: day, onExceed: cheaper } }";
    expect(await refusal(saved)).to.equal("accepted");
    const dear = folder.write({ "venturi.yaml": config(saved).replace("economy: demo/small, ", "") });
    expect(await loadConfig({ file: dear, env: {} }).catch((thrown: Error) => thrown.message)).to.match(
      /:9:\d+ budgets\.a\.onExceed: no entry of models has an `economy` to go on with$/,
    );
    const wrong = folder.write({ "venturi.yaml": config("{}").replace("economy: demo/small", "economy: none/small") });
    const said = await loadConfig({ file: wrong, env: {} }).catch((thrown: Error) => thrown.message);
    expect(said).to.match(/:4:\d+ models\.main\.economy: "none" is not among the providers/);
  });
});
