// Venturi as a gateway beside others: the same upstream, the same clients, by turns. (Linux: memory and time come from /proc.)
// The first token is sent as soon as the upstream has the request: its time is what everything before and after it takes.
// node bench/gateways.mjs [--streams 1,50,500] [--every 50] [--chunks 60] [--ramp 500] [--repetitions 3] [--subjects pass-through,venturi,…] [--json]
// The streams of a repetition begin within --ramp ms.
// LiteLLM (pip) and Portkey (npm) are installed on first use into ~/.cache/venturi-gateways (or VENTURI_GATEWAYS); Bifrost is taken from
// its bin folder (`GOBIN=… go install github.com/maximhq/bifrost/transports/bifrost-http@latest`). What is missing is skipped.
import { fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { createServer } from "node:net";
import { homedir, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { memoryOf, timeOf } from "./proc.mjs";
import { median, stop, upstream } from "./processes.mjs";

const { values: options } = parseArgs({
  options: {
    streams: { type: "string", default: "1,50,500" },
    every: { type: "string", default: "50" },
    chunks: { type: "string", default: "60" },
    ramp: { type: "string", default: "500" },
    repetitions: { type: "string", default: "3" },
    subjects: { type: "string", default: "pass-through,venturi,venturi-all,litellm,portkey,bifrost" },
    json: { type: "boolean" },
  },
});
const cache = process.env.VENTURI_GATEWAYS ?? join(homedir(), ".cache", "venturi-gateways");
const folder = mkdtempSync(join(tmpdir(), "venturi-gateways-"));
const baseURL = await upstream();
const model = `paced-${options.every}-${options.chunks}`;
const key = "bench-key-of-no-value";
const now = () => Number(process.hrtime.bigint() / 1000n);
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
const children = [];
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

const sqlite = `{ type: sqlite, path: ${join(folder, "gateway.db")} }`;
const subjects = {
  "pass-through": () => passThrough("./proxy.mjs"),
  "pass-through-sqlite": () => passThrough("./durable-proxy.mjs", join(folder, "chunks.db")),
  venturi: () => venturi({ telemetry: "off", journal: "{ type: memory }" }),
  "venturi-all": () => venturi({ telemetry: "{ chunks: spans }", journal: sqlite }),
  "venturi-sqlite": () => venturi({ telemetry: "off", journal: sqlite }),
  "venturi-4-even": () =>
    venturi({ telemetry: "{ chunks: spans }", journal: sqlite, set: ["server.processes=4", "server.placement=even"] }),
  "venturi-4": () => venturi({ telemetry: "{ chunks: spans }", journal: sqlite, set: ["server.processes=4"] }),
  litellm,
  portkey,
  bifrost,
};

const results = {};
for (const name of options.subjects.split(",")) {
  const gateway = await subjects[name]();
  if (typeof gateway === "string") {
    console.error(`${name}: skipped, ${gateway}`);
    continue;
  }
  results[name] = {};
  await load(gateway, 20); // warm
  for (const count of options.streams.split(",").map(Number)) {
    const runs = [];
    for (let i = 0; i < Number(options.repetitions); i++) runs.push(await load(gateway, count));
    const of = (figure) => median(runs.map((run) => run[figure]));
    results[name][count] = { cpu: of("cpu"), first50: of("first50"), first99: of("first99"), rss: of("rss") };
  }
  gateway.child.kill("SIGKILL");
}
stop();
if (options.json) console.log(JSON.stringify({ date: new Date().toISOString(), load: loadavg()[0], results }));
else print();
process.exit();

function print() {
  console.log(`a chunk every ${options.every} ms, ${options.chunks} chunks; load ${loadavg()[0].toFixed(1)}`);
  console.log("gateway        streams  µs a chunk  × venturi-all  first token p50 ms     p99 ms  RSS MB");
  for (const [name, counts] of Object.entries(results)) {
    for (const [count, { cpu, first50, first99, rss }] of Object.entries(counts)) {
      const ours = results["venturi-all"]?.[count]?.cpu;
      const cells = [
        name.padEnd(14),
        count.padStart(7),
        cpu.toFixed(0).padStart(11),
        (ours === undefined ? "" : (cpu / ours).toFixed(2)).padStart(14),
        first50.toFixed(2).padStart(19),
        first99.toFixed(2).padStart(10),
        rss.toFixed(0).padStart(7),
      ];
      console.log(cells.join(" "));
    }
  }
}

/** `count` streams at a time: processor time of the gateway per chunk, and how long after its request the first token came. */
async function load({ url, headers = {}, name = model, child }, count) {
  const time = timeOf(child.pid);
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, memoryOf(child.pid) / 1000);
  }, 50);
  const streams = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, (index * Number(options.ramp)) / count));
      return await stream(url, headers, name);
    }),
  );
  clearInterval(watch);
  const chunks = streams.reduce((sum, { delays }) => sum + delays.length, 0);
  if (chunks < count * Number(options.chunks) * 0.9) throw new Error(`${url}: ${chunks} chunks arrived`);
  const firsts = streams.map(({ first }) => first).sort((left, right) => left - right);
  const at = (part) => firsts[Math.min(firsts.length - 1, Math.floor(firsts.length * part))];
  return {
    cpu: ((timeOf(child.pid) - time) * 1000) / chunks,
    first50: at(0.5),
    first99: at(0.99),
    rss: Math.max(most, memoryOf(child.pid) / 1000),
  };
}

/** How old each stamp was when it came, µs, and when the first token came, ms after the request. */
function stream(url, headers, name) {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const all = { "content-type": "application/json", authorization: `Bearer ${key}`, ...headers };
    const sent = request(`${url}/chat/completions`, { method: "POST", agent, headers: all }, (response) => {
      const delays = [];
      let text = "";
      let first;
      response.setEncoding("utf8");
      response.on("data", (piece) => {
        if (response.statusCode !== 200) text += piece;
        if (first === undefined && piece.includes('"R ')) first = performance.now() - start;
        for (const [, stamp] of piece.matchAll(/T(\d+) /g)) delays.push(now() - Number(stamp));
      });
      response.on("end", () =>
        response.statusCode === 200
          ? resolve({ delays, first })
          : reject(new Error(`${url}: ${response.statusCode} ${text}`)),
      );
    });
    sent.on("error", reject);
    sent.end(JSON.stringify({ model: name, stream: true, messages: [{ role: "user", content: "go" }] }));
  });
}

async function passThrough(file, ...more) {
  const child = fork(new URL(file, import.meta.url), [baseURL, ...more], { execArgv: ["--no-warnings"] });
  children.push(child);
  const [port] = await once(child, "message");
  return { url: `http://127.0.0.1:${port}`, child };
}

async function venturi({ telemetry, journal, set = ["server.wedged=0s"] }) {
  const port = await freePort();
  const config = join(folder, `venturi-${port}.yaml`);
  writeFileSync(
    config,
    `version: 1
providers: { up: { type: openai, apiKey: x, baseUrl: ${JSON.stringify(baseURL)} } }
agents: { ${model}: { model: up/${model} } }
journal: ${journal}
channels: { openai: {} }
server: { listen: 127.0.0.1:${port} }
dataFolder: ${folder}
telemetry: ${telemetry}
`,
  );
  const bin = new URL("../dist/src/cli/bin.js", import.meta.url).pathname;
  const args = [
    ...serviceFlags(),
    bin,
    "start",
    "--quiet",
    "--config",
    config,
    ...set.flatMap((each) => ["--set", each]),
  ];
  const gateway = await ready({
    command: process.execPath,
    args,
    url: `http://127.0.0.1:${port}/openai/v1`,
    probe: "/../../readyz",
  });
  // A first start keeps its compiled code in the sixth second, which takes 0.1 s.
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  return gateway;
}

/** As `npm start` and the container start it. */
function serviceFlags() {
  const { scripts } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  return /node (--\S+ )+dist/.exec(scripts.start)?.[0].split(" ").slice(1, -1) ?? [];
}

async function litellm() {
  const python = join(cache, "venv", "bin", "python");
  const bin = join(cache, "venv", "bin", "litellm");
  if (!existsSync(bin)) {
    mkdirSync(cache, { recursive: true });
    const made = spawnSync("python3", ["-m", "venv", join(cache, "venv")]);
    if (made.status !== 0) return "python3 -m venv failed";
    const installed = spawnSync(python, ["-m", "pip", "install", "-q", "litellm[proxy]"], { stdio: "inherit" });
    if (installed.status !== 0) return "pip install litellm[proxy] failed";
  }
  const port = await freePort();
  const config = join(folder, "litellm.yaml");
  writeFileSync(
    config,
    `model_list:\n  - model_name: ${model}\n    litellm_params: { model: openai/${model}, api_base: "${baseURL}", api_key: x }\n`,
  );
  const url = `http://127.0.0.1:${port}/v1`;
  const args = ["--config", config, "--port", String(port)];
  return await ready({
    command: bin,
    args,
    url,
    probe: "/../health/liveliness",
    env: { LITELLM_MASTER_KEY: `sk-${key}` },
  }).then((gateway) =>
    typeof gateway === "string" ? gateway : { ...gateway, headers: { authorization: `Bearer sk-${key}` } },
  );
}

async function portkey() {
  const home = join(cache, "node");
  const start = join(home, "node_modules/@portkey-ai/gateway/build/start-server.js");
  if (!existsSync(start)) {
    mkdirSync(home, { recursive: true });
    // 1.15.2 cannot answer with the newest hono that its range allows.
    const overrides = { hono: "4.9.7", "@hono/node-server": "1.13.7" };
    const dependencies = { "@portkey-ai/gateway": "1.15.2" };
    writeFileSync(join(home, "package.json"), JSON.stringify({ private: true, dependencies, overrides }));
    if (spawnSync("npm", ["install"], { cwd: home, stdio: "inherit" }).status !== 0) return "npm install failed";
  }
  const port = await freePort();
  const args = [start, "--headless", `--port=${port}`];
  const env = { PORT: String(port), TRUSTED_CUSTOM_HOSTS: "localhost,127.0.0.1" };
  const gateway = await ready({
    command: process.execPath,
    args,
    url: `http://127.0.0.1:${port}/v1`,
    probe: "/../",
    env,
  });
  if (typeof gateway === "string") return gateway;
  return { ...gateway, headers: { "x-portkey-provider": "openai", "x-portkey-custom-host": baseURL } };
}

async function bifrost() {
  const bin = join(cache, "bin", "bifrost-http");
  if (!existsSync(bin)) return `there is no ${bin}`;
  const home = join(folder, "bifrost");
  mkdirSync(home, { recursive: true });
  const origin = baseURL.replace(/\/v1$/, "");
  const provider = {
    keys: [{ name: "k", value: "x", models: ["*"], weight: 1 }],
    network_config: { base_url: origin },
  };
  const config = {
    client: { enable_logging: false },
    providers: { openai: provider },
    config_store: { enabled: false },
  };
  writeFileSync(join(home, "config.json"), JSON.stringify(config));
  const port = await freePort();
  const args = ["-app-dir", home, "-port", String(port), "-host", "127.0.0.1", "-log-level", "error"];
  const gateway = await ready({ command: bin, args, url: `http://127.0.0.1:${port}/v1`, probe: "/../health" });
  return typeof gateway === "string" ? gateway : { ...gateway, name: `openai/${model}` };
}

async function ready({ command, args, url, probe, env = {} }) {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  let said = "";
  for (const out of [child.stdout, child.stderr])
    out.on("data", (text) => {
      said = (said + text).slice(-2000);
    });
  for (let tries = 0; tries < 600; tries++) {
    const answer = await fetch(new URL(`${url}${probe}`)).catch(() => undefined);
    if (answer !== undefined && answer.status < 500) return { url, child };
    if (child.exitCode !== null) return `it ended: ${said}`;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return `it was not ready: ${said}`;
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}
