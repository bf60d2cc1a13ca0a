// The service as its clients see it, against a raw pass-through in the same run (Linux: memory and time come from /proc).
// node bench/service.mjs [--streams 1000] [--every 200] [--chunks 25] [--followers 100] [--journal memory] [--journal sqlite] [--flag=--a-flag-of-node] [--json]
// --by-second: also the delays of each second of the streams, which start within one second and end within one.
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { memoryOf, timeOf } from "./proc.mjs";
import { stop, upstream } from "./processes.mjs";

const { values: options } = parseArgs({
  options: {
    streams: { type: "string", default: "1000" },
    every: { type: "string", default: "200" },
    chunks: { type: "string", default: "25" },
    followers: { type: "string", default: "100" },
    journal: { type: "string", multiple: true, default: ["memory", "sqlite"] },
    flag: { type: "string", multiple: true },
    "by-second": { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const [streams, every, chunks, followers] = ["streams", "every", "chunks", "followers"].map((key) =>
  Number(options[key]),
);
const now = () => Number(process.hrtime.bigint() / 1000n);
const agent = new Agent({ keepAlive: true, maxSockets: 5000 });
const baseURL = await upstream();
const paced = `paced-${every}-${chunks}`;

const results = {};
const print = (...cells) => options.json || console.log(...cells);
print(`${streams} streams, a chunk every ${every} ms each, ${chunks} chunks`);
print("subject            p50 ms   p99 ms   max ms   cpu %   kB a stream");
const proxy = fork(new URL("./proxy.mjs", import.meta.url), [baseURL]);
const [port] = await once(proxy, "message");
const direct = { url: `http://127.0.0.1:${port}/`, body: { model: paced, stream: true, messages: [] } };
await stream("pass-through", proxy.pid, direct);
proxy.kill();
for (const journal of options.journal) {
  const service = await start(journal);
  await stream(`venturi, ${journal}`, service.pid, {
    url: `${service.url}/v1/runs`,
    body: { agent: "paced", input: "go" },
  });
  if (journal === "memory" && !options.json) await fanOut(service);
  service.child.kill();
  await once(service.child, "exit");
}
stop();
if (options.json) console.log(JSON.stringify(results));
process.exit();

async function stream(name, pid, { url, body }) {
  await Promise.all(Array.from({ length: 20 }, () => follow(url, body)));
  const before = memoryOf(pid);
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, memoryOf(pid));
  }, 100);
  // Twice the load that is measured, so that the code is compiled by then. The first of it shows what it takes in memory.
  for (let i = 0; i < 2; i++) {
    await Promise.all(Array.from({ length: streams }, () => follow(url, body)));
    clearInterval(watch);
  }
  const time = timeOf(pid);
  const started = performance.now();
  const delays = [];
  const seconds = [];
  await Promise.all(
    Array.from({ length: streams }, async (_, i) => {
      await new Promise((resolve) => setTimeout(resolve, (i * 1000) / streams));
      for (const [chunk, delay] of (await follow(url, body)).entries()) {
        if (chunk < 2) continue;
        delays.push(delay);
        const second = Math.floor((chunk * every) / 1000);
        seconds[second] ??= [];
        seconds[second].push(delay);
      }
    }),
  );
  const busy = ((timeOf(pid) - time) / (performance.now() - started)) * 100;
  const at = quantiles(delays);
  const each = ((most - before) / streams).toFixed(0);
  results[name] = { p50: Number(at(0.5)), p99: Number(at(0.99)), cpu: busy, kilobytes: Number(each) };
  print(name.padEnd(17), at(0.5), at(0.99), at(0.99999), busy.toFixed(0).padStart(7), each.padStart(13));
  if (!options["by-second"]) return;
  for (const [second, some] of seconds.entries()) {
    const within = quantiles(some ?? []);
    console.log(`  second ${second}`.padEnd(17), within(0.5), within(0.99), within(0.99999));
  }
}

/** In ms, for the table. */
function quantiles(delays) {
  delays.sort((left, right) => left - right);
  return (part) => (delays[Math.floor(delays.length * part)] / 1000).toFixed(2).padStart(8);
}

/** How old each stamp was when it came, in µs. */
function follow(url, body, method = "POST") {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", accept: "text/event-stream" };
    const sent = request(url, { method, agent, headers }, (response) => {
      const delays = [];
      response.setEncoding("utf8");
      response.on("data", (text) => {
        // The terminal event repeats the whole text; its stamps are old news.
        if (text.includes("run.finished")) return;
        const time = now();
        for (const [, stamp] of text.matchAll(/"T(\d+) /g)) delays.push(time - Number(stamp));
      });
      response.on("end", () =>
        response.statusCode === 200 ? resolve(delays) : reject(new Error(`${response.statusCode}`)),
      );
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function fanOut(service) {
  const answer = await fetch(`${service.url}/v1/runs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ agent: "long", input: "go" }),
  });
  const { run } = await answer.json();
  const events = `${service.url}/v1/runs/${run}/events`;
  await Promise.all(Array.from({ length: followers }, () => follow(events, undefined, "GET")));
  const time = timeOf(service.pid);
  const started = performance.now();
  await Promise.all(Array.from({ length: followers }, () => follow(events, undefined, "GET")));
  const wall = performance.now() - started;
  const each = ((timeOf(service.pid) - time) * 1000) / followers / 1000;
  console.log(
    `${followers} followers of 1000 events: ${each.toFixed(2)} µs of processor an event, ${wall.toFixed(0)} ms in all`,
  );
}

async function start(journal) {
  const folder = mkdtempSync(join(tmpdir(), "venturi-service-"));
  const kept = journal === "sqlite" ? `{ type: sqlite, path: ${join(folder, "venturi.db")} }` : "{ type: memory }";
  writeFileSync(
    join(folder, "venturi.yaml"),
    `version: 1
providers: { up: { type: openai, apiKey: x, baseUrl: ${JSON.stringify(baseURL)} } }
agents:
  paced: { model: up/${paced}, instructions: Be brief. }
  long: { model: up/paced-2-1000, instructions: Be brief. }
journal: ${kept}
channels: { http: {} }
server: { listen: 127.0.0.1:0 }
telemetry: { logs: { level: info, format: json } }
`,
  );
  const bin = new URL("../dist/src/cli/bin.js", import.meta.url).pathname;
  const flags = options.flag ?? [];
  const child = spawn(
    process.execPath,
    [...flags, bin, "start", "--config", join(folder, "venturi.yaml"), "--set", "server.wedged=0s"],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let said = "";
  for await (const text of merged(child)) {
    said += text;
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(said) ?? [];
    if (url !== undefined) {
      child.stdout.resume();
      child.stderr.resume();
      return { child, url, pid: child.pid };
    }
  }
  throw new Error(said);
}

async function* merged(child) {
  const texts = [];
  let wake;
  for (const from of [child.stdout, child.stderr]) {
    from.on("data", (text) => {
      texts.push(text);
      wake?.();
    });
  }
  for (;;) {
    while (texts.length > 0) yield texts.shift();
    await new Promise((resolve) => {
      wake = resolve;
    });
  }
}
