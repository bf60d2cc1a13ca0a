// node bench/shadow.mjs [--rate 8] [--seconds 10] [--turns 4] [--share 0.05] [--tokens 300] [--ms 5] [--shadow-ms 5] [--stream] [--prof FOLDER]
// What shadows cost the service (Linux: CPU time comes from /proc): the same load by turns on a service without a shadow and on
// one with it. Each is a process as shipped: SQLite, telemetry, HTTP clients that read the stream. A run asks a model, calls a
// tool, and streams an answer of so many tokens, one every so many ms (--shadow-ms: to its shadow). A turn ends when its last shadow has ended, and the
// CPU time of an idle service is taken off.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import { median, stop, upstream } from "./processes.mjs";

const number = (value) => ({ type: "string", default: `${value}` });
const { values } = parseArgs({
  options: {
    ...{ rate: number(8), seconds: number(10), turns: number(4), share: number(0.05) },
    ...{
      tokens: number(300),
      ms: number(5),
      "shadow-ms": number(5),
      stream: { type: "boolean", default: false },
      prof: { type: "string" },
    },
  },
});
const [rate, seconds, turns, share, tokens, ms] = ["rate", "seconds", "turns", "share", "tokens", "ms"].map((key) =>
  Number(values[key]),
);
const agent = new Agent({ keepAlive: true, maxSockets: 1000 });
const baseUrl = await upstream();
const services = { off: await start(undefined), on: await start(share) };
const found = { off: [], on: [] };
for (const service of Object.values(services)) await load(service, Math.min(seconds, 5)); // warm
for (let turn = 0; turn < turns; turn++)
  for (const name of turn % 2 === 0 ? ["off", "on"] : ["on", "off"])
    found[name].push(await load(services[name], seconds));
const sum = (name, of) => found[name].reduce((all, each) => all + of(each), 0);
const shadows = sum("on", (each) => each.shadows);
const runs = sum("on", (each) => each.runs);
const cpu = (name) => sum(name, (each) => each.ms) / runs;
const rounded = (value, digits = 2) => Number(value.toFixed(digits));
const ratios = found.off.map((each, turn) => found.on[turn].ms / each.ms);
console.log(
  JSON.stringify({
    ...{ rate, seconds, turns, share, tokens, ms, runs, shadows },
    cpuMs: {
      liveRun: rounded(cpu("off")),
      shadow: shadows === 0 ? undefined : rounded(((cpu("on") - cpu("off")) * runs) / shadows),
    },
    percentOfACore: rounded(cpu("off") * rate * 0.1),
    percentMore: rounded((cpu("on") / cpu("off") - 1) * 100),
    eachTurn: ratios.map((ratio) => rounded((ratio - 1) * 100, 1)),
    medianTurn: rounded((median(ratios) - 1) * 100),
  }),
);
for (const { child, folder } of Object.values(services)) {
  child.kill();
  await once(child, "exit");
  rmSync(folder, { recursive: true, force: true });
}
stop();
process.exit();

async function load(service, length) {
  const before = shadowsOf(service);
  const idle = await idleShare(service.child.pid);
  const [time, since] = [timeOf(service.child.pid), performance.now()];
  const all = [];
  const wanted = Math.floor(rate * length);
  while (all.length < wanted) {
    const due = Math.min(wanted, Math.floor(((performance.now() - since) / 1_000) * rate) + 1);
    while (all.length < due) all.push(one(service.url));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await Promise.all(all);
  for (let waited = 0; waited < 1_200 && service.due() > 0; waited++)
    await new Promise((resolve) => setTimeout(resolve, 50));
  const used = timeOf(service.child.pid) - time - idle * (performance.now() - since);
  return { ms: used, runs: wanted, shadows: shadowsOf(service) - before };
}

/** What the service takes when nothing is asked of it, ms of CPU per ms. */
async function idleShare(pid) {
  const [time, since] = [timeOf(pid), performance.now()];
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  return (timeOf(pid) - time) / (performance.now() - since);
}

function one(url) {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", accept: "text/event-stream" };
    const sent = request(`${url}/v1/runs`, { method: "POST", agent, headers }, (response) => {
      let last = "";
      response.setEncoding("utf8");
      response.on("data", (text) => {
        last = (last + text).slice(-20_000);
      });
      response.on("end", () =>
        last.includes("run.finished") ? resolve() : reject(new Error(`${response.statusCode}: ${last.slice(-500)}`)),
      );
    });
    sent.on("error", reject);
    sent.end(JSON.stringify({ agent: "a", input: "What is the weather in Paris for the next three days?" }));
  });
}

async function start(chosen) {
  const folder = mkdtempSync(join(tmpdir(), "venturi-shadow-"));
  const shadow =
    chosen === undefined
      ? {}
      : {
          shadow: {
            model: `up/turn-${values["shadow-ms"]}-${tokens}`,
            share: chosen,
            stream: values.stream,
            budget: { tokens: 1e12 },
          },
        };
  const config = {
    version: 1,
    providers: { up: { type: "openai", apiKey: "x", baseUrl } },
    models: { main: { chain: [`up/turn-${ms}-${tokens}`], ...shadow } },
    tools: { lookup: { type: "module", path: "./lookup.mjs" } },
    agents: { a: { model: "main", instructions: "Be brief.", tools: ["lookup"] } },
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
  const flags =
    values.prof === undefined ? [] : ["--cpu-prof", "--cpu-prof-dir", join(values.prof, `${chosen ?? "off"}`)];
  const args = [...flags, bin, "start", "--config", join(folder, "venturi.yaml"), "--set", "server.wedged=0s"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], cwd: folder });
  let said = "";
  const url = await new Promise((resolve, reject) => {
    const hear = (text) => {
      said = (said + text).slice(-10_000);
      const [listening] = /http:\/\/127\.0\.0\.1:\d+/.exec(said) ?? [];
      if (listening !== undefined) resolve(listening);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("exit", (code) => reject(new Error(`exit ${code}: ${said}`)));
  });
  const journal = new DatabaseSync(join(folder, "venturi.db"), { readOnly: true });
  return { child, url, folder, due: dueIn(journal), journal };
}

function dueIn(journal) {
  return () => count(journal, "SELECT count(*) AS n FROM key_values WHERE space = 'shadows'");
}

function shadowsOf({ journal }) {
  return count(journal, "SELECT count(*) AS n FROM runs WHERE tenant = '(shadow)'");
}

function count(journal, sql) {
  return Number(journal.prepare(sql).get()?.n ?? 0);
}

/** ms of CPU time so far, of all threads; Linux counts in hundredths of a second. */
function timeOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
