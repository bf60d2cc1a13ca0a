// node bench/shadow.mjs [--share 0.05] [--rate 20] [--runs 60] [--blocks 8] [--tokens 400] [--ms 5] [--shadow-ms 0] [--stream] [--most 1]
//   [--only off,all] [--prof FOLDER] [--json]
// What shadows add to the CPU time of a service (Linux: from /proc). One service as shipped: SQLite, telemetry with a span for each chunk, a client per
// run that follows its stream. A live run asks a model, calls a tool, and streams an answer of --tokens tokens, one every --ms
// ms. Three agents of this service differ only in their shadow: none, the given share, every run. They take turns under the same
// load, in blocks and in changing order, so that all share one warm process. A turn ends with its last shadow.
//   measured: CPU of the turns with the share beside those without. Few runs have a shadow, so the interval is wide.
//   computed: share × shadow / live run, from the turns where every run has one. Many shadows, so the interval is narrow.
// Intervals are 95 %, from t over blocks. The exit code is 1 when the computed interval reaches past --most percent.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { isSampled } from "../dist/src/host/shadow/shadows.js";
import { stop, upstream } from "./processes.mjs";

const text = (value) => ({ type: "string", default: `${value}` });
const { values } = parseArgs({
  options: {
    ...{ share: text(0.05), rate: text(20), runs: text(60), blocks: text(8), tokens: text(400), ms: text(5) },
    ...{ "shadow-ms": text(0), most: text(1), only: text("off,share,all"), prof: { type: "string" } },
    ...{ stream: { type: "boolean", default: false }, json: { type: "boolean", default: false } },
  },
});
const [share, rate, runs, blocks, tokens, ms, most] = ["share", "rate", "runs", "blocks", "tokens", "ms", "most"].map(
  (key) => Number(values[key]),
);
const agents = values.only.split(",");
const connections = new Agent({ keepAlive: true, maxSockets: 1000 });
let idleMs = 0;
const baseUrl = await upstream();
const service = await start();
process.on("exit", () => service.child.kill());
for (const agent of ["all", "off"]) await turn(agent); // warm
await sleep(1_000);
idleMs = await idleShare();
const turns = Object.fromEntries(agents.map((agent) => [agent, []]));
for (let block = 0; block < blocks; block++)
  for (const agent of block % 2 === 0 ? agents : agents.toReversed()) turns[agent].push(await turn(agent));
report();
service.child.kill();
await once(service.child, "exit");
rmSync(service.folder, { recursive: true, force: true });
stop();
process.exit();

/** CPU of the service for so many runs and their shadows, without what an idle one takes, ms. */
async function turn(agent) {
  const [before, time, since] = [service.shadows(), cpu(), performance.now()];
  const all = [];
  while (all.length < runs) {
    const due = Math.min(runs, Math.floor(((performance.now() - since) / 1_000) * rate) + 1);
    while (all.length < due) all.push(one(agent));
    await sleep(5);
  }
  await Promise.all(all);
  for (let waited = 0; waited < 1_200 && service.due() > 0; waited++) await sleep(25);
  const took = performance.now() - since;
  return { ms: cpu() - time - idleMs * took, took, shadows: service.shadows() - before };
}

async function idleShare() {
  const [time, since] = [cpu(), performance.now()];
  await sleep(5_000);
  return (cpu() - time) / (performance.now() - since);
}

function report() {
  const live = interval(turns.off.map((each) => each.ms / runs));
  const more = (agent) => turns[agent]?.map((each, block) => each.ms - turns.off[block].ms);
  const total = (agent) => turns[agent].reduce((sum, each) => sum + each.shadows, 0);
  const measured = more("share") && interval(more("share").map((each) => (each / runs / live.mean) * 100));
  const shadow = more("all") && interval(more("all").map((each, block) => each / turns.all[block].shadows));
  const ratios = more("all")?.map(
    (each, block) => (each / turns.all[block].shadows / (turns.off[block].ms / runs)) * share * 100,
  );
  const computed = ratios && interval(ratios);
  const isMet = computed === undefined ? undefined : computed.to <= most;
  if (values.json)
    console.log(
      JSON.stringify({ share, rate, runs, blocks, tokens, ms, idleMs, live, shadow, measured, computed, turns }),
    );
  console.log(
    `${blocks} blocks of ${runs} runs, ${rate} a second; a tool call and ${tokens} tokens, one every ${ms} ms`,
  );
  console.log(
    `live run   ${shown(live, "ms")} of CPU (the idle service: ${(idleMs * 1_000).toFixed(1)} ms a second, taken off)`,
  );
  if (shadow) console.log(`shadow     ${shown(shadow, "ms")} of CPU (${total("all")} shadows)`);
  if (measured)
    console.log(`measured   ${shown(measured, "%")} more CPU at a share of ${share} (${total("share")} shadows)`);
  if (computed) console.log(`computed   ${shown(computed, "%")} more CPU: ${share} × shadow / live run`);
  const verdict = isMet ? `met: at most ${most} %` : computed?.from > most ? `NOT met: more than ${most} %` : undefined;
  if (isMet !== undefined)
    console.log(
      verdict ?? `undecided: ${most} % is in the interval; repeat it with more --blocks, or on a quieter machine`,
    );
  process.exitCode = isMet === false ? 1 : 0;
}

function shown({ mean, from, to }, unit) {
  return `${mean.toFixed(2)} ${unit} [${from.toFixed(2)}, ${to.toFixed(2)}]`;
}

/** Mean and its 95 % interval, from Student's t. */
function interval(found) {
  const mean = found.reduce((sum, each) => sum + each, 0) / found.length;
  const squares = found.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  const t = [0, 12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23][found.length - 1] ?? 2.2;
  const half = t * Math.sqrt(squares / Math.max(1, found.length - 1) / found.length);
  return { mean, from: mean - half, to: mean + half };
}

function one(agent) {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", accept: "text/event-stream" };
    const sent = request(`${service.url}/v1/runs`, { method: "POST", agent: connections, headers }, (response) => {
      let last = "";
      response.setEncoding("utf8");
      response.on("data", (piece) => {
        last = (last + piece).slice(-20_000);
      });
      response.on("end", () =>
        last.includes("run.finished") ? resolve() : reject(new Error(`${response.statusCode}: ${last.slice(-500)}`)),
      );
    });
    sent.on("error", reject);
    sent.end(JSON.stringify({ agent, input: "What is the weather in Paris for the next three days?" }));
  });
}

async function start() {
  const folder = mkdtempSync(join(tmpdir(), "venturi-shadow-"));
  const chain = [`up/turn-${ms}-${tokens}`];
  const model = `up/turn-${values["shadow-ms"]}-${tokens}`;
  const shadow = (of) => ({ model, share: of, stream: values.stream, budget: { tokens: 1e12 } });
  const shared = { instructions: "Be brief.", tools: ["lookup"] };
  const config = {
    version: 1,
    providers: { up: { type: "openai", apiKey: "x", baseUrl } },
    models: { off: { chain }, share: { chain, shadow: shadow(share) }, all: { chain, shadow: shadow(1) } },
    tools: { lookup: { type: "module", path: "./lookup.mjs" } },
    agents: Object.fromEntries(["off", "share", "all"].map((name) => [name, { model: name, ...shared }])),
    journal: { type: "sqlite", path: join(folder, "venturi.db") },
    channels: { http: {} },
    server: { listen: "127.0.0.1:0" },
    telemetry: { logs: { level: "info", format: "json" } },
  };
  const parameters = { type: "object", properties: { city: { type: "string" }, unit: {}, days: {} } };
  const tool = `name: "lookup", description: "Weather", parameters: ${JSON.stringify(parameters)}, effect: "pure"`;
  writeFileSync(join(folder, "lookup.mjs"), `export default { ${tool}, call: async () => "sunny, 21 degrees" };\n`);
  writeFileSync(join(folder, "venturi.yaml"), JSON.stringify(config));
  const bin = new URL("../dist/src/cli/bin.js", import.meta.url).pathname;
  const flags = values.prof === undefined ? [] : ["--cpu-prof", "--cpu-prof-dir", values.prof];
  // Without the process that watches over it: the CPU is counted of one.
  const args = [...flags, bin, "start", "--config", join(folder, "venturi.yaml"), "--set", "server.wedged=0s"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], cwd: folder });
  let said = "";
  const url = await new Promise((resolve, reject) => {
    const hear = (piece) => {
      said = (said + piece).slice(-10_000);
      const [listening] = /http:\/\/127\.0\.0\.1:\d+/.exec(said) ?? [];
      if (listening !== undefined) resolve(listening);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("exit", (code) => reject(new Error(`exit ${code}: ${said}`)));
  });
  const journal = new DatabaseSync(join(folder, "venturi.db"), { readOnly: true });
  const rows = (sql) => journal.prepare(sql).all();
  const notes = () => rows("SELECT key FROM key_values WHERE space = 'notes'").length;
  return {
    ...{ child, url, folder },
    shadows: notes,
    /** Runs that are to have a shadow, and have none yet. */
    due: () => {
      const live = rows("SELECT run, agent FROM runs WHERE tenant <> '(shadow)'");
      const chosen = live.filter(({ run, agent }) => isSampled(run, { off: 0, share, all: 1 }[agent]));
      return chosen.length - notes();
    },
  };
}

/** CPU time of the service so far, of all its threads, ms. /proc/PID/stat counts in hundredths of a second, this in ns. */
function cpu() {
  const threads = readdirSync(`/proc/${service.child.pid}/task`);
  const of = (thread) =>
    Number(readFileSync(`/proc/${service.child.pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  return threads.reduce((sum, thread) => sum + of(thread), 0) / 1e6;
}
