import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import type { RunEvent } from "../../src/core/run/events.ts";
import { venturi } from "../cli/venturi.ts";
import { House, type HouseOptions, pause } from "./house.ts";
import { must, partOf, toolModule, waitFor } from "./must.ts";
import { sameTimes } from "./told.ts";

const wait = (ms: number) => `await new Promise((resolve) => setTimeout(resolve, ${ms}));`;
const files = {
  "tools.mjs": [
    toolModule("quick", "call: () => 'done'"),
    toolModule("slow", `async call() { ${wait(1_500)} return 'at last'; }`),
    toolModule("long", `async call() { ${wait(6_000)} return 'at last'; }`),
    toolModule("paid", "call: () => 'paid', approval: 'always'"),
    toolModule("exits", `async call() { ${wait(1_000)} process.exit(3); }`),
    toolModule("leaves", "call() { process.exit(0); }"),
    toolModule("hoards", "call() { const all = []; for (;;) all.push(new Array(1e5).fill(Math.random())); }"),
  ].join(""),
};
const pluginWith = (hook: string) => `
import { z } from "${import.meta.resolve("zod")}";
export default {
  kind: "tool", name: "audit", api: 1, options: z.object({}),
  create: () => ({ name: "audit", description: "audits", parameters: z.object({}), call: () => "", hooks: { ${hook} } }),
};
`;
/** Date.now is an hour ahead once the file is there. */
const jump = `
import { existsSync } from "node:fs";
const real = Date.now;
let shift = 0;
Date.now = () => real() + shift;
if (process.env.JUMP) setInterval(() => { if (existsSync(process.env.JUMP)) shift = 3_600_000; }, 50).unref();
`;
const tools = ["quick", "slow", "long", "paid", "exits", "leaves", "hoards"];
const call = (name: string) => ({ calls: [{ name, arguments: {} }] });
const scenario = (name: string, ...turns: Record<string, unknown>[]) => ({ name, turns });
const agents = {
  quick: { model: "demo/quick", tools: ["quick"] },
  slow: { model: "demo/slow", tools: ["slow"] },
  long: { model: "demo/long", tools: ["long"] },
  paid: { model: "demo/paid", tools: ["paid"] },
  exits: { model: "demo/exits", tools: ["exits"] },
  leaves: { model: "demo/leaves", tools: ["leaves"] },
  hoards: { model: "demo/hoards", tools: ["hoards"] },
  steady: { model: "demo/pace-20-200" },
};
const config = {
  providers: {
    demo: { type: "simulator", pace: 0, scenarios: tools.map((name) => scenario(name, call(name), { text: "done" })) },
  },
  tools: Object.fromEntries(tools.map((name) => [name, { type: "module", path: "./tools.mjs", export: name }])),
  agents,
};

/** Problems outside the model, each in whole processes, asked about while it lasts and afterwards. */
describe("a problem planted in a whole service is named, live and afterwards", function () {
  this.timeout(120_000);
  let house: House | undefined;
  const open = (options: Partial<HouseOptions> = {}): Promise<House> => {
    house = new House({ config, files, ...options });
    return house.start();
  };
  afterEach(async () => {
    await house?.close();
    house = undefined;
  });
  const asked = (events: readonly RunEvent[]) => {
    const found = events.find((event) => event.type === "approval.requested");
    if (found === undefined) throw new Error("nobody was asked");
    return found;
  };
  /** The service under its keeper. */
  const servicePid = ({ pid }: House) =>
    Number(
      execFileSync("pgrep", ["-P", String(pid)], { encoding: "utf8" })
        .trim()
        .split("\n")[0],
    );

  it("a database locked for seconds while a tool is to start: the journal, not the tool", async () => {
    const at = await open();
    const run = await at.run("slow", { session: "s" });
    const lock = new DatabaseSync(`${at.folder}/runs.db`, { timeout: 5_000 });
    lock.exec("BEGIN IMMEDIATE");
    await pause(4_000);
    const live = await at.why(run);
    must(live, "slow_journal", /now waits for the journal/);
    lock.exec("COMMIT");
    lock.close();
    await at.ended(run);
    const why = await sameTimes(at, run);
    must(why, "slow_journal", /waited for the journal/);
    expect(partOf(why, "tool")).to.be.below(2_500);
  });

  it("a locked database that outlasts the engine's patience: the journal could not be written, and readiness knows", async () => {
    const at = await open({
      config: { ...config, journal: { type: "sqlite", path: "./runs.db", busyTimeout: "300ms" } },
    });
    const run = await at.run("slow");
    await at.has(run, "tool.started");
    const lock = new DatabaseSync(`${at.folder}/runs.db`, { timeout: 5_000 });
    lock.exec("BEGIN IMMEDIATE");
    await pause(4_500);
    must(await at.why(run), "journal_failed", /journal could not be written: .*locked/);
    const ready = await fetch(`${at.url}/readyz`);
    expect(ready.status).to.equal(503);
    lock.exec("COMMIT");
    lock.close();
    await at.ended(run);
    const why = await sameTimes(at, run);
    must(why, "journal_failed", /journal could not be written: .*locked/);
    expect(partOf(why, "tool")).to.be.within(1_400, 2_400);
  });

  it("a worker that is killed while a tool runs: worker_crashed, the tool's time its own", async () => {
    const at = await open();
    const run = await at.run("long");
    await at.has(run, "tool.started");
    await pause(2_000);
    process.kill(servicePid(at), "SIGKILL");
    const events = await at.until(run, (all) => all.some(({ type }) => type === "approval.requested"));
    must(await at.why(run), "worker_crashed", /ended its process \(SIGKILL\) while the tool long ran/);
    await pause(4_000);
    await at.ask(`/v1/runs/${run}/approvals/${asked(events).call}`, { approved: false });
    await at.ended(run);
    const why = await sameTimes(at, run);
    must(why, "waited_for_person", /waited for approval of long/, /worker ended its process \(SIGKILL\)/);
    expect(partOf(why, "tool")).to.be.within(1_800, 4_000);
  });

  for (const [agent, says] of [
    ["exits", /the tool exits ended its process \(status 3\)/],
    ["leaves", /the tool leaves ended its process \(status 0\)/],
  ] as const) {
    it(`a tool that calls process.exit (${agent}): tool_exited, and the tool`, async () => {
      const at = await open();
      const run = await at.run(agent);
      const events = await at.until(run, (all) => all.some(({ type }) => type === "approval.requested"));
      must(await at.why(run), "tool_exited", says);
      // The tool ends the process again, perhaps before this is answered.
      await at.ask(`/v1/runs/${run}/approvals/${asked(events).call}`, { approved: true }).catch(() => {});
      await at.ended(run);
      must(await sameTimes(at, run), "tool_exited", new RegExp(`worker_crashed: ${run} ended its process`), says);
    });
  }

  it("a tool that takes all memory: worker_crashed, and the tool", async () => {
    const at = await open({ env: { NODE_OPTIONS: "--max-old-space-size=96" } });
    const run = await at.run("hoards");
    await at.until(run, (all) => all.some(({ type }) => type === "approval.requested"));
    must(await at.why(run), "worker_crashed", /ended its process \(SIG\w+\) while the tool hoards ran/);
  });

  it("a run whose agent was removed while a person thought: stranded, and nobody is asked any more", async () => {
    const at = await open();
    const run = await at.run("paid");
    const events = await at.has(run, "approval.requested");
    await pause(1_500); // it is parked
    expect((await at.ask<{ approvals: unknown[] }>("/v1/approvals")).approvals).to.have.length(1);
    const { paid: _, ...rest } = agents;
    at.configure({ ...config, agents: rest });
    process.kill(at.pid, "SIGHUP");
    await waitFor(async () => (await at.view(run)).status === "stranded");
    must(await at.why(run), "stranded", /no worker here has the agent paid/);
    expect((await at.ask<{ approvals: unknown[] }>("/v1/approvals")).approvals).to.have.length(0);
    // The tool ends the process again, perhaps before this is answered.
    await at.ask(`/v1/runs/${run}/approvals/${asked(events).call}`, { approved: true }).catch(() => {});
    await pause(1_000);
    must(await at.why(run), "stranded", /no worker here has the agent paid/);
    at.configure(config);
    process.kill(at.pid, "SIGHUP");
    await at.ended(run);
    const why = await sameTimes(at, run);
    expect(why.summary).to.match(/waited for approval of paid; somebody allowed it/);
  });

  it("a clock that is set forward by an hour: nobody waited for an hour", async () => {
    const at = await open({ files: { ...files, "jump.mjs": jump } });
    await at.kill("SIGTERM");
    const jumped = `${at.folder}/jumped`;
    const env = { NODE_OPTIONS: `--import=${at.folder}/jump.mjs`, JUMP: jumped };
    await at.start(env);
    const [streams, works, asks] = await Promise.all([at.run("steady"), at.run("slow"), at.run("paid")]);
    const first = await at.run("slow", { session: "s" });
    const queued = await at.run("quick", { session: "s" });
    await at.has(streams, "text.delta");
    const question = asked(await at.has(asks, "approval.requested"));
    writeFileSync(jumped, "");
    await pause(1_300); // the question is parked by now
    for (const run of [streams, works, asks, queued])
      expect((await at.why(run)).ms, JSON.stringify(await at.why(run))).to.be.below(30_000);
    await at.ask(`/v1/runs/${asks}/approvals/${question.call}`, { approved: true });
    for (const run of [streams, works, asks, first, queued]) {
      await at.ended(run);
      expect((await at.why(run)).ms, JSON.stringify(await at.why(run))).to.be.below(30_000);
    }
    must(await at.why(asks), "waited_for_person", /somebody allowed it/);
    must(await at.why(queued), "queued", /an earlier run of its session/);
  });

  it("a start that waits for a free slot: its wait is in the run's time, everywhere", async () => {
    const at = await open({ config: { ...config, limits: { drain: "100ms", activeRuns: 1 } } });
    await at.run("slow");
    const run = await at.run("quick");
    await at.ended(run);
    const why = await sameTimes(at, run);
    must(why, "queued", /passed before the run began: no worker had room for it/);
    expect(partOf(why, "queue")).to.be.within(900, 4_000);
    const line = at.log.find((each) => each.run === run && each.ms !== undefined);
    expect(line?.ms).to.be.closeTo(why.ms, 3);
  });

  it("a plugin's hook that throws, and one that is slow: the hook and the plugin", async () => {
    const hooks = (body: string) => ({ "plugin.mjs": pluginWith(body) });
    const withPlugin = { ...config, plugins: ["./plugin.mjs"], tools: { ...config.tools, audit: { type: "audit" } } };
    const slow = await open({
      config: withPlugin,
      files: { ...files, ...hooks(`async beforeGeneration() { ${wait(1_500)} }`) },
    });
    const first = await slow.run("quick");
    await slow.has(first, "run.started");
    await pause(600);
    must(await slow.why(first), "slow_hook", /now waits for a hook/, /the hook beforeGeneration of the plugin audit/);
    await slow.ended(first);
    must(await slow.why(first), "slow_hook", /the hook beforeGeneration of the plugin audit took/);
    await slow.close();
    const broken = await open({
      config: withPlugin,
      files: { ...files, ...hooks(`beforeTool() { throw new Error("no"); }`) },
    });
    const second = await broken.run("quick");
    await broken.ended(second);
    const why = await broken.why(second);
    expect(why.summary).to.match(/the hook beforeTool of the plugin audit threw/);
    expect(["plugin_failed", "tool_failed"]).to.include(why.cause);
  });

  it("https to a port without TLS, and a model that is not there: in plain words", async () => {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(404, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "no such model", code: "model_not_found" } }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const provider = (scheme: string) => ({ type: "openai", apiKey: "k", baseUrl: `${scheme}://127.0.0.1:${port}/v1` });
    const at = await open({
      config: {
        ...config,
        providers: { tls: provider("https"), plain: provider("http") },
        models: { tls: { chain: ["tls/m"], retry: { max: 0 } } },
        agents: { tls: { model: "tls" }, missing: { model: "plain/m" } },
        tools: {},
      },
    });
    const [tls, missing] = [await at.run("tls"), await at.run("missing")];
    await Promise.all([at.ended(tls), at.ended(missing)]);
    must(await at.why(tls), "provider_unavailable", /does not speak TLS/);
    must(await at.why(missing), "model_missing", /refused to serve plain\/m: .*404: no such model/);
    const shallow = await venturi(["doctor", "--config", at.configFile]);
    expect(shallow.out).to.match(/takes connections; no model was asked \(--deep asks\)/);
    const deep = await venturi(["doctor", "--deep", "--config", at.configFile]);
    expect(deep.out)
      .to.match(/✗ model tls\/m .*does not speak TLS/)
      .and.match(/✗ model plain\/m .*no such model/);
    server.close();
  });

  it("a run in line: the run ahead, its time in the log and the list", async () => {
    const at = await open();
    const first = await at.run("slow", { session: "s" });
    const run = await at.run("quick", { session: "s" });
    await pause(800);
    must(await at.why(run), "queued", new RegExp(`an earlier run of its session, ${first}, is under way`));
    await at.ended(run);
    const why = await sameTimes(at, run);
    must(why, "queued", new RegExp(`an earlier run of its session, ${first}, was under way`));
    const line = at.log.find((each) => each.run === run && each.ms !== undefined);
    expect(line?.ms).to.be.closeTo(why.ms, 3);
  });
});
