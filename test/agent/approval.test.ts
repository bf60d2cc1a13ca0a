import { expect } from "chai";
import { z } from "zod";
import { compileCondition } from "../../src/agent/tools/condition.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { cpuTime } from "../cpu-time.ts";
import { Bench, deferred, run, type Setup, tool } from "./harness.ts";

const pay = (approval: "always" | "once" | "never" | { when: string }) =>
  tool("pay", (input) => `paid ${input.amount}`, { effect: "effectful", approval });
const asking = (amount = 5) => [say.call(0, "pay", { amount })];

describe("approval", () => {
  it("waits for a person's word and then runs the tool", async () => {
    const bench = new Bench({ model: new ScriptedModel([asking(), ["ok"]]), tools: [pay("always")] });
    const running = bench.run();
    const { call } = await bench.when("approval.requested");
    expect(bench.types).not.to.include("tool.started");
    bench.signal("approve", { call, approved: true, by: "ann" });
    await running;
    expect(bench.of("approval.resolved")[0]).to.include({ approved: true, by: "ann", signal: 1 });
    expect(bench.of("tool.finished")[0]).to.include({ output: "paid 5" });
  });

  it("tells the model of a denial and its reason", async () => {
    const model = new ScriptedModel([asking(), ["ok"]]);
    const bench = new Bench({ model, tools: [pay("always")] });
    const running = bench.run();
    const { call } = await bench.when("approval.requested");
    bench.signal("approve", { call, approved: false, reason: "too much" });
    await running;
    expect(bench.types).not.to.include("tool.started");
    expect(model.requests[1]?.messages.at(-1)?.parts[0]).to.include({ ok: false, output: "tool_denied: too much" });
  });

  it("tells the model of a denial also where failures end the run", async () => {
    const policy = { onError: "abort" as const };
    const bench = new Bench({ model: new ScriptedModel([asking(), ["fine"]]), tools: [pay("always")], policy });
    const running = bench.run();
    const { call } = await bench.when("approval.requested");
    bench.signal("approve", { call, approved: false });
    await running;
    expect(bench.terminal).to.include({ type: "run.finished", output: "fine" });
  });

  it("takes silence for a no when the time is over, and counts the wait as approval", async () => {
    const clock = new VirtualClock();
    const bench = new Bench({
      model: new ScriptedModel([asking(), ["ok"]], { clock }),
      tools: [pay("always")],
      policy: { approvalTimeout: 60_000 },
      clock,
    });
    const running = bench.run();
    await bench.when("approval.requested");
    await clock.advance(60_000);
    await running;
    expect(bench.of("approval.resolved")[0]).to.include({ approved: false });
    expect(bench.terminal.timing.approval).to.equal(60_000);
  });

  for (const [limit, setup, model, until] of [
    ["for approval", { policy: { approvalTimeout: 60_000 } }, [asking()], "approval.requested"],
    ["for the run", { limits: { time: 60_000 } }, [[say.silence()]], "round.started"],
  ] as const) {
    it(`a clock that was set back before the run was taken up does not lengthen the time ${limit}`, async () => {
      const hour = 3_600_000;
      const ahead = new VirtualClock(1_700_000_000_000 + hour);
      const tools = [pay("always")];
      const first = new Bench({ model: new ScriptedModel(model, { clock: ahead }), tools, clock: ahead });
      const lost = first.run();
      await first.when(until);
      const history = [...first.events];
      first.release.abort(new Error("the process is gone"));
      await lost.catch(() => {});
      const clock = new VirtualClock(1_700_000_000_000);
      const rest = until === "round.started" ? [[say.silence()]] : [["ok"]];
      const resumed = new Bench({ model: new ScriptedModel(rest, { clock }), tools, clock, history, ...setup });
      const running = resumed.run();
      await clock.advance(60_000);
      await running;
      expect(resumed.terminal.type).to.equal("run.finished");
    });
  }

  it("once asks for the first call of a tool only", async () => {
    const bench = new Bench({ model: new ScriptedModel([asking(1), asking(2), ["ok"]]), tools: [pay("once")] });
    const running = bench.run();
    const { call } = await bench.when("approval.requested");
    bench.signal("approve", { call, approved: true });
    await running;
    expect(bench.of("approval.requested")).to.have.length(1);
    expect(bench.of("tool.finished")).to.have.length(2);
  });

  it("once asks one question for the calls of one round, and again only after a no", async () => {
    const two = [say.call(0, "pay", { amount: 1 }), say.call(1, "pay", { amount: 2 })];
    const bench = new Bench({ model: new ScriptedModel([two, ["ok"]]), tools: [pay("once")] });
    bench.log.onEvent = (event) => {
      if (event.type !== "approval.requested") return;
      bench.signal("approve", { call: event.call, approved: event.call === "call-pay-1" });
    };
    await bench.run();
    expect(bench.of("approval.requested").map(({ call }) => call)).to.deep.equal(["call-pay-0", "call-pay-1"]);
    expect(bench.of("tool.finished").map(({ ok }) => ok)).to.deep.equal([false, true]);
    const allowed = new Bench({ model: new ScriptedModel([two, ["ok"]]), tools: [pay("once")] });
    const running = allowed.run();
    const { call } = await allowed.when("approval.requested");
    allowed.signal("approve", { call, approved: true });
    await running;
    expect(allowed.of("approval.requested")).to.have.length(1);
    expect(allowed.of("tool.finished")).to.have.length(2);
  });

  it("asks by a condition on the arguments", async () => {
    const bench = await run({ model: new ScriptedModel([asking(5), ["ok"]]), tools: [pay({ when: "amount > 100" })] });
    expect(bench.types).not.to.include("approval.requested");
  });

  it("gives back a run that waits for a person when the worker shuts down, without an end", async () => {
    const bench = new Bench({ model: new ScriptedModel([asking()]), tools: [pay("always")] });
    const running = bench.run();
    await bench.when("approval.requested");
    bench.interrupt.abort(new VenturiError("host.drain", "shutting_down", "stopping"));
    await running;
    expect(bench.types.at(-1)).to.equal("approval.requested");
  });

  it("judges, and shows, the arguments that the tool will get: its defaults are in place", async () => {
    const paying = (approval: { when: string }) => ({
      ...pay(approval),
      parameters: z.object({ amount: z.number().default(5_000) }),
    });
    const model = () => new ScriptedModel([[say.call(0, "pay", {})], ["ok"]]);
    const bench = new Bench({ model: model(), tools: [paying({ when: "amount > 100" })] });
    const running = bench.run();
    const { call, arguments: shown } = await bench.when("approval.requested");
    expect(shown).to.deep.equal({ amount: 5_000 });
    bench.signal("approve", { call, approved: false });
    await running;
    const free = await run({ model: model(), tools: [paying({ when: "amount > 5000" })] });
    expect(free.of("tool.finished")[0]).to.include({ output: "paid 5000" });
  });

  it("asks about a tool of code whose condition cannot be read", async () => {
    const bench = new Bench({ model: new ScriptedModel([asking(), ["ok"]]), tools: [pay({ when: "amount >" })] });
    const running = bench.run();
    const { call } = await bench.when("approval.requested");
    bench.signal("approve", { call, approved: false });
    await running;
    expect(bench.types).not.to.include("tool.started");
  });

  describe("for longer than a moment", () => {
    const clocked = (rest: Partial<Setup> = {}) => {
      const clock = new VirtualClock();
      const model = new ScriptedModel([asking(), ["ok"]], { clock });
      return { clock, bench: new Bench({ model, tools: [pay("always")], clock, parkAfter: 1_000, ...rest }) };
    };

    it("parks the run with the time it may wait, and whoever takes it up goes on with the answer", async () => {
      const { clock, bench } = clocked({ policy: { approvalTimeout: 60_000 } });
      const running = bench.run();
      const { call } = await bench.when("approval.requested");
      bench.signal("message", { text: "hello?" });
      await clock.advance(1_000);
      await running;
      expect(bench.types.at(-1)).to.equal("approval.requested");
      expect(bench.log.parks).to.deep.equal([{ seenSignals: 1, wakeAfter: 59_000 }]);
      await clock.advance(30_000);
      const later = new Bench({
        ...bench.setup,
        model: new ScriptedModel([["ok"]], { clock }),
        history: [...bench.events],
      });
      later.signal("message", { text: "hello?" });
      later.signal("approve", { call, approved: true });
      await later.run();
      expect(later.of("approval.requested")).to.have.length(1);
      expect(later.of("tool.finished")[0]).to.include({ output: "paid 5" });
      expect(later.of("message.added")).to.have.length(1);
      expect(later.terminal.timing.approval).to.equal(31_000);
    });

    it("not when the answer came before, however long the journal takes to store it", async () => {
      const { clock, bench } = clocked();
      const running = bench.run();
      const { call } = await bench.when("approval.requested");
      const stored = Promise.withResolvers<void>();
      bench.log.flush = () => (bench.types.at(-1) === "approval.resolved" ? stored.promise : Promise.resolve());
      bench.signal("approve", { call, approved: true });
      await clock.advance(2_000);
      stored.resolve();
      await running;
      expect(bench.log.parks).to.deep.equal([]);
      expect(bench.of("tool.finished")[0]).to.include({ output: "paid 5" });
    });

    it("not when the answer comes before", async () => {
      const { clock, bench } = clocked();
      const running = bench.run();
      const { call } = await bench.when("approval.requested");
      await clock.advance(900);
      bench.signal("approve", { call, approved: true });
      await running;
      await clock.advance(10_000);
      expect(bench.log.parks).to.deep.equal([]);
      expect(bench.terminal.type).to.equal("run.finished");
    });

    it("taken up when the time is over, is a no", async () => {
      const { clock, bench } = clocked({ policy: { approvalTimeout: 60_000 } });
      const running = bench.run();
      await bench.when("approval.requested");
      await clock.advance(1_000);
      await running;
      await clock.advance(59_000);
      const later = new Bench({
        ...bench.setup,
        model: new ScriptedModel([["ok"]], { clock }),
        history: [...bench.events],
      });
      const ending = later.run();
      await clock.advance(0);
      await ending;
      expect(later.of("approval.resolved")[0]).to.include({ approved: false });
    });

    it("does not wake for the run's own time, which does not pass while a person is waited for", async () => {
      const { clock, bench } = clocked({ limits: { time: 5_000 } });
      const running = bench.run();
      await bench.when("approval.requested");
      await clock.advance(1_000);
      await running;
      expect(bench.log.parks).to.deep.equal([{ seenSignals: 0, wakeAfter: 24 * 3_600_000 - 1_000 }]);
    });

    it("goes on while another tool of the round still runs", async () => {
      const work = deferred<string>();
      const { clock, bench } = clocked({
        model: new ScriptedModel([[say.call(0, "pay", { amount: 5 }), say.call(1, "slow", {})], ["ok"]]),
        tools: [pay("always"), tool("slow", () => work.promise)],
      });
      const running = bench.run();
      await bench.when("approval.requested");
      await clock.advance(5_000);
      expect(bench.log.parks).to.deep.equal([]);
      work.resolve("done");
      await bench.when("tool.finished");
      await clock.advance(1_000);
      await running;
      expect(bench.log.parks).to.have.length(1);
    });

    it("is parked at once by a shutdown", async () => {
      const { bench } = clocked();
      const running = bench.run();
      await bench.when("approval.requested");
      bench.interrupt.abort(new VenturiError("host.drain", "shutting_down", "stopping"));
      await running;
      expect(bench.log.parks).to.have.length(1);
      expect(bench.types.at(-1)).to.equal("approval.requested");
    });
  });

  it("is for one start: an approved call cut by a crash is asked about again, and an old word does not answer", async () => {
    const setup = { model: new ScriptedModel([asking(), ["ok"]]), tools: [pay("always")] };
    const first = new Bench(setup);
    const running = first.run();
    const { call } = await first.when("approval.requested");
    first.signal("approve", { call, approved: true });
    await running;
    const history = first.events.slice(0, first.types.indexOf("tool.started") + 1);
    const resumed = new Bench({ ...setup, model: new ScriptedModel([["ok"]]), history });
    resumed.signal("approve", { call, approved: true });
    resumed.signal("approve", { call, approved: true });
    const asked = Promise.withResolvers<void>();
    resumed.log.onEvent = (event) => event.type === "approval.requested" && asked.resolve();
    const resuming = resumed.run();
    await asked.promise;
    expect(resumed.of("tool.started")).to.have.length(1);
    resumed.signal("approve", { call, approved: false });
    await resuming;
    expect(resumed.of("approval.requested").map(({ reason }) => reason)).to.deep.equal([
      undefined,
      "it may have run already",
    ]);
    expect(resumed.of("tool.started")).to.have.length(1);
  });
});

describe("conditions", () => {
  const values = { amount: 250, path: "/etc/passwd", user: { role: "guest" }, tags: ["a", "b"], dry: false };
  for (const [source, expected] of [
    ["amount > 100", true],
    ["amount > 250", false],
    ["amount >= 250", true],
    ["amount >= 251", false],
    ["amount <= 250", true],
    ["amount <= 249", false],
    ["amount < 250", false],
    ["amount < 251", true],
    ["amount == 250", true],
    ["amount == 250.0", true],
    ["amount != 250", false],
    ["amount > 100.5", true],
    ['user.role == "guest" && !(amount < 10)', true],
    ['user["role"] == "admin"', false],
    ['path.matches("^/etc")', true],
    ['path.matches("^/home")', false],
    ['path.startsWith("/etc") || dry', true],
    ['"c" in tags || amount == 250', true],
    ['"c" in tags', false],
    ['tags.exists(tag, tag == "b")', true],
    ['tags.all(tag, tag != "c")', true],
    ["size(tags) > 2", false],
    ["dry", false],
    ["dry ? amount > 1 : amount > 1000", false],
    ['has(user.name) && user.name == "ada"', false],
    ["args.amount > 100", true],
    ['args["amount"] > 250', false],
    ['user == {"role": "guest"}', true],
    ['user == {"role": "admin"}', false],
    ["[amount, 1] == [250, 1]", true],
  ] as const) {
    it(`${source} is ${expected}`, () => expect(compileCondition(source)(values)).to.equal(expected));
  }

  describe("ask when a value is", () => {
    const sources = [
      "amount > 100",
      "amount < 0",
      "amount >= 100 && amount <= 1000",
      "amount == 100",
      "amount != 0 && amount > 100",
      "amount > 100 && currency == 'USD'",
      "currency == 'USD' && amount > 100",
      "currency == 'USD' || amount > 100",
      "!(amount <= 100)",
      "amount in [5000, 6000]",
      "[amount].exists(x, x > 100)",
      "[amount].exists(x, x == 5000)",
      "amount + 1 > 100",
      "-amount < -100",
      "{'k': amount}.k > 100",
    ];
    const odd: [string, Record<string, unknown>][] = [
      ["missing", {}],
      ["null", { amount: null }],
      ["a text", { amount: "1,000" }],
      ["a text of a number", { amount: "5000" }],
      ["a list", { amount: [5000] }],
      ["a map", { amount: { value: 5000 } }],
      ["true", { amount: true }],
    ];
    for (const [name, part] of odd) {
      it(name, () => {
        for (const source of sources) {
          expect(compileCondition(source)({ currency: "EUR", ...part }), source).to.equal(true);
        }
      });
    }

    it("not there, deeper down", () => {
      for (const given of [{}, { user: null }, { user: {} }, { user: "x" }, { user: { role: null } }, { user: [] }]) {
        expect(compileCondition('user.role == "admin"')(given), JSON.stringify(given)).to.equal(true);
        expect(compileCondition('user.role != "guest" && false')(given), JSON.stringify(given)).to.equal(true);
      }
    });

    it("an element of another type", () => {
      expect(compileCondition('"c" in tags')({ tags: [1, 2] })).to.equal(true);
      expect(compileCondition('tags.exists(tag, tag == "c")')({ tags: ["a", 2] })).to.equal(true);
    });

    it("not one of JavaScript's own", () => {
      for (const source of ["constructor == 1", "toString == 1", "args.constructor == 1", "hasOwnProperty == 1"]) {
        expect(compileCondition(source)({ amount: 1 }), source).to.equal(true);
      }
    });
  });

  it("take a pattern from the config in linear time", () => {
    const condition = compileCondition('path.matches("^(a+)+$")');
    const took = cpuTime(() => expect(condition({ path: `${"a".repeat(5_000)}!` })).to.equal(false));
    expect(took).to.be.lessThan(1_000);
  });

  for (const source of [
    "amount >",
    "(amount > 1",
    "amount ; 1",
    "",
    "a == 1 b",
    "amount > 1 and currency == 'EUR'",
    "1 + 1",
    "'a' > 1",
    "pay(amount)",
    "path.matches('(a')",
    "__proto__ == 1",
    `${"(".repeat(200)}a${")".repeat(200)}`,
  ]) {
    it(`${JSON.stringify(source.slice(0, 40))} is no valid condition`, () =>
      expect(() => compileCondition(source)).to.throw("invalid condition"));
  }
});
