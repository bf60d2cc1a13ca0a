import { expect } from "chai";
import { Breakers } from "../../src/agent/run/breaker.ts";
import { Circuit } from "../../src/agent/run/circuit.ts";
import type { Code } from "../../src/core/errors/codes.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Provider } from "../../src/core/model/provider.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { recorder } from "../journal/log-recorder.ts";
import { failing } from "./failing.ts";
import { Bench, run } from "./harness.ts";

const down = new VenturiError("provider.stream", "unavailable", "down");
const target = { provider: "p0", model: "m" };

describe("a circuit", () => {
  const by = (name: string | number) => ({ tenant: "one", run: `run-${name}` });
  const own = (clock: VirtualClock, told: string[] = []) =>
    new Circuit(clock, { ofOneTenant: 1, changed: (change) => void told.push(change) });
  const fails = (circuit: Circuit, times: number, weight = 1) => {
    for (let time = 0; time < times; time++) circuit.failed(by(time), down, weight);
  };

  it("opens at the fifth failed run in a row, for thirty seconds, and says so once", async () => {
    const clock = new VirtualClock();
    const told: string[] = [];
    const circuit = own(clock, told);
    fails(circuit, 4);
    expect([circuit.state, circuit.leftMs, circuit.admit(by(9))]).to.deep.equal(["closed", 0, true]);
    fails(circuit, 5);
    expect([circuit.state, circuit.leftMs, circuit.admit(by(9))]).to.deep.equal(["open", 30_000, false]);
    // Calls that were under way when it opened do not open it again.
    fails(circuit, 2);
    expect(told).to.deep.equal(["opened"]);
    await clock.advance(29_999);
    expect([circuit.state, circuit.leftMs]).to.deep.equal(["open", 1]);
    await clock.advance(1);
    expect([circuit.state, circuit.leftMs]).to.deep.equal(["half-open", 0]);
  });

  it("counts a run once, however often it retries", () => {
    const circuit = own(new VirtualClock());
    for (let time = 0; time < 50; time++) circuit.failed(by(1), down, 1);
    expect(circuit.state).to.equal("closed");
  });

  it("counts half where it may be the request's fault, and starts anew after a success", () => {
    const circuit = own(new VirtualClock());
    fails(circuit, 9, 0.5);
    expect(circuit.state).to.equal("closed");
    circuit.succeeded();
    expect(circuit.idle).to.equal(true);
    fails(circuit, 9, 0.5);
    expect(circuit.state).to.equal("closed");
    circuit.failed(by(9), down, 0.5);
    expect(circuit.state).to.equal("open");
  });

  it("stays closed while more calls are being answered than have failed in a row", () => {
    const circuit = own(new VirtualClock());
    circuit.answering = 8;
    fails(circuit, 7);
    expect([circuit.state, circuit.admit(by(9))]).to.deep.equal(["closed", true]);
    fails(circuit, 8);
    expect(circuit.state).to.equal("open");
  });

  it("half-open admits one call whose outcome decides; an abandoned one makes room for the next", async () => {
    const clock = new VirtualClock();
    const told: string[] = [];
    const circuit = own(clock, told);
    fails(circuit, 5);
    await clock.advance(30_000);
    expect([circuit.admit(by("a")), circuit.admit(by("b"))]).to.deep.equal([true, false]);
    circuit.abandoned(by("b"));
    expect(circuit.admit(by("b"))).to.equal(false);
    circuit.abandoned(by("a"));
    expect([circuit.state, circuit.admit(by("c")), circuit.admit(by("d"))]).to.deep.equal(["half-open", true, false]);
    circuit.failed(by("c"), down, 1);
    expect([circuit.state, circuit.leftMs, circuit.admit(by("d"))]).to.deep.equal(["open", 30_000, false]);
    await clock.advance(30_000);
    expect(circuit.admit(by("e"))).to.equal(true);
    circuit.succeeded();
    circuit.succeeded();
    expect(told).to.deep.equal(["opened", "probed", "probed", "opened", "probed", "closed"]);
    expect([circuit.state, circuit.admit(by("f")), circuit.admit(by("g"))]).to.deep.equal(["closed", true, true]);
  });

  it("for all tenants is not opened by one of them, however many failures it has", () => {
    const circuit = new Circuit(new VirtualClock(), { ofOneTenant: 0.6 });
    fails(circuit, 500);
    expect(circuit.state).to.equal("closed");
    for (const name of ["a", "b"]) circuit.failed({ tenant: "two", run: name }, down, 1);
    expect(circuit.state).to.equal("open");
  });

  it("for all tenants is not kept open by one whose probes fail: the next one decides", async () => {
    const clock = new VirtualClock();
    const circuit = new Circuit(clock, { ofOneTenant: 0.6 });
    fails(circuit, 5);
    for (const name of ["a", "b"]) circuit.failed({ tenant: "two", run: name }, down, 1);
    await clock.advance(30_000);
    expect(circuit.admit(by("p"))).to.equal(true);
    circuit.failed(by("p"), down, 1);
    expect(circuit.state).to.equal("open");
    await clock.advance(30_000);
    expect(circuit.admit(by("q"))).to.equal(true);
    circuit.failed(by("q"), down, 1);
    expect(circuit.state).to.equal("half-open");
    const other = { tenant: "two", run: "c" };
    expect(circuit.admit(other)).to.equal(true);
    circuit.succeeded();
    expect(circuit.state).to.equal("closed");
  });
});

describe("the breakers", () => {
  const guard = (breakers: Breakers, tenant: string, of = target) => breakers.of(of, { tenant, run: `of ${tenant}` });

  it("refuse the tenant whose calls fail, and nobody else", () => {
    const breakers = new Breakers(new VirtualClock());
    for (let time = 0; time < 50; time++) failing(breakers, { tenant: "noisy", run: `${time}` });
    expect(guard(breakers, "noisy").admit()).to.equal(false);
    for (const tenant of ["quiet", "default", "__proto__", "constructor"]) {
      expect(guard(breakers, tenant).admit(), tenant).to.equal(true);
    }
    expect(breakers.view("p0")).to.deep.include({
      state: "open",
      open: [{ model: "m", state: "open", leftMs: 30_000, tenants: 1 }],
    });
  });

  it("refuse everybody once two tenants see the model fail", () => {
    const breakers = new Breakers(new VirtualClock());
    for (const [tenant, times] of Object.entries({ one: 3, two: 2 })) {
      for (let time = 0; time < times; time++) failing(breakers, { tenant, run: `${tenant} ${time}` });
    }
    expect(guard(breakers, "three").admit()).to.equal(false);
    expect(breakers.view("p0").open).to.deep.equal([{ model: "m", state: "open", leftMs: 30_000 }]);
  });

  it("are separate for each model; an unreachable provider affects all its models", () => {
    const other = { provider: "p0", model: "other" };
    const breakers = new Breakers(new VirtualClock());
    for (let time = 0; time < 5; time++) failing(breakers, { run: `${time}` });
    expect([guard(breakers, "default").admit(), guard(breakers, "default", other).admit()]).to.deep.equal([
      false,
      true,
    ]);
    for (let time = 0; time < 5; time++) failing(breakers, { run: `${time}`, details: { unreachable: true } });
    expect(guard(breakers, "default", other).admit()).to.equal(false);
    expect(guard(breakers, "default", { provider: "p1", model: "m" }).admit()).to.equal(true);
    expect(breakers.view("p0").open.map(({ model }) => model)).to.deep.equal([undefined, "m"]);
  });

  it("count no failure that is not the provider's", () => {
    const breakers = new Breakers(new VirtualClock());
    const codes: Code[] = ["rate_limited", "unauthorized", "forbidden", "not_found", "invalid_input", "too_large"];
    codes.push("internal", "plugin_failed", "budget_exceeded", "stream_interrupted", "conflict", "llm_error");
    for (const code of codes) {
      for (const tenant of ["one", "two"]) {
        for (let time = 0; time < 9; time++) failing(breakers, { tenant, run: `${time}`, code });
      }
    }
    for (const code of ["timeout", "idle_timeout", "unavailable", "stream_error"] as const) {
      for (let time = 0; time < 9; time++) failing(breakers, { run: `${time}`, code, stalled: true });
    }
    expect(breakers.view("p0")).to.deep.equal({ state: "closed", leftMs: 0, open: [] });
  });

  it("count a 5xx half when the request has caller-supplied fields, and fully even after a stall of this process", () => {
    const unusual = new Breakers(new VirtualClock());
    const details = { status: 500 };
    for (let time = 0; time < 9; time++) failing(unusual, { run: `${time}`, details, unusual: true });
    expect(unusual.view("p0").state).to.equal("closed");
    failing(unusual, { run: "9", details, unusual: true });
    expect(unusual.view("p0").state).to.equal("open");
    const answered = new Breakers(new VirtualClock());
    for (let time = 0; time < 5; time++) failing(answered, { run: `${time}`, details, stalled: true });
    expect(answered.view("p0").state).to.equal("open");
  });

  it("log their changes with provider, model and tenant, and keep the last failure that counted", async () => {
    const { log, lines } = recorder();
    const clock = new VirtualClock();
    const breakers = new Breakers(clock, log);
    for (let time = 0; time < 5; time++) failing(breakers, { run: `${time}`, code: "timeout" });
    await clock.advance(30_000);
    const probe = guard(breakers, "default");
    probe.admit();
    probe.succeeded();
    expect(lines.map(({ level, message, fields }) => [level, message, fields.provider, fields.model])).to.deep.equal([
      ["warn", "breaker opened", "p0", "m"],
      ["info", "breaker probed", "p0", "m"],
      ["info", "breaker closed", "p0", "m"],
    ]);
    expect(lines[0]?.fields).to.include({ failures: 5, ms: 30_000, code: "timeout", tenant: "default" });
    expect(breakers.view("p0").lastError).to.include({ code: "timeout", err: "timeout!" });
  });

  it("forget tenants without failures, and keep a bounded number of others", () => {
    const breakers = new Breakers(new VirtualClock());
    for (let tenant = 0; tenant < 3_000; tenant++) {
      const each = guard(breakers, `t${tenant}`, { provider: "p0", model: `m${tenant % 2}` });
      each.answering(1);
      each.succeeded();
      each.answering(-1);
    }
    expect(breakers.view("p0").open).to.deep.equal([]);
  });
});

describe("a run's failures", () => {
  it("that are a fault of this program count for nobody, whatever the tenant repeats", async () => {
    const breakers = new Breakers(new VirtualClock());
    const broken: Provider = {
      capabilities: { streaming: true, tools: true, vision: false, reasoning: false },
      stream: () => {
        throw new TypeError("messages is not iterable");
      },
    };
    for (let time = 0; time < 12; time++) {
      const tenant = `t${time % 3}`;
      const { terminal } = await run({
        model: broken,
        breakers,
        tenant,
        run: `run-${time}`,
        chain: { retry: { max: 3 } },
      });
      expect(terminal).to.have.nested.property("error.code", "plugin_failed");
    }
    expect(breakers.view("p0")).to.deep.equal({ state: "closed", leftMs: 0, open: [] });
  });

  it("after this process stalled are not the provider's", async () => {
    const clock = new VirtualClock();
    const breakers = new Breakers(clock);
    let longAt: number | undefined = clock.monotonic();
    const stalls = { totalMs: 7_000, blame: () => {}, watch: () => () => {}, longAt: () => longAt };
    const cut = (name: string) =>
      run({ model: new ScriptedModel([[say.fail("unavailable")]]), breakers, clock, stalls, run: name });
    for (let time = 0; time < 8; time++) await cut(`run-${time}`);
    expect(breakers.view("p0").state).to.equal("closed");
    longAt = clock.monotonic() - 5_001;
    for (let time = 0; time < 5; time++) await cut(`run-${time}`);
    expect(breakers.view("p0").state).to.equal("open");
  });

  it("leave the probe to the next call when the request could not be made", async () => {
    const clock = new VirtualClock();
    const breakers = new Breakers(clock);
    for (let time = 0; time < 5; time++) failing(breakers, { run: `${time}` });
    await clock.advance(30_000);
    const broken = { beforeGeneration: () => Promise.reject(new Error("the hook is broken")) };
    const failed = await run({ model: new ScriptedModel([["never"]]), agent: { hooks: [broken] }, breakers, clock });
    expect(failed.terminal.type).to.equal("run.failed");
    const next = await run({ model: new ScriptedModel([["well"]]), breakers, clock });
    expect(next.terminal).to.include({ type: "run.finished", output: "well" });
  });

  it("leave the breaker closed when some of many streams break off", async () => {
    const breakers = new Breakers(new VirtualClock());
    const rest = Promise.withResolvers<void>();
    const long = Array.from({ length: 7 }, (_, index) =>
      run({ model: new ScriptedModel([["a", say.until(() => rest.promise), "b"]]), breakers, run: `long-${index}` }),
    );
    const cut = (name: string) =>
      run({ model: new ScriptedModel([[say.fail("stream_error")]]), breakers, run: `cut-${name}` });
    for (let time = 1; time <= 6; time++) {
      expect((await cut(`${time}`)).terminal.type).to.equal("run.failed");
      expect(breakers.view("p0").state).to.equal("closed");
    }
    const cancelled = new Bench({ model: new ScriptedModel([["a", say.silence()]]), breakers });
    const running = cancelled.run();
    await cancelled.when("text.delta");
    cancelled.log.controller.abort(new VenturiError("agent.run", "stream_interrupted", "enough"));
    await running;
    rest.resolve();
    for (const bench of await Promise.all(long)) expect(bench.terminal).to.include({ output: "ab" });
    for (let time = 1; time <= 4; time++) await cut(`${time}`);
    expect(breakers.view("p0").state).to.equal("closed");
    await cut("5");
    expect(breakers.view("p0").state).to.equal("open");
  });
});
