import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Cluster } from "../plugins/postgres/cluster.ts";
import { House, type HouseOptions, pause } from "./house.ts";
import { must, partOf, toolModule, waitFor } from "./must.ts";
import { sameTimes } from "./told.ts";

const call = (name: string) => ({ calls: [{ name, arguments: {} }] });
const names = ["quick", "slow", "paid", "asks", "dies"];
/** An MCP server over stdio that says why and ends when its tool is called. */
const mortal = `
const tool = { name: "dies", description: "Dies", inputSchema: { type: "object" } };
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "mortal", version: "1" } }),
  "tools/list": () => ({ tools: [tool] }),
  ping: () => ({}),
};
let rest = "";
process.stdin.on("data", (piece) => {
  const lines = (rest + piece).split("\\n");
  rest = lines.pop();
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (method === "tools/call") {
      console.error("license expired on 2026-01-01");
      process.exit(7);
    }
    if (id === undefined) continue;
    const result = answers[method]?.(params);
    const error = { code: -32601, message: "Method not found" };
    console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) }));
  }
});
`;
/** Date.now is an hour behind once the file is there. */
const backwards = `
import { existsSync } from "node:fs";
const real = Date.now;
let shift = 0;
Date.now = () => real() + shift;
if (process.env.JUMP) setInterval(() => { if (existsSync(process.env.JUMP)) shift = -3_600_000; }, 50).unref();
`;
const plugin = (hooks: string) => `
import { z } from "${import.meta.resolve("zod")}";
export default {
  kind: "tool", name: "audit", api: 1, options: z.object({}),
  create: () => ({ name: "audit", description: "audits", parameters: z.object({}), call: () => "", hooks: { ${hooks} } }),
};
`;
const files = {
  "tools.mjs": [
    toolModule("quick", "call: () => 'done'"),
    toolModule("slow", "call: () => new Promise((resolve) => setTimeout(resolve, 1500, 'at last'))"),
    toolModule("paid", "call: () => 'paid', approval: 'always'"),
    toolModule(
      "asks",
      "async call(_, { ask }) { return JSON.stringify(await ask({ kind: 'text', name: 'seat', message: 'Which seat?' })); }",
    ),
  ].join(""),
  "mortal.mjs": mortal,
};
const module = (name: string) => [name, { type: "module", path: "./tools.mjs", export: name }] as const;
const config = {
  providers: {
    demo: {
      type: "simulator",
      pace: 0,
      scenarios: names.map((name) => ({ name, turns: [call(name), { text: "done" }] })),
    },
  },
  tools: Object.fromEntries(["quick", "slow", "paid", "asks"].map(module)),
  agents: {
    ...Object.fromEntries(
      ["quick", "slow", "paid", "asks"].map((name) => [name, { model: `demo/${name}`, tools: [name] }]),
    ),
    steady: { model: "demo/pace-20-150" },
  },
};

describe("a problem of the place where it runs is named, live and afterwards, with the same times everywhere", function () {
  this.timeout(120_000);
  let house: House | undefined;
  const make = (options: Partial<HouseOptions> = {}): House => {
    house = new House({ config, files, ...options });
    return house;
  };
  const open = (options?: Partial<HouseOptions>) => make(options).start();
  afterEach(async () => {
    await house?.close();
    house = undefined;
  });
  const statusOf = async (at: House) => (await fetch(`${at.url}/readyz`)).status;
  const servicePid = ({ pid }: House) =>
    Number(
      execFileSync("pgrep", ["-P", String(pid)], { encoding: "utf8" })
        .trim()
        .split("\n")[0],
    );

  it("a full disk: the journal could not be written, the disk is full, the service is not ready", async function () {
    const at = make({ config: { ...config, journal: { type: "sqlite", path: "./disk/runs.db", lease: "3s" } } });
    const disk = join(at.folder, "disk");
    mkdirSync(disk);
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", disk], { stdio: "ignore" });
    } catch {
      return this.skip(); // only root may
    }
    try {
      await at.start();
      const run = await at.run("slow");
      await at.has(run, "tool.started");
      expect(() => writeFileSync(join(disk, "filler"), Buffer.alloc(5e6))).to.throw(/ENOSPC/);
      await pause(4_000);
      must(await at.why(run), "journal_failed", /now waits for the journal/, /could not be written: .* is full/);
      expect(await statusOf(at)).to.equal(503);
      rmSync(join(disk, "filler"));
      await at.ended(run);
      const why = await sameTimes(at, run);
      must(why, "journal_failed", /journal could not be written: .* is full/);
      expect(partOf(why, "tool")).to.be.within(1_400, 2_400);
      await waitFor(async () => (await statusOf(at)) === 200);
    } finally {
      await at.kill("SIGTERM");
      execFileSync("umount", [disk]);
    }
  });

  it("a PostgreSQL that is killed: the journal's database, while it is gone and afterwards", async () => {
    const cluster = await Cluster.start();
    try {
      const at = await open({ config: { ...config, journal: { type: "postgres", url: cluster.url, lease: "3s" } } });
      const [works, streams] = [await at.run("slow"), await at.run("steady")];
      await Promise.all([at.has(works, "tool.started"), at.has(streams, "text.delta")]);
      await cluster.crash();
      await pause(5_000);
      // What is known of a run is in the database that is gone.
      const asked = await at.why(works).catch((thrown: unknown) => String(thrown));
      expect(asked).to.match(/503.*journal_failed.*the journal's database cannot be reached/);
      expect(await statusOf(at)).to.equal(503);
      await cluster.up();
      for (const run of [works, streams]) {
        await at.ended(run);
        must(await sameTimes(at, run), "journal_failed", /journal could not be written: .*cannot be reached/);
      }
    } finally {
      await house?.close();
      await cluster.stop();
    }
  });

  it("a process that is suspended for three seconds: it stood still, nobody kept it busy", async () => {
    const at = await open();
    const run = await at.run("steady");
    await at.has(run, "text.delta");
    const pid = servicePid(at);
    process.kill(pid, "SIGSTOP");
    await pause(3_000);
    process.kill(pid, "SIGCONT");
    await at.ended(run);
    must(await sameTimes(at, run), "process_stopped", /the process stood still: it was suspended/);
  });

  it("a run in line behind one that waits for a person: that it does", async () => {
    const at = await open();
    const first = await at.run("paid", { session: "s" });
    await at.has(first, "approval.requested");
    const run = await at.run("quick", { session: "s" });
    await pause(1_800);
    must(await at.why(run), "queued", new RegExp(`an earlier run of its session, ${first}, waits for a person`));
    await at.ask(`/v1/runs/${first}/cancel`, {});
    await at.ended(run);
    must(await sameTimes(at, run), "queued", new RegExp(`an earlier run of its session, ${first}, was under way`));
  });

  it("a question that nobody answers: which, before and after its time", async () => {
    const asks = { model: "demo/asks", tools: ["asks"], toolPolicy: { approvalTimeout: "2s" } };
    const at = await open({ config: { ...config, agents: { asks } } });
    const run = await at.run("asks");
    await at.has(run, "question.asked");
    await pause(800);
    must(await at.why(run), "waited_for_person", /an answer to seat; nobody has answered yet/);
    await at.ended(run);
    must(await sameTimes(at, run), "unanswered", /an answer to seat, and nobody answered in time/);
  });

  it("an MCP server that dies in a call: its last words, in why and in the log", async () => {
    const mcp = { type: "mcp", command: process.execPath, args: ["mortal.mjs"] };
    const at = await open({
      config: {
        ...config,
        tools: { mortal: mcp },
        agents: { dies: { model: "demo/dies", tools: ["mortal"] } },
        providers: {
          demo: {
            ...config.providers.demo,
            scenarios: [{ name: "dies", turns: [call("mortal_dies"), { text: "done" }] }],
          },
        },
      },
    });
    const run = await at.run("dies");
    const events = await at.until(run, (all) =>
      all.some(({ type }) => type === "approval.requested" || type === "run.finished" || type === "run.failed"),
    );
    const asked = events.find((event) => event.type === "approval.requested");
    if (asked !== undefined) await at.ask(`/v1/runs/${run}/approvals/${asked.call}`, { approved: true });
    await at.ended(run);
    const why = await sameTimes(at, run);
    expect(["tool_failed", "waited_for_person"]).to.include(why.cause);
    expect(why.summary).to.match(/mortal_dies.*license expired on 2026-01-01/);
    expect(at.log.some((line) => /license expired/.test(JSON.stringify(line)))).to.equal(true);
  });

  it("a clock that is set back by an hour: nobody waited for less than nothing", async () => {
    const at = make({ files: { ...files, "jump.mjs": backwards } });
    const jumped = join(at.folder, "jumped");
    await at.start({ NODE_OPTIONS: `--import=${at.folder}/jump.mjs`, JUMP: jumped });
    const [streams, works, asks] = [await at.run("steady"), await at.run("slow"), await at.run("paid")];
    const question = (await at.has(asks, "approval.requested")).find((event) => event.type === "approval.requested");
    writeFileSync(jumped, "");
    await pause(1_300);
    for (const run of [streams, works, asks]) expect((await at.why(run)).ms).to.be.within(1_000, 30_000);
    await at.ask(`/v1/runs/${asks}/approvals/${question?.call}`, { approved: true });
    for (const run of [streams, works, asks]) {
      await at.ended(run);
      const why = await sameTimes(at, run);
      expect(why.ms, why.summary).to.be.within(1_200, 30_000);
      for (const { ms } of why.parts) expect(ms).to.be.at.least(0);
    }
    must(await at.why(works), "slow_tool", /the tool slow ran/);
    must(await at.why(asks), "waited_for_person", /somebody allowed it/);
  });

  it("a budget that is used up, and a hook that refuses: which", async () => {
    const refuse = `beforeTool() { const error = new Error("not on Sundays"); throw error; }`;
    const at = await open({
      config: {
        ...config,
        plugins: ["./plugin.mjs"],
        tools: { ...config.tools, audit: { type: "audit" } },
        budgets: { small: { of: "agent", only: "steady", tokens: 10, per: "day" } },
      },
      files: { ...files, "plugin.mjs": plugin(refuse) },
    });
    await at.ended(await at.run("steady"));
    const broke = await at.run("steady");
    await at.ended(broke);
    must(await sameTimes(at, broke), "limit", /budget.*small|small.*budget/);
    const refused = await at.run("quick");
    await at.ended(refused);
    const why = await sameTimes(at, refused);
    expect(["plugin_failed", "tool_failed"]).to.include(why.cause);
    expect(why.summary).to.match(/the hook beforeTool of the plugin audit threw/);
  });
});
