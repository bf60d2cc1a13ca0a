import { expect } from "chai";
import { type AnyAgent, agent, type RunEvent, sqlite, tool } from "venturi";
import { z } from "zod";
import { silentLog } from "../../src/core/ports/log.ts";
import { type Generation, say } from "../../src/testing/model.ts";
import { type TestVenturi, testVenturi } from "../../src/testing/venturi.ts";
import { heard } from "../heard.ts";
import { testFolder } from "../host/folder.ts";

const model = "anthropic/claude-sonnet-4-5";

describe("a paused agent", () => {
  const folder = testFolder();
  const opened = new Set<TestVenturi>();
  afterEach(async () => {
    for (const venturi of opened) await venturi.close();
    opened.clear();
  });
  const open = async (agents: AnyAgent[], script: readonly Generation[]) => {
    const journal = sqlite({ path: folder.path("runs.db"), lease: "30s" });
    const venturi = await testVenturi({ agents, journal, script, log: silentLog });
    opened.add(venturi);
    return venturi;
  };
  const close = async (venturi: TestVenturi) => {
    opened.delete(venturi);
    await venturi.close();
  };
  const until = async (events: AsyncIterable<unknown>, type: string): Promise<RunEvent[]> => {
    const seen: RunEvent[] = [];
    for await (const event of events) {
      seen.push(event as RunEvent);
      if (seen.at(-1)?.type === type) break;
    }
    return seen;
  };
  const gate = () => {
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const slow = tool({
      name: "slow",
      description: "Takes its time",
      input: z.object({}),
      async call() {
        begun.resolve();
        await end.promise;
        return "at last";
      },
    });
    return { slow, begun: begun.promise, end: end.resolve };
  };

  it("has its runs finish their round and wait, takes new ones, and all go on when it is resumed elsewhere after a restart", async () => {
    const { slow, begun, end } = gate();
    const worker = agent({ name: "worker", model, tools: [slow] });
    const other = agent({ name: "other", model });
    const first = await open([worker, other], [[say.call(0, "slow", {})], ["Other."]]);
    const run = await first.start(worker, "Go");
    await begun;
    expect(await first.agent("worker").pause("the shop is closed")).to.equal(true);
    expect(await first.agent("worker").pause()).to.equal(false);
    const late = await first.start(worker, "Later");
    end();
    const seen = await until(run.events(), "run.paused");
    expect(seen.map(({ type }) => type).slice(-2)).to.deep.equal(["round.finished", "run.paused"]);
    expect(seen.at(-1)).to.include({ agent: "worker", reason: "the shop is closed" });
    // Only its own runs wait.
    expect((await first.run(other, "Hello")).text).to.equal("Other.");
    expect(first.runs.agents().map(({ name, paused }) => [name, paused?.reason])).to.deep.equal([
      ["worker", "the shop is closed"],
      ["other", undefined],
    ]);
    await close(first);

    const second = await open([worker, other], [["Done."], ["Done too."]]);
    const third = await open([worker, other], [["Done."], ["Done too."]]);
    expect(second.runs.agents()[0]?.paused?.reason).to.equal("the shop is closed");
    const rows = await Promise.all([run, late].map(({ id }) => second.runs.get(id)));
    expect(rows.map(({ state, head }) => [state, head === 0])).to.deep.equal([
      ["ready", false],
      ["ready", true],
    ]);
    expect([...second.requests, ...third.requests]).to.have.length(0);
    expect(await third.agent("worker").resume()).to.equal(true);
    expect(await third.agent("worker").resume()).to.equal(false);
    const ended = await Promise.all(
      [run, late].map(async ({ id }) => until((await second.get(id)).events(), "run.finished")),
    );
    const [resumed = [], started = []] = ended;
    expect(resumed.map(({ type }) => type).filter((type) => type.startsWith("run."))).to.deep.equal([
      "run.started",
      "run.paused",
      "run.resumed",
      "run.continued",
      "run.finished",
    ]);
    expect(started.map(({ type }) => type).filter((type) => type.startsWith("run."))).to.deep.equal([
      "run.started",
      "run.finished",
    ]);
    for (const events of ended) {
      const last = events.at(-1);
      const { paused = 0, ...timing } = last?.type === "run.finished" ? last.timing : { runtime: 0 };
      const rest = Object.values(timing).reduce((sum, ms) => sum + ms, 0);
      expect(paused, JSON.stringify(timing)).to.be.greaterThan(0);
      expect(timing).to.not.have.property("down", paused);
      expect(paused + rest).to.be.greaterThan(0);
    }
  });

  it("may be cancelled and paused by itself beside it; both pauses have to end", async () => {
    const { slow, begun, end } = gate();
    const worker = agent({ name: "worker", model, tools: [slow] });
    const venturi = await open([worker], [[say.call(0, "slow", {})], ["Done."]]);
    const run = await venturi.start(worker, "Go");
    await begun;
    await venturi.agent("worker").pause();
    await run.pause("and this one anyway");
    const waiting = await venturi.start(worker, "Never mind");
    await waiting.cancel("not needed");
    expect((await venturi.runs.get(waiting.id)).outcome).to.equal("cancelled");
    end();
    const pauses = (await until(run.events(), "run.paused")).filter(({ type }) => type === "run.paused");
    expect(pauses).to.have.length(1);
    await venturi.agent("worker").resume();
    await run.resume();
    const all = await until(run.events(), "run.finished");
    const said = all.flatMap((event) =>
      event.type === "run.paused" || event.type === "run.continued" ? [`${event.type} ${event.agent ?? "run"}`] : [],
    );
    expect(said.filter((each) => each.endsWith("run"))).to.deep.equal(["run.paused run", "run.continued run"]);
    expect(said.filter((each) => each.endsWith("worker")).length % 2).to.equal(0);
  });

  it("is not taken for a run that crashes its process, however often it is woken", async () => {
    const { slow, begun, end } = gate();
    const worker = agent({ name: "worker", model, tools: [slow] });
    const venturi = await open([worker], [[say.call(0, "slow", {})], ["Done."]]);
    const run = await venturi.start(worker, "Go");
    await begun;
    await run.pause();
    await heard(run.id);
    end();
    await until(run.events(), "run.paused");
    for (let wakes = 1; wakes <= 8; wakes++) {
      await run.steer(`Message ${wakes}`);
      let resumed = 0;
      for await (const event of run.events()) if (event.type === "run.resumed" && ++resumed === wakes) break;
    }
    await run.resume();
    const last = (await until(run.events(), "run.finished")).at(-1);
    expect(last?.type).to.equal("run.finished");
    expect(JSON.stringify(venturi.requests[1])).to.contain("Message 8");
  });

  it("an agent that is not there is not paused", async () => {
    const venturi = await open([agent({ name: "worker", model })], []);
    const thrown = await Promise.resolve(venturi.runs.pauseAgent?.("nobody")).catch((error: unknown) => String(error));
    expect(thrown).to.contain("nobody");
  });
});
