// What a service costs that nobody uses: processor time a second, by thread (Linux). node bench/idle.mjs [--seconds 10] [--journal sqlite]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "10" },
    journal: { type: "string", multiple: true, default: ["memory", "sqlite"] },
  },
});
const seconds = Number(options.seconds);
const root = new URL("..", import.meta.url).pathname;
const port = 7290;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

for (const journal of options.journal) {
  const folder = mkdtempSync(join(tmpdir(), "venturi-idle-"));
  const kept = journal === "sqlite" ? { type: "sqlite", path: join(folder, "venturi.db") } : { type: journal };
  const set = [`server.listen=127.0.0.1:${port}`, `dataFolder=${folder}`, `journal=${JSON.stringify(kept)}`];
  const command = ["dist/src/cli/bin.js", "start", "--quiet", ...set.flatMap((value) => ["--set", value])];
  const service = spawn(process.execPath, command, { cwd: root, stdio: "ignore" });
  while (!(await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.ok) {
    if (service.exitCode !== null) throw new Error(`venturi start ended with ${service.exitCode}`);
    await pause(20);
  }
  await pause(3_000); // until what a start leaves behind is done
  const before = threads(service.pid);
  await pause(seconds * 1_000);
  const spent = [...threads(service.pid)].map(([thread, ms]) => [thread, (ms - (before.get(thread) ?? 0)) / seconds]);
  const total = spent.reduce((sum, [, ms]) => sum + ms, 0);
  const parts = spent.filter(([, ms]) => ms >= 0.01).map(([thread, ms]) => `${thread} ${ms.toFixed(2)}`);
  console.log(`${journal.padEnd(8)} ${total.toFixed(2)} ms of processor a second: ${parts.join(", ")}`);
  service.kill();
  await once(service, "exit");
}

/** Processor time so far, ms, by the thread's name. */
function threads(pid) {
  const times = new Map();
  for (const id of readdirSync(`/proc/${pid}/task`)) {
    const children = readFileSync(`/proc/${pid}/task/${id}/children`, "utf8").split(" ").filter(Boolean);
    for (const [name, time] of children.flatMap((child) => [...threads(child)]))
      times.set(name, (times.get(name) ?? 0) + time);
    const [name, time] = ["comm", "schedstat"].map((file) => readFileSync(`/proc/${pid}/task/${id}/${file}`, "utf8"));
    times.set(name.trim(), (times.get(name.trim()) ?? 0) + Number(time.split(" ")[0]) / 1e6);
  }
  return times;
}
