// What a second process brings, on each journal: 200 concurrent runs, a tool round and 200 text chunks each, chunk spans exported.
//   node bench/scale.mjs [--journal sqlite] [--journal postgres] [--journal nats-r1] [--journal nats-r3] [--processes 1,2]
//                        [--runs 200] [--seconds 10] [--warmup 8] [--chunks 200] [--rounds 1] [--pin] [--json]
// Everything shares the machine: service, journal's server, model server, collector and load. So besides runs/s it accounts the
// processor time of each part (Linux: /proc), from which follows what the service could do with the cores to itself.
// With --pin all of it is kept on as many cores as there are processes (taskset): what a process with one more core brings.
import { fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { NatsCluster } from "../dist/test/plugins/nats/cluster.js";
import { Cluster } from "../dist/test/plugins/postgres/cluster.js";
import { findNatsServer } from "../scripts/nats-server.mjs";
import { load } from "./raw-clients.mjs";

const { values } = parseArgs({
  options: {
    journal: { type: "string", multiple: true, default: ["sqlite", "postgres", "nats-r1", "nats-r3"] },
    processes: { type: "string", default: "1,2" },
    runs: { type: "string", default: "200" },
    seconds: { type: "string", default: "10" },
    warmup: { type: "string", default: "8" },
    chunks: { type: "string", default: "200" },
    rounds: { type: "string", default: "1" },
    pin: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const [concurrent, seconds, warmup, chunks, rounds] = ["runs", "seconds", "warmup", "chunks", "rounds"].map((key) =>
  Number(values[key]),
);
const counts = values.processes.split(",").map(Number);
const helpers = { upstream: await helper("./raw-upstream.mjs"), collector: await helper("./sink.mjs") };
const cores = availableParallelism();
if (!values.json) {
  console.log(
    `${concurrent} concurrent runs of ${chunks} chunks for ${seconds} s, ${cores} cores, load ${loadavg()[0].toFixed(1)}`,
  );
  console.log(
    "CPU in ms a run: the service, its busiest thread, the journal's server, load and model server and collector.",
  );
  console.log("alone: runs/s that the service's own CPU would allow on all cores, and its busiest thread on one.");
  console.log(
    "journal   proc  runs/s  events/s   p50 ms   p99 ms |  service  thread  server   rest |  us/event  alone  others %",
  );
}
const results = [];
for (const name of values.journal) {
  if (name.startsWith("nats") && (await findNatsServer()) === undefined) {
    console.log(`${name.padEnd(9)} skipped: no nats-server here (node scripts/nats-server.mjs fetches one)`);
    continue;
  }
  for (let round = 0; round < rounds; round++)
    for (const processes of counts) results.push(await measure(name, processes));
  report(name);
}
if (values.json) console.log(JSON.stringify(results));
for (const { child } of Object.values(helpers)) child.kill();
process.exit();

/** On the first cores, with whatever is started from now on. Returns how many cores there are to use. */
function pin(processes) {
  if (!values.pin) return cores;
  const used = Math.min(processes, cores);
  for (const pid of [process.pid, ...Object.values(helpers).map(({ child }) => child.pid)]) {
    const { status, error, stderr } = spawnSync("taskset", ["-a", "-p", "-c", `0-${used - 1}`, String(pid)]);
    if (status !== 0) throw new Error(`--pin needs taskset (util-linux): ${error?.message ?? stderr}`);
  }
  return used;
}

async function measure(name, processes) {
  const usable = pin(processes);
  const folder = mkdtempSync(join(tmpdir(), "venturi-scale-"));
  const engine = await open(name, folder);
  const service = await start(folder, engine.journal, processes);
  try {
    const body = '{"agent":"tool","input":"go"}';
    await load(service.url, { clients: concurrent, seconds: warmup, body });
    const before = { ...accounts(service.child.pid), machine: machineTime() };
    const { wall, times, events } = await load(service.url, { clients: concurrent, seconds, body });
    const after = { ...accounts(service.child.pid), machine: machineTime() };
    const runs = times.length;
    times.sort((left, right) => left - right);
    const per = (part) => (after[part] - before[part]) / runs;
    const busiest = Math.max(...[...after.threads].map(([id, ms]) => ms - (before.threads.get(id) ?? 0))) / runs;
    const total = per("service") + per("server") + per("rest");
    const passed = after.machine.total - before.machine.total;
    const others = 1 - ((total * runs) / 10 + after.machine.idle - before.machine.idle) / passed;
    const result = {
      journal: name,
      processes,
      runsPerSecond: (runs / wall) * 1000,
      eventsPerSecond: (events / wall) * 1000,
      p50: times[Math.floor(runs * 0.5)],
      p99: times[Math.floor(runs * 0.99)],
      cpu: { service: per("service"), thread: busiest, server: per("server"), rest: per("rest"), total },
      microsPerEvent: ((per("service") + per("server")) / (events / runs)) * 1000,
      // One thread cannot use more than a core; all of it not more than there are.
      alone: Math.min(1000 / busiest, (1000 * usable) / (per("service") + per("server"))),
      reachable: Math.min(1000 / busiest, (1000 * usable) / total),
      // Share of the machine that went to other programs and other machines: with more than a few percent, runs/s say little.
      others: Math.max(0, others),
    };
    if (!values.json) print(result);
    return result;
  } finally {
    service.child.kill("SIGTERM");
    if (service.child.exitCode === null) await once(service.child, "exit");
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function print({ journal, processes, cpu, ...result }) {
  const number = (value, digits, width) => value.toFixed(digits).padStart(width);
  console.log(
    `${journal.padEnd(9)} ${String(processes).padStart(4)} ${number(result.runsPerSecond, 1, 7)} ${number(result.eventsPerSecond, 0, 9)} ${number(result.p50, 0, 8)} ${number(result.p99, 0, 8)} | ${number(cpu.service, 2, 8)} ${number(cpu.thread, 2, 7)} ${number(cpu.server, 2, 7)} ${number(cpu.rest, 2, 6)} | ${number(result.microsPerEvent, 1, 9)} ${number(result.alone, 0, 6)} ${number(result.others * 100, 0, 9)}`,
  );
}

/** Ratios to the first number of processes, each the median of the rounds. */
function report(name) {
  const own = results.filter(({ journal }) => journal === name);
  const median = (processes, pick) => {
    const all = own.filter((each) => each.processes === processes).map(pick);
    return all.sort((left, right) => left - right)[all.length >> 1];
  };
  const [base, ...others] = counts;
  for (const processes of others) {
    const ratio = (pick) => median(processes, pick) / median(base, pick);
    const ratios = {
      journal: name,
      processes,
      runs: ratio((each) => each.runsPerSecond),
      p99: ratio((each) => each.p99),
      cpuPerRun: ratio((each) => each.cpu.service),
      alone: ratio((each) => each.alone),
      reachable: ratio((each) => each.reachable),
    };
    if (values.json) results.push({ ratios });
    else
      console.log(
        `          ${processes}:${base}   runs/s × ${ratios.runs.toFixed(2)}, p99 × ${ratios.p99.toFixed(2)}, CPU a run × ${ratios.cpuPerRun.toFixed(2)}; by the account × ${ratios.alone.toFixed(2)} with the cores to itself, × ${ratios.reachable.toFixed(2)} with everything on these`,
      );
  }
}

/** ms of processor time so far, of each part, and of each thread of the service. */
function accounts(service) {
  const parents = new Map();
  for (const name of readdirSync("/proc")) if (/^\d+$/.test(name)) parents.set(Number(name), parentOf(Number(name)));
  const below = (pid, root) => {
    for (let at = pid; at !== undefined && at > 1; at = parents.get(at)) if (at === root) return true;
    return false;
  };
  const rest = Object.values(helpers).map(({ child }) => child.pid);
  const sum = { service: 0, server: 0, rest: 0, threads: new Map() };
  for (const pid of parents.keys()) {
    if (!below(pid, process.pid)) continue;
    const ms = timeOf(`/proc/${pid}/stat`);
    if (below(pid, service)) {
      sum.service += ms;
      for (const thread of list(`/proc/${pid}/task`)) {
        sum.threads.set(`${pid} ${thread}`, timeOf(`/proc/${pid}/task/${thread}/stat`));
      }
    } else if (pid === process.pid || rest.includes(pid)) sum.rest += ms;
    else sum.server += ms;
  }
  return sum;
}

/** Of the whole machine so far, in hundredths of a second. */
function machineTime() {
  const [, ...fields] = readFileSync("/proc/stat", "utf8").split("\n", 1)[0].split(/ +/).map(Number);
  return { total: fields.slice(0, 8).reduce((sum, each) => sum + each, 0), idle: fields[3] + fields[4] };
}

function list(path) {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function fieldsOf(path) {
  try {
    return readFileSync(path, "utf8").split(") ").at(-1).split(" ");
  } catch {
    return []; // ended meanwhile
  }
}

function parentOf(pid) {
  return Number(fieldsOf(`/proc/${pid}/stat`)[1] ?? 0);
}

function timeOf(path) {
  const fields = fieldsOf(path);
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 10;
}

async function open(name, folder) {
  if (name === "sqlite") {
    return { journal: { type: "sqlite", path: join(folder, "venturi.db") }, close: async () => {} };
  }
  if (name === "postgres") {
    const cluster = await Cluster.start("on", { shared_buffers: "128MB" });
    return { journal: { type: "postgres", url: cluster.url }, close: () => cluster.stop() };
  }
  const size = name === "nats-r3" ? 3 : 1;
  const cluster = await NatsCluster.start({ size });
  const journal = { type: "nats", servers: cluster.servers, monitors: cluster.monitors, replicas: size };
  return { journal, close: () => cluster.stop() };
}

async function start(folder, journal, processes) {
  const config = {
    version: 1,
    dataFolder: folder,
    providers: { up: { type: "openai", apiKey: "x", baseUrl: `http://127.0.0.1:${helpers.upstream.port}/v1` } },
    tools: { lookup: { type: "module", path: new URL("./lookup.mjs", import.meta.url).pathname } },
    agents: { tool: { model: `up/tool-${chunks}`, instructions: "Be brief.", tools: ["lookup"] } },
    journal,
    channels: { http: {} },
    server: { listen: "127.0.0.1:0", processes },
    telemetry: {
      otlp: { endpoint: `http://127.0.0.1:${helpers.collector.port}` },
      logs: { level: "info", format: "json" },
    },
  };
  const file = join(folder, "venturi.yaml");
  writeFileSync(file, JSON.stringify(config));
  const bin = new URL("../dist/src/cli/bin.js", import.meta.url).pathname;
  const child = spawn(
    process.execPath,
    ["--no-warnings", bin, "start", "--quiet", "--config", file, "--set", "server.wedged=0s"],
    {
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  const url = await new Promise((resolve, reject) => {
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      said = `${said}${text}`.slice(-10_000);
      const [, found] = /"url":"(http:[^"]+)"[^\n]*"listening"/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", (code) => reject(new Error(`the service ended with ${code}: ${said}`)));
  });
  return { child, url };
}

async function helper(file) {
  const child = fork(new URL(file, import.meta.url), [], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const [port] = await once(child, "message");
  return { child, port };
}
