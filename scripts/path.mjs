// Prints which functions of which files run for one text delta, one tool call and one provider error, from the provider's
// socket to the client's SSE frame, as V8's precise coverage counts them. Fails when a text delta takes more files or functions
// than scripts/path.json records, when a short run makes more calls, or when ARCHITECTURE.md's walk leaves out a file. The set-up is
// the shipped one: SQLite and telemetry. `--record` writes today's numbers; `--journal memory` and `--bare` (no telemetry) measure others.
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    record: { type: "boolean" },
    bare: { type: "boolean" },
    journal: { type: "string", default: "sqlite" },
    files: { type: "boolean" },
  },
});
const root = fileURLToPath(new URL("../", import.meta.url));
const budgets = new URL("path.json", import.meta.url);

/** Folders in the order a delta passes them. */
const stages = [
  "src/provider/http",
  "src/provider/frames",
  "src/provider",
  "plugins/openai",
  "src/provider/fast-json",
  "src/agent/model",
  "src/agent/tools",
  "src/agent/state",
  "src/agent",
  "src/host/runs",
  "src/journal",
  "plugins/memory",
  "plugins/sqlite",
  "src/core",
  "plugins/channel-http",
  "src/serve",
];

const upstream = await openUpstream();
const folder = mkdtempSync(join(tmpdir(), "venturi-path-"));
const { openService } = await import("../dist/src/host/service.js");
writeFileSync(
  join(folder, "venturi.yaml"),
  `version: 1
providers: { upstream: { type: openai, baseUrl: "${upstream.url}", apiKey: none } }
models: { main: { chain: [upstream/m], retry: { max: 0 } } }
tools: { clock: { type: clock } }
agents: { a: { model: main, tools: [clock] } }
journal: { type: ${values.journal}${values.journal === "sqlite" ? ", path: ./runs.db" : ""} }
channels: { http: { type: channel-http } }
server: { listen: "127.0.0.1:0" }
${values.bare ? "telemetry: off" : ""}
`,
);
const { silentLog } = await import("../dist/src/core/ports/log.js");
const service = await openService({ configFile: join(folder, "venturi.yaml"), log: silentLog });
const inspector = new Session();
inspector.connect();
await inspector.post("Profiler.enable");
await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

let failed = false;
try {
  const paths = {
    "one text delta": await textDelta(),
    "one tool call": await toolCall(),
    "one provider error": await providerError(),
  };
  for (const [name, path] of Object.entries(paths)) print(name, path);
  for (const [name, path] of Object.entries(paths)) {
    const { files, functions } = sizeOf(path);
    process.stdout.write(`${name}: ${files} files, ${functions} functions\n`);
  }
  const calls = await shortRun();
  process.stdout.write(`one short run: ${calls} calls\n`);
  if (values.journal === "sqlite" && !values.bare) check(paths["one text delta"], calls);
} finally {
  inspector.disconnect();
  await service.drain();
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);

/** What runs for every one of several deltas in the middle of a stream; timers that happen to fire are not in all of them. */
async function textDelta() {
  const { answer, events, end } = await begin();
  const send = async (text) => {
    answer.write(`data: ${JSON.stringify(chunk({ content: text }))}\n\n`);
    await events.until((event) => event.type === "text.delta" && event.text === text);
    await settle();
  };
  for (let warm = 0; warm < 20; warm++) await send(`warm ${warm}`);
  const samples = [];
  for (let tries = 0; samples.length < 10 && tries < 200; tries++) {
    await covered();
    await send(`sample ${tries}`);
    const path = await covered();
    // On a busy machine the watch over the event loop finds stalls; such a sample shows what they cause.
    const isStalled = [...path.values()].some(({ file }) => file === "src/host/system/event-loop-watch.ts");
    if (!isStalled) samples.push(path);
  }
  await end();
  const [first, ...others] = samples;
  return new Map([...first].filter(([key]) => others.every((sample) => sample.has(key))));
}

/** From the arguments' last byte to the tool's result. */
async function toolCall() {
  const { answer, events } = await begin();
  const call = { index: 0, id: "call_1", type: "function", function: { name: "clock", arguments: '{"timeZone":' } };
  answer.write(`data: ${JSON.stringify(chunk({ tool_calls: [call] }))}\n\n`);
  await events.until((event) => event.type === "tool_call.delta");
  await settle();
  await covered();
  const rest = { tool_calls: [{ index: 0, function: { arguments: '"UTC"}' } }] };
  answer.write(`data: ${JSON.stringify(chunk(rest))}\n\n`);
  await events.until((event) => event.type === "tool.finished");
  const path = await covered();
  answer.end(`data: ${JSON.stringify(chunk({}, "tool_calls"))}\n\ndata: [DONE]\n\n`);
  const next = await upstream.request();
  next.end(`data: ${JSON.stringify(chunk({ content: "done" }, "stop"))}\n\ndata: [DONE]\n\n`);
  await events.until((event) => event.type === "run.finished");
  return path;
}

/** From the error's status line to the terminal event. */
async function providerError() {
  const { answer, events } = await begin({ status: false });
  await settle();
  await covered();
  answer.writeHead(400, { "content-type": "application/json" });
  answer.end(JSON.stringify({ error: { message: "no such model", type: "invalid_request_error" } }));
  await events.until((event) => event.type === "run.failed");
  return covered();
}

/**
 * Calls of our functions by a whole run with a tool and three words. The least of several: commits and timers differ from run to run.
 * The processor time of short runs doubled in many steps, each too small for a benchmark to show; this counts the same on any machine.
 */
async function shortRun() {
  const call = {
    index: 0,
    id: "call_1",
    type: "function",
    function: { name: "clock", arguments: '{"timeZone":"UTC"}' },
  };
  const frames = (...chunks) => `${chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("")}data: [DONE]\n\n`;
  const counts = [];
  for (let round = 0; round < 30; round++) {
    await settle();
    await covered();
    const { answer, events } = await begin();
    answer.end(frames(chunk({ tool_calls: [call] }), chunk({}, "tool_calls")));
    const next = await upstream.request();
    next.writeHead(200, { "content-type": "text/event-stream" });
    next.end(frames(...["It", " is", " noon."].map((content) => chunk({ content })), chunk({}, "stop")));
    await events.until((event) => event.type === "run.finished");
    await settle();
    const path = await covered();
    counts.push([...path.values()].reduce((sum, { count }) => sum + count, 0));
  }
  return Math.min(...counts);
}

async function begin({ status = true } = {}) {
  const asked = upstream.request();
  const response = await fetch(`${service.url}/v1/runs`, {
    method: "POST",
    headers: { accept: "text/event-stream", "content-type": "application/json" },
    body: JSON.stringify({ agent: "a", input: "go" }),
  });
  const events = follow(response.body);
  const answer = await asked;
  if (status) answer.writeHead(200, { "content-type": "text/event-stream" });
  if (status) answer.write(`data: ${JSON.stringify(chunk({ role: "assistant", content: "" }))}\n\n`);
  await events.until((event) => event.type === "round.started");
  const end = async () => {
    answer.end(`data: ${JSON.stringify(chunk({}, "stop"))}\n\ndata: [DONE]\n\n`);
    await events.until((event) => event.type === "run.finished");
  };
  return { answer, events, end };
}

function chunk(delta, finish = null) {
  const choice = { index: 0, delta, finish_reason: finish };
  return { id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [choice] };
}

function follow(body) {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = "";
  const seen = [];
  return {
    async until(matches) {
      for (;;) {
        while (seen.length > 0) if (matches(seen.shift())) return;
        const { value, done } = await reader.read();
        if (done) throw new Error("the stream ended before the event came");
        text += decoder.decode(value, { stream: true });
        const blocks = text.split("\n\n");
        text = blocks.pop();
        for (const block of blocks) {
          const data = block.split("\n").find((line) => line.startsWith("data:"));
          if (data !== undefined) seen.push(JSON.parse(data.slice(5)));
        }
      }
    },
  };
}

/** A provider whose answers this script writes by hand. */
async function openUpstream() {
  const waiting = [];
  const answers = [];
  const server = createServer((request, response) => {
    request.resume();
    response.socket.setNoDelay(true);
    const next = waiting.shift();
    if (next === undefined) answers.push(response);
    else next(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    request: () => (answers.length > 0 ? answers.shift() : new Promise((resolve) => waiting.push(resolve))),
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}

/** Lets what a commit left for the next turns happen. */
function settle() {
  return new Promise((resolve) => setTimeout(resolve, 10));
}

/** The functions of ours that have run since the last call. */
async function covered() {
  const { result } = await inspector.post("Profiler.takePreciseCoverage");
  const path = new Map();
  for (const { url, functions } of result) {
    const file = url.startsWith("file://") ? fileURLToPath(url) : "";
    const place = file.startsWith(root) ? file.slice(root.length) : "";
    // The watch over the event loop ticks by itself, many times a second.
    if (!/^dist\/(?:src|plugins)\//.test(place) || place === "dist/src/host/system/event-loop.js") continue;
    for (const { functionName, ranges } of functions) {
      const [range] = ranges;
      if (range === undefined || range.count === 0) continue;
      const source = place.replace(/^dist\//, "").replace(/\.js$/, ".ts");
      const name = functionName || "(anonymous)";
      path.set(`${source} ${functionName} ${range.startOffset}`, { file: source, name, count: range.count });
    }
  }
  return path;
}

function sizeOf(path) {
  return { files: new Set([...path.values()].map(({ file }) => file)).size, functions: path.size };
}

/** Of a tool call and an error nothing: the number of turns, and so of timers that fire, differs from call to call. */
function check(path, calls) {
  const size = sizeOf(path);
  if (values.record)
    writeFileSync(budgets, `{ "files": ${size.files}, "functions": ${size.functions}, "callsOfShortRun": ${calls} }\n`);
  const recorded = JSON.parse(readFileSync(budgets, "utf8"));
  if (size.files > recorded.files || size.functions > recorded.functions) {
    fail(
      `one text delta took ${recorded.files} files and ${recorded.functions} functions; shorten the path again, or accept it with \`npm run path -- --record\``,
    );
  }
  // Batches of a busy machine move it by a percent.
  if (calls > recorded.callsOfShortRun * 1.02) {
    fail(
      `one short run made ${recorded.callsOfShortRun} calls; do less once per run, or accept it with \`npm run path -- --record\``,
    );
  }
  const [, walk = ""] =
    /## The path of a token\n([\s\S]*?)\n## /.exec(readFileSync(join(root, "ARCHITECTURE.md"), "utf8")) ?? [];
  const named = new Set([...walk.matchAll(/`((?:src|plugins)\/[^`*<]+\.ts)`/g)].map(([, file]) => file));
  for (const { file } of path.values()) {
    const general = file.replace(/^plugins\/(?:openai|sqlite)\//, (folder) =>
      folder.includes("openai") ? "plugins/<provider>/" : "plugins/<journal>/",
    );
    if (file.startsWith("src/telemetry/") && walk.includes("`src/telemetry`")) continue;
    if (!named.has(file) && !walk.includes(`\`${general}\``))
      fail(`ARCHITECTURE.md's path of a token leaves out ${file}`);
  }
}

function fail(message) {
  failed = true;
  process.stdout.write(`${message}\n`);
}

function print(name, path) {
  const byFile = Map.groupBy(path.values(), ({ file }) => file);
  const order = (file) => {
    const best = stages.filter((stage) => file.startsWith(`${stage}/`)).sort((a, b) => b.length - a.length)[0];
    return best === undefined ? stages.length : stages.indexOf(best);
  };
  process.stdout.write(`${name}\n`);
  for (const file of [...byFile.keys()].sort((a, b) => order(a) - order(b) || a.localeCompare(b))) {
    process.stdout.write(
      `  ${file.padEnd(44)} ${byFile
        .get(file)
        .map(({ name }) => name)
        .join(", ")}\n`,
    );
  }
  process.stdout.write("\n");
}
