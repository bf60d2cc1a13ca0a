import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { type App, agent, sqlite, tool, type Venturi } from "venturi";
import { z } from "zod";
import { say } from "../../src/testing/model.ts";
import { collect, scripted } from "./scripted.ts";

const index = new URL("../../src/index.js", import.meta.url).href;
const testing = new URL("../../src/testing.js", import.meta.url).href;

/** A process that hands a run over and is killed in the named moment. */
const killed = (journal: string, moment: "during the transfer" | "in the next agent's generation") => `
import { agent, openVenturi, sqlite } from ${JSON.stringify(index)};
import { say, ScriptedModel } from ${JSON.stringify(testing)};
const billing = agent({
  name: "billing",
  model: "scripted/b",
  instructions: async () => {
    ${moment === "during the transfer" ? 'console.log("now"); await new Promise((resolve) => setTimeout(resolve, 60000));' : ""}
    return "written by the first process";
  },
});
const triage = agent({ name: "triage", model: "scripted/t", instructions: "Sort.", handoffs: [billing], limits: { maxToolCalls: 7 } });
const provider = new ScriptedModel([[say.call(0, "transfer_to_billing", {})], ["Half of ", say.until(() => { console.log("now"); return new Promise(() => {}); })]]);
const venturi = await openVenturi({ agents: [triage], journal: sqlite({ path: ${JSON.stringify(journal)}, lease: 500 }), providers: [{ name: "scripted", provider }] });
const run = await venturi.start(triage, "My invoice is wrong", { session: "s" });
console.log(run.id);
`;

describe("runs of agents in code after a restart", function () {
  this.timeout(180_000);
  let folder: string;
  let opened: Venturi[] = [];
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "venturi-restart-"));
  });
  afterEach(async () => {
    for (const venturi of opened) await venturi.close();
    opened = [];
  });
  after(() => rmSync(folder, { recursive: true }));

  const open = async (script: Parameters<typeof scripted>[0], app: App) => {
    const made = await scripted(script, app);
    opened.push(made.venturi);
    return made;
  };

  const ask = (name: string) =>
    tool({ name, description: name, input: z.object({}), approval: "always", call: () => "done by code" });

  const waiting = async (journal: string, app: App = {}) => {
    const before = agent({ name: "a", model: "scripted/m", tools: [ask("act")] });
    const { venturi } = await scripted([[say.call(0, "act", {})]], {
      agents: [before],
      journal: sqlite(journal),
      ...app,
    });
    const run = await venturi.start(before, "go");
    for await (const _ of run.events({ types: ["approval.requested"] })) break;
    await venturi.close();
    return run.id;
  };

  for (const moment of ["during the transfer", "in the next agent's generation"] as const) {
    it(`a run that was handed over goes on with that agent, killed ${moment}`, async () => {
      const journal = join(folder, `${moment.slice(0, 6)}.db`);
      const file = join(folder, `${moment.slice(0, 6)}.mjs`);
      writeFileSync(file, killed(journal, moment));
      const child = spawn(process.execPath, ["--no-warnings", file], { stdio: ["ignore", "pipe", "inherit"] });
      const lines: string[] = [];
      for await (const line of createInterface({ input: child.stdout })) {
        lines.push(line);
        if (lines.length === 2) break;
      }
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      const id = lines.find((line) => line.startsWith("run_")) ?? "";
      const billing = agent({
        name: "billing",
        model: "scripted/b",
        instructions: () => "written by the second process",
      });
      const triage = agent({
        name: "triage",
        model: "scripted/t",
        instructions: "Sort.",
        handoffs: [billing],
        limits: { maxToolCalls: 7 },
      });
      const { venturi, model } = await open([["Here is your invoice."]], {
        agents: [triage],
        journal: sqlite({ path: journal, lease: 2_000 }),
      });
      const run = await venturi.get(id, triage);
      expect((await run.result()).text).to.equal("Here is your invoice.");
      const events = await collect(run.events({ types: ["agent.changed", "tool.finished", "run.resumed"] }));
      expect(events.filter(({ type }) => type === "agent.changed")).to.have.length(1);
      const [request] = model.requests;
      const author = moment === "during the transfer" ? "second" : "first";
      expect(request?.messages[0]?.parts).to.deep.equal([{ type: "text", text: `written by the ${author} process` }]);
      expect(JSON.stringify(request?.messages))
        .to.contain("My invoice is wrong")
        .and.to.contain("The conversation is now with billing.");
      expect(request?.tools).to.deep.equal([]);
    });
  }

  it("goes on when the program defines the same agent again; another revision says so in the run", async () => {
    const journal = join(folder, "same.db");
    const id = await waiting(journal);
    const after = agent({ name: "a", model: "scripted/m", instructions: "other words", tools: [ask("act")] });
    const { venturi } = await open([["fine"]], { agents: [after], journal: sqlite(journal) });
    const run = await venturi.get(id, after);
    await run.approve("call-act-0");
    expect((await run.result()).text).to.equal("fine");
    const [revised] = await collect(run.events({ types: ["agent.revised"] }));
    expect(revised?.revision).to.equal(venturi.runs.agents()[0]?.revision);
  });

  it("a tool that is gone is reported to the model by name", async () => {
    const journal = join(folder, "gone.db");
    const id = await waiting(journal);
    const after = agent({ name: "a", model: "scripted/m", tools: [ask("other")] });
    const { venturi, model } = await open([["sorry"]], { agents: [after], journal: sqlite(journal) });
    const run = await venturi.get(id, after);
    await run.approve("call-act-0");
    expect((await run.result()).text).to.equal("sorry");
    expect(JSON.stringify(model.requests[0]?.messages)).to.contain(
      'tool_not_found: there is no tool \\"act\\"; the tools are: other',
    );
  });

  it("takeUp: same leaves runs of another revision, none leaves all but one's own, and both leave unknown agents", async () => {
    const journal = join(folder, "takeup.db");
    const id = await waiting(journal);
    const other = agent({ name: "a", model: "scripted/m", revision: "2", tools: [ask("act")] });
    // Of a third revision: those of the second may be taken up by any process that has it.
    const third = agent({ name: "a", model: "scripted/m", revision: "3", tools: [ask("act")] });
    const same = await open([["never"]], { agents: [third], journal: sqlite(journal), takeUp: "same" });
    const none = await open([["own"], [say.call(0, "act", {})], ["own again"]], {
      agents: [other],
      journal: sqlite(journal),
      takeUp: "none",
    });
    const unknown = await open([["never"]], {
      agents: [agent({ name: "b", model: "scripted/m" })],
      journal: sqlite(journal),
    });
    await (await same.venturi.get(id)).approve("call-act-0");
    expect((await none.venturi.run(other, "mine", { session: "s" })).text).to.equal("own");
    // One's own run is taken up again after it was parked.
    const parked = await none.venturi.start(other, "mine", { session: "s" });
    for await (const _ of parked.events({ types: ["approval.requested"] })) break;
    while ((await none.venturi.runs.get(parked.id)).state !== "waiting")
      await new Promise((resolve) => setTimeout(resolve, 20));
    await parked.approve("call-act-0");
    expect((await parked.result()).text).to.equal("own again");
    expect((await unknown.venturi.runs.get(id)).state).to.equal("ready");
    const before = agent({ name: "a", model: "scripted/m", tools: [ask("act")] });
    const right = await open([["mine"]], { agents: [before], journal: sqlite(journal), takeUp: "same" });
    expect((await (await right.venturi.get(id)).result()).text).to.equal("mine");
  });

  it("a fork shares the rounds before and goes on by itself", async () => {
    const plain = agent({
      name: "plain",
      model: "scripted/m",
      tools: [tool({ name: "look", description: "", input: z.object({}), effect: "pure", call: () => "seen" })],
    });
    const { venturi } = await open([[say.call(0, "look", {})], ["one answer"], ["another answer"]], {
      agents: [plain],
    });
    const run = await venturi.start(plain, "go");
    expect((await run.result()).text).to.equal("one answer");
    const forked = await run.fork({ afterRound: 1 });
    expect((await forked.result()).text).to.equal("another answer");
    const wrong = await run.fork({ afterRound: 9 }).catch((thrown: unknown) => thrown);
    expect(wrong).to.have.property("code", "invalid_input");
  });

  it("a shared instance is opened once per process, and opening it again swaps the agents", async () => {
    const one = agent({ name: "a", model: "scripted/m", instructions: "one" });
    const two = agent({ name: "a", model: "scripted/m", instructions: "two" });
    const first = await open([["x"], ["y"]], { agents: [one], shared: "test" });
    const again = await scripted([["z"]], { agents: [two], shared: "test" });
    expect((await again.venturi.run(two, "go")).text).to.equal("z");
    expect(again.model.requests[0]?.messages[0]?.parts).to.deep.equal([{ type: "text", text: "two" }]);
    expect(first.venturi.runs).to.equal(again.venturi.runs);
  });
});
