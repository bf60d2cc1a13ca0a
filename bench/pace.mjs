// npm run bench:pace [-- --tokens 1000] [--rate 200] [--journal memory|sqlite] [--repetitions 5] [--streams 1]
// Whether a client sees the vendor's rhythm: a vendor says a token every 5 ms, with a pause now and then, each token with the
// time it was said. Per token: how much later it arrives than the typical one. Directly and through Venturi, by turns, since
// on a shared machine the difference between the two is what means something. With SQLite also what the disk takes to sync, at
// the same rhythm: a token is shown when it is durable, so it cannot be earlier than that.
import { spawn } from "node:child_process";
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values: options } = parseArgs({
  options: {
    tokens: { type: "string", default: "1000" },
    rate: { type: "string", default: "200" },
    journal: { type: "string", default: "memory" },
    repetitions: { type: "string", default: "5" },
    streams: { type: "string", default: "1" },
    vendor: { type: "boolean" },
  },
});
const now = () => performance.timeOrigin + performance.now();

if (options.vendor) serveTokens();
else await compare();

/** The vendor, a process of its own. */
function serveTokens() {
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const start = performance.now();
    const interval = 1_000 / Number(options.rate);
    let due = start;
    for (let token = 0; token < Number(options.tokens); token++) {
      // A pause of 60 ms every 50 tokens: a rhythm that any smoothing or batching would show.
      due += token % 50 === 49 ? 60 : interval;
      const wait = due - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      const content = `<${token} ${now().toFixed(3)}>`;
      response.write(`data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content } }] })}\n\n`);
    }
    response.end('data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
  });
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
}

async function compare() {
  const folder = mkdtempSync(join(tmpdir(), "venturi-pace-"));
  const vendor = await startProcess([
    fileURLToPath(import.meta.url),
    "--vendor",
    "--tokens",
    options.tokens,
    "--rate",
    options.rate,
  ]);
  const config = join(folder, "venturi.yaml");
  const journal = options.journal === "sqlite" ? "{ type: sqlite, path: ./journal.db }" : "{ type: memory }";
  writeFileSync(
    config,
    `version: 1
providers: { up: { type: openai, baseUrl: "${vendor.url}/v1" } }
agents: { agent: { model: up/m } }
journal: ${journal}
channels: { openai: {} }
server: { listen: "127.0.0.1:0" }
telemetry: { logs: { level: info } } # the address is in the log
`,
  );
  const bin = fileURLToPath(new URL("../dist/src/cli/bin.js", import.meta.url));
  const venturi = await startProcess(["--no-warnings", bin, "start", "--config", config]);
  const subjects = {
    direct: `${vendor.url}/v1/chat/completions`,
    venturi: `${venturi.url}/openai/v1/chat/completions`,
  };
  const late = { direct: [], venturi: [], ...(options.journal === "sqlite" ? { disk: [] } : {}) };
  try {
    for (const url of Object.values(subjects)) await lateness(url); // warms up
    for (let repetition = 0; repetition < Number(options.repetitions); repetition++) {
      for (const [name, url] of Object.entries(subjects)) {
        const streams = Array.from({ length: Number(options.streams) }, () => lateness(url));
        late[name].push(...(await Promise.all(streams)).flat());
      }
      if (late.disk !== undefined) late.disk.push(...(await syncs(join(folder, "probe"))));
    }
  } finally {
    venturi.stop();
    vendor.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(
    `${options.rate} tokens/s, ${late.direct.length} tokens each, streams at a time: ${options.streams}, journal ${options.journal}, load average ${loadavg()[0].toFixed(1)}; ms later or earlier than the typical token`,
  );
  console.log("subject   p50    p99    max    within 10 ms");
  for (const [name, values] of Object.entries(late)) {
    const sorted = values.map(Math.abs).sort((left, right) => left - right);
    const at = (share) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(2);
    const within = ((100 * sorted.filter((ms) => ms <= 10).length) / sorted.length).toFixed(2);
    console.log(`${name.padEnd(8)} ${at(0.5).padStart(5)}  ${at(0.99).padStart(5)}  ${at(1).padStart(6)}  ${within} %`);
  }
}

/** How much later each token came than the typical one of its stream, ms. */
async function lateness(url) {
  const body = JSON.stringify({ model: "agent", stream: true, messages: [{ role: "user", content: "count" }] });
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  const decoder = new TextDecoder();
  const delays = [];
  let rest = "";
  for await (const bytes of response.body) {
    const at = now();
    rest += decoder.decode(bytes, { stream: true });
    const tokens = [...rest.matchAll(/<(\d+) ([\d.]+)>/g)];
    for (const [, , said] of tokens) delays.push(at - Number(said));
    const last = tokens.at(-1);
    if (last !== undefined) rest = rest.slice(last.index + last[0].length);
  }
  if (delays.length !== Number(options.tokens))
    throw new Error(`${delays.length} tokens came, ${options.tokens} were said`);
  const median = [...delays].sort((left, right) => left - right)[Math.floor(delays.length / 2)];
  return delays.map((delay) => delay - median);
}

/** How long the disk takes to make a page durable, ms, written as often as a token comes. */
async function syncs(file) {
  const descriptor = openSync(file, "w");
  const page = Buffer.alloc(8192);
  const took = [];
  for (let write = 0; write < Number(options.tokens) / 4; write++) {
    const start = performance.now();
    writeSync(descriptor, page, 0, page.length, write * page.length);
    fdatasyncSync(descriptor);
    took.push(performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 1_000 / Number(options.rate)));
  }
  closeSync(descriptor);
  return took;
}

/** A process that prints its address. */
function startProcess(args) {
  return new Promise((started, failed) => {
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    const look = (piece) => {
      said += piece;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
      if (found !== null) started({ url: found[0], stop: () => child.kill("SIGTERM") });
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    child.on("exit", (code) => failed(new Error(`it ended with ${code}:\n${said}`)));
  });
}
