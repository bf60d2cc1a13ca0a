// Memory of readers that take nothing: they catch up on a long run of a real service and stop reading. The readers are in this process,
// so only the service's end of each connection counts; what it needs is measured after a garbage collection, what it has before one.
//   node bench/slow-readers.mjs [--readers 60] [--megabytes 30]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { readers: { type: "string", default: "60" }, megabytes: { type: "string", default: "30" } },
});
const readers = Number(values.readers);
const piece = "lorem ipsum ".repeat(340);
const chunk = (delta, finish = null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const vendor = createServer((request, response) => {
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let sent = 0; sent < Number(values.megabytes) * 1e6; sent += piece.length)
      response.write(chunk({ content: piece }));
    response.end(`${chunk({}, "stop")}data: [DONE]\n\n`);
  });
}).listen(0, "127.0.0.1");
await once(vendor, "listening");

const folder = mkdtempSync(join(tmpdir(), "venturi-slow-"));
writeFileSync(
  join(folder, "venturi.yaml"),
  `version: 1
providers: { up: { type: openai, baseUrl: "http://127.0.0.1:${vendor.address().port}/v1", apiKey: none } }
agents: { long: { model: up/long, limits: { generationBytes: 256MiB, outputBytes: 256MiB, outputTokens: 100000000 } } }
journal: { type: sqlite, path: ./runs.db }
channels: { http: {} }
server: { listen: 0 }
telemetry: { logs: { format: json } }
`,
);
const bin = new URL("../dist/src/cli/bin.js", import.meta.url).pathname;
// Loaded into the service: tells what it needs, when asked by a signal.
writeFileSync(
  join(folder, "memory.mjs"),
  `import { renameSync, writeFileSync } from "node:fs";
process.on("SIGWINCH", () => {
  gc();
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync("${folder}/memory.part", JSON.stringify({ heapUsed, external }));
  renameSync("${folder}/memory.part", "${folder}/memory.json");
});`,
);
const service = spawn(process.execPath, ["--no-warnings", bin, "--config", join(folder, "venturi.yaml"), "start"], {
  env: { ...process.env, NODE_OPTIONS: `--expose-gc --import file://${join(folder, "memory.mjs")}` },
});
try {
  let words = "";
  for (const stream of [service.stdout, service.stderr]) stream.on("data", (bytes) => (words += bytes));
  let url;
  while (url === undefined) {
    await sleep(50);
    url = /"url":"(http:[^"]+)"/.exec(words)?.[1];
  }
  const started = await fetch(`${url}/v1/runs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ agent: "long", input: "go" }),
  });
  const { run } = await started.json();
  const events = await fetch(`${url}/v1/runs/${run}/events`, { headers: { accept: "text/event-stream" } });
  const text = await events.text();
  if (text.length < Number(values.megabytes) * 1e6)
    throw new Error(`the run has ${text.length} bytes: ${text.slice(-300)}`);
  await sleep(2_000);
  // The child is the keeper; the service is its child.
  const pid = Number(readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, "utf8").split(" ")[0]);
  const resident = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
  const needed = async () => {
    rmSync(join(folder, "memory.json"), { force: true });
    process.kill(pid, "SIGWINCH");
    while (!existsSync(join(folder, "memory.json"))) await sleep(20);
    const { heapUsed, external } = JSON.parse(readFileSync(join(folder, "memory.json"), "utf8"));
    return { heap: heapUsed / 1024 ** 2, buffers: external / 1024 ** 2 };
  };
  await needed();
  const neededBefore = await needed();
  const before = resident();
  const sockets = Array.from({ length: readers }, () => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1").pause();
    socket.on("error", () => {});
    socket.write(`GET /v1/runs/${run}/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`);
    return socket;
  });
  let most = 0;
  for (let look = 0; look < 40; look++) {
    await sleep(200);
    most = Math.max(most, resident());
  }
  const after = resident();
  await needed(); // what was let go of by the first is freed by the second
  const neededAfter = await needed();
  // What the kernel took off the service is not the service's: a reader stalls once its connection's buffers are full as well.
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, "0");
  const queues = readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(`:${port}`) && state === "01")
    .map(([, , , , queue = ""]) => Number.parseInt(queue.split(":")[0], 16));
  const full = queues.filter((bytes) => bytes > 0);
  const cut = sockets.filter(({ destroyed }) => destroyed).length;
  for (const socket of sockets) socket.destroy();
  const each = (mebibytes) => `${((mebibytes - before) / readers).toFixed(2)} MiB a reader`;
  console.log(
    `${readers} readers of a run of ${values.megabytes} MB that take nothing (${full.length} stalled with ${(Math.max(0, ...full) / 1024 ** 2).toFixed(1)} MiB at most in the kernel, ${cut} cut), resident memory of the service`,
  );
  console.log(
    `before ${before.toFixed(0)} MiB, at most ${most.toFixed(0)} MiB (${each(most)}), after 8 s ${after.toFixed(0)} MiB (${each(after)})`,
  );
  const more = (name) => (neededAfter[name] - neededBefore[name]) / readers;
  console.log(
    `needed, after a collection: ${(more("heap") + more("buffers")).toFixed(2)} MiB a reader (heap ${more("heap").toFixed(2)}, buffers ${more("buffers").toFixed(2)})`,
  );
} finally {
  service.kill();
  await once(service, "exit");
  vendor.closeAllConnections();
  vendor.close();
  rmSync(folder, { recursive: true, force: true });
}
