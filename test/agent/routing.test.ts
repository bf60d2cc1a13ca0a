import { expect } from "chai";
import { Breakers } from "../../src/agent/run/breaker.ts";
import type { MemberSettings, Routing } from "../../src/agent/run/definition.ts";
import { Members } from "../../src/agent/run/members.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { type Generation, ScriptedModel, say } from "../../src/testing/model.ts";
import { Bench, type Setup } from "./harness.ts";

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

/** A chain of p0/m, p1/m …, one script each. */
function chainOf(
  scripts: readonly (readonly Generation[])[],
  routing: Partial<Routing>,
  settings: MemberSettings[] = [],
) {
  const clock = new VirtualClock();
  const models = scripts.map((script) => new ScriptedModel(script, { clock }));
  const targets = models.map((port, n) => ({
    name: `p${n}/m`,
    provider: `p${n}`,
    model: "m",
    port,
    ...(settings[n] === undefined ? {} : { member: settings[n] }),
  }));
  const chain = { targets, routing: { choose: "order" as const, sticky: true, ...routing } };
  const shared = { model: models, chain, clock, members: new Members(clock), breakers: new Breakers(clock) };
  const bench = (more: Partial<Setup> = {}) => new Bench({ ...shared, ...more });
  return { clock, models, bench };
}

const started = (bench: Bench) =>
  bench.of("round.started").map(({ model, reason }) => (reason === undefined ? model : `${model}: ${reason}`));

describe("the choice of a model", () => {
  it("follows the chain's order, without a reason, by default", async () => {
    const { bench } = chainOf([[["one"]], [["two"]]], {});
    expect(started(await bench().run())).to.deep.equal(["p0/m"]);
  });

  it("by weight gives each its share of the sessions, and a session the same model from everyone", async () => {
    const { bench } = chainOf(times(2, times(800, ["ok"])), { choose: "weighted" }, [{ weight: 3 }, { weight: 1 }]);
    const chosen: string[] = [];
    for (let n = 0; n < 400; n++) {
      const session = { session: `s${n}` };
      const [first] = (await bench({ request: session }).run()).of("round.started");
      const [again] = (await bench({ request: session, run: `other-${n}` }).run()).of("round.started");
      expect(again?.model).to.equal(first?.model);
      chosen.push(first?.model ?? "");
    }
    expect(chosen.filter((model) => model === "p0/m").length).to.be.within(270, 330);
  });

  it("prefers the one that is cheapest, and one with a price to one without", async () => {
    const prices = new Map([
      ["p1/m", { input: 3, output: 15 }],
      ["p2/m", { input: 1, output: 5 }],
    ]);
    const { bench } = chainOf(times(3, [["ok"]]), { choose: "cheapest" });
    const done = await bench({ priceOf: (name) => prices.get(name) }).run();
    expect(started(done)).to.deep.equal(["p2/m: cheapest: $0.008 for 3,000 tokens in and 1,000 out"]);
  });

  it("prefers the one that was fastest lately, and tries the others one generation at a time", async () => {
    const slow: Generation = [say.wait(900), "slow"];
    const quick: Generation = [say.wait(100), "quick"];
    const { bench, clock } = chainOf([times(9, slow), times(9, quick)], { choose: "fastest" });
    const run = async () => {
      const running = bench().run();
      await clock.advance(1_000);
      return started(await running)[0];
    };
    expect(await run()).to.equal("p0/m: fastest: not measured lately");
    expect(await run()).to.equal("p1/m: fastest: not measured lately");
    expect(await run()).to.equal("p1/m: fastest: first token after 100 ms");
    await clock.advance(61_000);
    expect(await run()).to.equal("p0/m: fastest: not measured lately");
  });

  it("prefers the model with the fewest generations in progress", async () => {
    const { bench, clock } = chainOf(times(2, times(9, [say.wait(500), "ok"])), { choose: "leastBusy" });
    const runs = [0, 1, 2, 3].map((n) => bench({ run: `run-${n}` }).run());
    await clock.advance(500);
    const chosen = (await Promise.all(runs)).map((each) => each.of("round.started")[0]?.model);
    expect(chosen).to.deep.equal(["p0/m", "p1/m", "p0/m", "p1/m"]);
  });

  it("stays with the model that answered the conversation last, until its breaker opens", async () => {
    const { bench } = chainOf(times(2, times(9, ["ok"])), { choose: "leastBusy" });
    const done = await bench({ lastModel: "p1/m" }).run();
    expect(started(done)).to.deep.equal(["p1/m: sticky: it answered this conversation last"]);
    expect(started(await bench().run())[0]).to.match(/^p0/);
    const { bench: free } = chainOf(times(2, times(9, ["ok"])), { choose: "leastBusy", sticky: false });
    expect(started(await free({ lastModel: "p1/m" }).run())[0]).to.match(/^p0/);
  });

  it("passes over a model whose context is too small, and says so; if none is large enough, the run fails with too_large", async () => {
    const text = "word ".repeat(2_000);
    const { bench, models } = chainOf(times(2, [["ok"]]), {}, [{ contextTokens: 1_000 }, { contextTokens: 9_000 }]);
    const done = await bench({ request: { input: { text } } }).run();
    expect(done.terminal).to.include({ output: "ok" });
    expect(started(done)[0]).to.match(
      /^p1\/m: p0\/m takes 1000 tokens with its answer .* the request has about 25\d\d$/,
    );
    expect(models[0]?.requests).to.have.length(0);
    const { bench: small } = chainOf(times(2, [["ok"]]), {}, times(2, { contextTokens: 1_000 }));
    const failed = (await small({ request: { input: { text } } }).run()).terminal;
    expect(failed).to.have.nested.property("error.code", "too_large");
  });

  it("goes to a member with room, and waits for one when all are full", async () => {
    const one = { concurrency: 1 };
    const { bench, clock, models } = chainOf(times(2, times(9, [say.wait(500), "ok"])), {}, [one, one]);
    const runs = [0, 1, 2].map((n) => bench({ run: `run-${n}` }).run());
    await clock.advance(499);
    expect(models.map(({ requests }) => requests.length)).to.deep.equal([1, 1]);
    await clock.advance(2_000);
    const done = await Promise.all(runs);
    expect(done.map(started)).to.deep.equal([["p0/m"], ["p1/m: p0/m has as much under way as it may"], ["p0/m"]]);
    expect(done.map(({ terminal }) => terminal.type)).to.deep.equal(times(3, "run.finished"));
  });

  it("keeps a member's tokens per minute, and gives up a wait that is too long", async () => {
    const used: Generation = ["ok", say.usage({ inputTokens: 900, outputTokens: 50 }), say.done()];
    const { bench, clock, models } = chainOf([times(9, used)], {}, [{ tokensPerMinute: 950 }]);
    await bench().run();
    const second = bench({ run: "run-2" }).run();
    await clock.advance(59_000);
    expect(models[0]?.requests).to.have.length(1);
    await clock.advance(1_500);
    expect((await second).terminal.type).to.equal("run.finished");
    const third = bench({
      run: "run-3",
      chain: { ...bench().setup.chain, retry: { max: 0, longestWait: 5_000 } },
    }).run();
    await clock.advance(6_000);
    expect((await third).terminal).to.have.nested.property("error.code", "rate_limited");
    expect((await third).terminal).to.have.nested.property("error.op", "agent.run: provider.stream");
  });
});

describe("a hedge", () => {
  const hedged = { hedgeAfter: 2_000 };
  const priceOf = () => ({ input: 1_000_000, output: 1_000_000 });

  it("asks nobody else while the first answers in time", async () => {
    const { bench, clock, models } = chainOf([[[say.wait(1_900), "ok"]], [["never"]]], hedged);
    const running = bench().run();
    await clock.advance(5_000);
    expect((await running).terminal).to.include({ output: "ok" });
    expect(models[1]?.requests).to.have.length(0);
  });

  it("goes on with the second model when the first is silent, cancels the first, and counts its cost", async () => {
    let cancelled = false;
    const silent = say.until(
      (signal) =>
        new Promise((resolve) =>
          signal.addEventListener("abort", () => {
            cancelled = true;
            resolve(undefined);
          }),
        ),
    );
    const usage = { inputTokens: 7, outputTokens: 3 };
    const { bench, clock } = chainOf([[[silent]], [["from ", "two", say.usage(usage), say.done()]]], hedged);
    const running = bench({ priceOf }).run();
    await clock.advance(2_000);
    const done = await running;
    expect(done.terminal).to.include({ output: "from two" });
    expect(cancelled).to.equal(true);
    expect(started(done)).to.deep.equal([
      "p0/m",
      "p1/m: hedge: p0/m was silent for 2000 ms, and this one answered first",
    ]);
    const [finished] = done.of("generation.finished");
    expect(finished).to.deep.include({ attempt: 2, usage, cost: 10 });
    const input = finished?.hedged?.usage?.inputTokens ?? 0;
    expect(input).to.be.greaterThan(0);
    expect(finished?.hedged).to.deep.equal({
      model: "p0/m",
      attempt: 1,
      usage: { inputTokens: input, outputTokens: 0, source: "estimated" },
      cost: input,
    });
    expect(done.terminal).to.include({ cost: 10 + input });
    expect(done.types).not.to.include("generation.failed");
  });

  it("stays with the first model when that answers first after all, and counts what the second cost", async () => {
    const { bench, clock, models } = chainOf([[[say.wait(3_000), "one"]], [[say.wait(3_000), "two"]]], hedged);
    const running = bench({ priceOf }).run();
    await clock.advance(3_000);
    const done = await running;
    expect(models[1]?.requests).to.have.length(1);
    expect(done.terminal).to.include({ output: "one" });
    expect(started(done)).to.deep.equal(["p0/m"]);
    expect(done.of("generation.finished")[0]?.hedged).to.include({ model: "p1/m", attempt: 2 });
  });

  it("uses the other model when one fails, and fails over when both do", async () => {
    const first = chainOf([[[say.wait(3_000), say.fail("unavailable")]], [[say.wait(3_000), "two"]]], hedged);
    const one = first.bench().run();
    await first.clock.advance(6_000);
    expect((await one).terminal).to.include({ output: "two" });
    expect((await one).of("generation.finished")[0]?.hedged).to.have.nested.property("error.code", "unavailable");

    const second = chainOf([[[say.wait(4_000), "one"]], [[say.fail("unavailable")]]], hedged);
    const two = second.bench().run();
    await second.clock.advance(6_000);
    expect((await two).terminal).to.include({ output: "one" });

    const both = chainOf(
      [[[say.wait(3_000), say.fail("unavailable")]], [[say.fail("unavailable")], ["again"]], [["three"]]],
      hedged,
    );
    const three = both.bench().run();
    await both.clock.advance(9_000);
    expect((await three).terminal).to.include({ output: "again" });
    expect((await three).of("generation.failed").map(({ model }) => model)).to.deep.equal(["p0/m"]);
  });

  it("asks no second model while budgets have no room for both", async () => {
    const { bench, clock, models } = chainOf([[[say.wait(5_000), "one"]], [["two"]]], hedged);
    const asked: (string | undefined)[] = [];
    const meter = {
      unsettled: false,
      reserve: async ({ beside }: { beside?: { model: string } }) => {
        asked.push(beside?.model);
        return beside === undefined
          ? { decision: "go" as const, notices: [] }
          : { decision: "refuse" as const, notices: [], budget: "b", message: "no room" };
      },
      used: () => {},
    };
    const running = bench({ meter }).run();
    await clock.advance(6_000);
    expect((await running).terminal).to.include({ output: "one" });
    expect(models[1]?.requests).to.have.length(0);
    expect(asked).to.deep.equal([undefined, "p0/m", undefined]);
  });

  it("ends with the run that is cancelled while both are silent", async () => {
    const { bench, clock } = chainOf([[[say.silence()]], [[say.silence()]]], hedged);
    const one = bench();
    const running = one.run();
    await clock.advance(3_000);
    one.signal("cancel", {});
    await running;
    expect(one.terminal).to.have.nested.property("error.code", "stream_interrupted");
  });
});
