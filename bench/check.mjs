// npm run bench:check [-- --record] [--peers] [--only run,gateway,first,one-stream,processes,service,postgres,soak,startup]
// Every figure that has a goal, each against a subject of the same call: fails when one has fallen behind recorded.json.
// --peers: other libraries in the same calls, two minutes more; with --record what `node bench/readme.mjs` writes into the README.
// About ten minutes when nobody else has the processors. A call from which other guests of the host took time is made again
// (quiet.mjs); rows of one that never was quiet are printed with what was stolen, and are neither compared nor recorded.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, homedir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isQuiet, quietly } from "./quiet.mjs";

const parts = { run, gateway, first, "one-stream": oneStream, processes, service, postgres, soak, startup };
const { values: options } = parseArgs({
  options: {
    record: { type: "boolean" },
    peers: { type: "boolean" },
    only: { type: "string", default: Object.keys(parts).join(",") },
  },
});
const recordedFile = new URL("./recorded.json", import.meta.url);
/** How much more than recorded is behind. Single delays and memory vary far more than processor time. */
const tolerances = { "×": 1.25, ms: 2, kB: 1.5, MB: 1.5 };

const recorded = JSON.parse(readFileSync(recordedFile, "utf8"));
const behind = [];
const found = {};
console.log("row                                                    now  recorded     goal");
const took = [];
/** Of the calls since the last row: the most that was stolen from one. */
let stolen = 0;
for (const name of options.only.split(",")) {
  const start = performance.now();
  for (const row of parts[name]()) report(row);
  stolen = 0;
  took.push(`${name} ${((performance.now() - start) / 1000).toFixed(0)} s`);
}
console.log(took.join(", "));
if (options.record) {
  const date = new Date().toISOString().slice(0, 10);
  const where = `${date}, Node ${process.versions.node}, ${cpus().length} processors`;
  writeFileSync(recordedFile, `${JSON.stringify({ ...recorded, ...found, where }, undefined, 2)}\n`);
}
for (const line of behind) console.error(`behind: ${line}`);
process.exitCode = behind.length === 0 || options.record ? 0 : 1;

function report([name, unit, value, goal]) {
  const before = recorded[name];
  const now = Number(value.toFixed(2));
  const cells = [now, before ?? "", goal ?? ""].map((cell) => String(cell).padStart(9));
  const quiet = isQuiet(stolen);
  console.log(name.padEnd(48), unit.padStart(3), ...cells, quiet ? "" : `  ${(stolen * 100).toFixed(0)} % stolen`);
  if (!quiet) {
    behind.push(`${name}: not measured, others had ${(stolen * 100).toFixed(0)} % of the processors' time`);
    return;
  }
  found[name] = now;
  // A millisecond more is nothing where the figure itself is around one.
  const most =
    before === undefined ? Number.POSITIVE_INFINITY : Math.max(before * tolerances[unit], unit === "ms" ? 2 : 0);
  if (now > most) behind.push(`${name}: ${now} ${unit}, was ${before}`);
}

/** The cost of a run against the floor. */
function* run() {
  const few = ["--repetitions", "3", "--warm", "3000"];
  // Each call is short, since quiet stretches can be.
  const calls = ["text,tool", "arguments,concurrent", "paced"].map((cases) =>
    bench("run.mjs", "--cases", cases, ...few),
  );
  const results = Object.assign({}, ...calls.map((call) => call.results));
  const goals = { text: [0.85, 1.3], tool: [undefined, 2], arguments: [], concurrent: [], paced: [1.2, 1.4] };
  for (const [name, of] of Object.entries(results)) {
    yield [`${name}, telemetry off`, "×", of["venturi-off"].ratio, goals[name][0]];
    yield [`${name}, spans`, "×", of.venturi.ratio, goals[name][1]];
  }
  const { wall, stall, kilobytes } = results.paced.venturi;
  yield ["paced, spans: p99", "ms", wall, 4];
  yield ["paced, spans: longest stall", "ms", stall, 60];
  yield ["paced, spans: a stream's memory", "kB", kilobytes, 80];
  if (!options.peers) return;
  const subjects = ["--subjects", "floor,venturi-off,ai-sdk", "--cases", "text,tool,arguments"];
  for (const [name, of] of Object.entries(bench("run.mjs", ...subjects, ...few).results)) {
    yield [`${name}, beside peers: telemetry off`, "×", of["venturi-off"].ratio];
    yield [`${name}, beside peers: AI SDK`, "×", of["ai-sdk"].ratio];
  }
}

/** A gateway with few and many streams, against raw pass-throughs, and Portkey where `gateways.mjs` has installed it. */
function* gateway() {
  const cache = process.env.VENTURI_GATEWAYS ?? join(homedir(), ".cache", "venturi-gateways");
  const peers = existsSync(join(cache, "node")) ? ",portkey" : "";
  const subjects = `pass-through,pass-through-sqlite,venturi,venturi-all${peers}`;
  for (const [streams, repetitions] of [
    ["1", "3"],
    ["50", "3"],
    ["500", "1"],
  ]) {
    const call = ["--subjects", subjects, "--streams", streams, "--repetitions", repetitions];
    const { results } = bench("gateways.mjs", ...call);
    const { "pass-through": through, "pass-through-sqlite": durable, "venturi-all": all, venturi, portkey } = results;
    yield [`gateway, ${streams} streams, telemetry off`, "×", venturi[streams].cpu / through[streams].cpu];
    yield [`gateway, ${streams} streams, SQLite and spans`, "×", all[streams].cpu / through[streams].cpu];
    yield [`gateway, ${streams} streams, one that stores each chunk`, "×", durable[streams].cpu / through[streams].cpu];
    if (portkey) {
      yield [`gateway, ${streams} streams, Portkey`, "×", portkey[streams].cpu / through[streams].cpu];
      yield [`gateway, ${streams} streams, beside Portkey`, "×", all[streams].cpu / portkey[streams].cpu, 1];
    }
    if (streams !== "50") continue;
    // They start within half a second.
    const added = Math.max(0, all[50].first99 - through[50].first99);
    yield ["gateway, 100 starts/s: first token, added p99", "ms", added, 10];
  }
}

/** One stream of 55 tokens a second. */
function* oneStream() {
  const few = ["--streams", "1", "--every", "18", "--chunks", "200", "--repetitions", "3"];
  const { results } = bench("gateways.mjs", "--subjects", "pass-through,pass-through-sqlite,venturi-sqlite", ...few);
  const { "pass-through": through, "pass-through-sqlite": durable, "venturi-sqlite": ours } = results;
  yield ["one stream, SQLite: a token", "×", ours[1].cpu / through[1].cpu];
  yield ["one stream, SQLite, beside one that stores it", "×", ours[1].cpu / durable[1].cpu];
  yield ["one stream, SQLite: a token's processor time", "ms", ours[1].cpu / 1000, 0.3];
}

/** One client at a time: when its first token comes. */
function* first() {
  const short = ["--streams", "1", "--every", "10", "--chunks", "5", "--repetitions", "40"];
  const { results } = bench("gateways.mjs", "--subjects", "pass-through,venturi-all", ...short);
  const { "pass-through": through, "venturi-all": ours } = results;
  yield ["one client: first token, added p50", "ms", Math.max(0, ours[1].first50 - through[1].first50), 2];
}

/** The same load over four processes and in one: streams that start within half a second, and over the time that one takes. */
function* processes() {
  const load = ["--streams", "200", "--every", "100", "--repetitions", "1"];
  for (const [name, ramp] of Object.entries({ "four processes against one": "500", "… begun one by one": "6000" })) {
    const { results } = bench("gateways.mjs", "--subjects", "venturi-all,venturi-4", "--ramp", ramp, ...load);
    yield [name, "×", results["venturi-4"][200].cpu / results["venturi-all"][200].cpu, 1.3];
  }
  const quarter = bench("gateways.mjs", "--subjects", "pass-through", ...load.with(1, "50,200"));
  const { 50: few, 200: all } = quarter.results["pass-through"];
  yield ["… a pass-through with a quarter of the streams", "×", few.cpu / all.cpu];
}

/** 1000 streams: how much later than a pass-through. */
function* service() {
  const flags = ["--flag=--max-semi-space-size=16", "--flag=--min-semi-space-size=8"];
  const { "pass-through": through, "venturi, sqlite": sqlite } = bench("service.mjs", "--journal", "sqlite", ...flags);
  yield ["1000 streams, SQLite: p99 over pass-through", "ms", Math.max(0, sqlite.p99 - through.p99), 8];
}

/** 1000 runs of 50 events a second each: how late an event is with a PostgreSQL server on the same machine. */
function* postgres() {
  const { sqlite, postgres } = bench("journal.mjs", "--engine", "sqlite", "--engine", "postgres", "--seconds", "8");
  yield ["PostgreSQL, 1000 × 50/s: p99 against SQLite's", "×", postgres.p99 / sqlite.p99];
  yield ["PostgreSQL, 1000 × 50/s: p99", "ms", postgres.p99, 30];
}

/** A minute of 1000 streams whose runs take 4 s each: what the second half adds. `soak.mjs --minutes 30` is the real thing. */
function* soak() {
  const flags = ["--flag=--max-semi-space-size=16", "--flag=--min-semi-space-size=8"];
  const { samples } = bench("soak.mjs", "--minutes", "1", "--sample", "5", "--chunks", "20", ...flags);
  const most = (some) => Math.max(...some.map(({ rss }) => rss));
  const half = samples.length / 2;
  yield ["soak: memory, second half against first", "×", most(samples.slice(half)) / most(samples.slice(0, half)), 1];
  yield ["soak: memory", "MB", most(samples), 350];
}

function* startup() {
  const found = bench("startup.mjs", "7");
  const node = found["node -e 0, for comparison"];
  yield ["npm start until ready, against node -e 0", "×", found["venturi start until ready"] / node];
  yield ["venturi run, against node -e 0", "×", found["venturi run, a short answer"] / node];
  yield ["npm start until ready", "ms", found["venturi start until ready"], 350];
  yield ["venturi run", "ms", found["venturi run, a short answer"], 400];
}

function bench(file, ...args) {
  const path = new URL(`./${file}`, import.meta.url).pathname;
  const { result, stolen: here } = quietly(() => {
    const { stdout, status } = spawnSync(process.execPath, ["--no-warnings", path, ...args, "--json"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
      maxBuffer: 2 ** 26,
    });
    if (status !== 0) throw new Error(`${file} ended with ${status}`);
    return JSON.parse(stdout.trim().split("\n").at(-1));
  }, file);
  stolen = Math.max(stolen, here);
  return result;
}
