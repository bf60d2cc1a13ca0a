// A service under steady load for a long time: what grows? (Linux: memory, handles and time come from /proc.)
// node bench/soak.mjs [--minutes 30] [--streams 1000] [--every 200] [--chunks 100] [--journal sqlite|memory] [--leaving 0.05]
//   [--faults 0.01] [--keep 10m] [--file venturi.db] [--flag=--a-flag-of-node] [--sample 60] [--json]
// Clients keep `streams` runs open; a share of them leaves early, and a share of the upstream's answers is cut. Every `sample` seconds one line:
// memory, heap, handles, size of the database and its WAL, delay of a chunk, and in the end the slope of each by linear fit over the
// second half. With --file it starts from a copy of that SQLite journal, whose runs are pruned once they are older than --keep.
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { Agent, createServer, request } from "node:http";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values: options } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    streams: { type: "string", default: "1000" },
    every: { type: "string", default: "200" },
    chunks: { type: "string", default: "100" },
    journal: { type: "string", default: "sqlite" },
    leaving: { type: "string", default: "0.05" },
    faults: { type: "string", default: "0.01" },
    keep: { type: "string", default: "10m" },
    file: { type: "string" },
    sample: { type: "string", default: "60" },
    flag: { type: "string", multiple: true },
    json: { type: "boolean" },
    upstream: { type: "boolean" },
  },
});
const number = (name) => Number(options[name]);
const now = () => Number(process.hrtime.bigint() / 1000n);
const seconds = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The model, a process of its own. */
function serveUpstream() {
  const open = new Set();
  const chunk = (delta, finish = null) =>
    `data: ${JSON.stringify({ id: "chatcmpl-1", model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const server = createServer((incoming, response) => {
    incoming.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(chunk({ role: "assistant", content: "" }));
    const cut = Math.random() < number("faults") ? Math.floor(Math.random() * number("chunks")) : -1;
    const stream = { left: number("chunks"), cut, next: performance.now() + Math.random() * number("every"), response };
    open.add(stream);
    response.once("close", () => open.delete(stream));
  });
  setInterval(() => {
    const time = performance.now();
    for (const stream of open) {
      if (stream.next > time) continue;
      stream.next += number("every");
      if (stream.left === stream.cut) stream.response.destroy();
      else if (stream.left-- > 0) stream.response.write(chunk({ content: `T${now()} ` }));
      else {
        open.delete(stream);
        stream.response.end(`${chunk({}, "stop")}data: [DONE]\n\n`);
      }
    }
  }, 2);
  server.listen(0, "127.0.0.1", 4096, () => process.send(server.address().port));
  process.on("disconnect", () => process.exit());
}

async function soak() {
  const folder = mkdtempSync(join(tmpdir(), "venturi-soak-"));
  const upstream = spawn(process.execPath, [import.meta.filename, "--upstream", ...process.argv.slice(2)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const [port] = await once(upstream, "message");
  const service = await start(folder, port);
  const counts = { finished: 0, failed: 0, left: 0, gaps: 0, errors: 0, why: {} };
  let delays = [];
  let going = true;
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const clients = Array.from({ length: number("streams") }, async (_, index) => {
    await seconds((index * number("every") * number("chunks")) / number("streams"));
    while (going) await oneRun({ url: service.url, agent, counts, late: (delay) => delays.push(delay) });
  });
  const samples = [];
  const started = performance.now();
  if (!options.json)
    console.log("minute   RSS MB  heap MB  handles    WAL MB     DB MB   p50 ms   p99 ms  CPU %     runs   load");
  const each = number("sample") / 60;
  for (let minute = each; minute <= number("minutes") + each / 2; minute += each) {
    const cpu = timeOf(service.pid);
    await seconds(Math.max(0, started + minute * 60_000 - performance.now()));
    const sorted = delays.sort((left, right) => left - right);
    delays = [];
    samples.push({
      minute,
      rss: memoryOf(service.pid),
      heap: await heapOf(service.url),
      handles: readdirSync(`/proc/${service.pid}/fd`).length,
      wal: sizeOf(join(folder, "venturi.db-wal")),
      database: sizeOf(join(folder, "venturi.db")),
      p50: sorted[Math.floor(sorted.length * 0.5)] / 1000,
      p99: sorted[Math.floor(sorted.length * 0.99)] / 1000,
      cpu: (timeOf(service.pid) - cpu) / (each * 600),
      runs: counts.finished,
      load: loadavg()[0],
    });
    if (!options.json) console.log(line(samples.at(-1)));
  }
  going = false;
  service.child.kill();
  await once(service.child, "exit");
  await Promise.allSettled(clients);
  upstream.kill();
  rmSync(folder, { recursive: true, force: true });
  report(samples, counts);
  process.exit();
}

function report(samples, counts) {
  const half = samples.slice(Math.floor(samples.length / 2));
  const slopes = Object.fromEntries(
    ["rss", "heap", "handles", "wal", "database", "p99"].map((key) => [key, slopeOf(half, key)]),
  );
  if (options.json) return console.log(JSON.stringify({ samples, counts, slopes }));
  console.log(`runs: ${JSON.stringify(counts)}`);
  for (const [key, { perMinute, error }] of Object.entries(slopes)) {
    const word = Math.abs(perMinute) <= 2 * error ? "0 within noise" : perMinute > 0 ? "grows" : "shrinks";
    console.log(
      `${key.padEnd(9)} ${perMinute.toFixed(3).padStart(10)} a minute ± ${error.toFixed(3)} (second half): ${word}`,
    );
  }
}

function countFailure(counts, frame) {
  counts.failed++;
  const [, why = "?"] = /"code":"([^"]+)"/.exec(frame) ?? [];
  counts.why[why] = (counts.why[why] ?? 0) + 1;
}

/** Least squares, with the standard error of the slope. */
function slopeOf(samples, key) {
  const points = samples.map((sample) => [sample.minute, sample[key] ?? 0]);
  const mean = (index) => points.reduce((sum, point) => sum + point[index], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const spread = points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
  if (spread === 0) return { perMinute: 0, error: 0 };
  const perMinute = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0) / spread;
  const rest = points.reduce((sum, point) => sum + (point[1] - y - perMinute * (point[0] - x)) ** 2, 0);
  return {
    perMinute,
    error: points.length < 3 ? Number.POSITIVE_INFINITY : Math.sqrt(rest / (points.length - 2) / spread),
  };
}

const line = (sample) =>
  [
    String(Number(sample.minute.toFixed(2))).padStart(6),
    sample.rss.toFixed(0).padStart(8),
    (sample.heap ?? Number.NaN).toFixed(0).padStart(8),
    String(sample.handles).padStart(8),
    sample.wal.toFixed(1).padStart(9),
    sample.database.toFixed(1).padStart(9),
    sample.p50.toFixed(2).padStart(8),
    sample.p99.toFixed(1).padStart(8),
    sample.cpu.toFixed(0).padStart(6),
    String(sample.runs).padStart(8),
    sample.load.toFixed(1).padStart(6),
  ].join(" ");

/** One run to its end, or until the client has had enough. Checks that no event is missing. */
function oneRun({ url, agent, counts, late }) {
  return new Promise((resolve) => {
    const headers = { "content-type": "application/json", accept: "text/event-stream" };
    const leaves =
      Math.random() < number("leaving") ? Math.ceil(Math.random() * number("chunks")) : Number.POSITIVE_INFINITY;
    let tokens = 0;
    let seq = 0;
    let rest = "";
    const sent = request(`${url}/v1/runs`, { method: "POST", agent, headers }, (response) => {
      response.setEncoding("utf8");
      response.on("data", (text) => {
        const time = now();
        const frames = (rest + text).split("\n\n");
        rest = frames.pop() ?? "";
        for (const frame of frames) {
          const id = Number(/^id: (\d+)/m.exec(frame)?.[1] ?? 0);
          if (id === 0) continue;
          if (id !== ++seq) counts.gaps++;
          if (frame.includes("event: run.finished")) counts.finished++;
          else if (frame.includes("event: run.failed")) countFailure(counts, frame);
          else for (const [, stamp] of frame.matchAll(/"T(\d+) /g)) if (++tokens > 2) late(time - Number(stamp));
        }
        if (tokens >= leaves) {
          counts.left++;
          response.destroy();
        }
      });
      response.on("close", resolve);
      response.on("error", () => {});
    });
    sent.on("error", () => {
      counts.errors++;
      setTimeout(resolve, 100);
    });
    sent.end(JSON.stringify({ agent: "paced", input: "go" }));
  });
}

async function start(folder, port) {
  const kept =
    options.journal === "sqlite"
      ? `{ type: sqlite, path: ${join(folder, "venturi.db")}, retention: { age: ${options.keep} } }`
      : "{ type: memory }";
  if (options.file !== undefined) copyFileSync(options.file, join(folder, "venturi.db"));
  const config = join(folder, "venturi.yaml");
  writeFileSync(
    config,
    `version: 1
providers: { up: { type: openai, apiKey: x, baseUrl: "http://127.0.0.1:${port}/v1" } }
agents: { paced: { model: up/paced, instructions: Be brief. } }
journal: ${kept}
channels: { http: {} }
server: { listen: 127.0.0.1:0 }
dataFolder: ${folder}
telemetry: { logs: { level: info, format: json } }
`,
  );
  const bin = new URL("../dist/src/cli/bin.js", import.meta.url).pathname;
  const args = [...(options.flag ?? []), bin, "start", "--config", config, "--set", "server.wedged=0s"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  return await new Promise((resolve, reject) => {
    let said = "";
    const read = (text) => {
      if (said === undefined) return;
      said += text;
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(said) ?? [];
      if (url === undefined) return;
      said = undefined;
      resolve({ child, url, pid: child.pid });
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", () => reject(new Error(said)));
  });
}

async function heapOf(url) {
  const text = await fetch(`${url}/metrics`).then(
    (answer) => (answer.ok ? answer.text() : ""),
    () => "",
  );
  const used = [...text.matchAll(/^v8js_memory_heap_used[^ ]* ([\d.e+]+)/gm)].reduce(
    (sum, [, value]) => sum + Number(value),
    0,
  );
  return used === 0 ? undefined : used / 1e6;
}

/** MB */
const memoryOf = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1000;
const sizeOf = (file) => (existsSync(file) ? statSync(file).size / 1e6 : 0);

/** ms of processor time so far; Linux counts in hundredths of a second. */
function timeOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

if (options.upstream) serveUpstream();
else await soak();
