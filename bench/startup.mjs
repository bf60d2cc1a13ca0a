// How long the commands take to be ready, 20 times each: `node bench/startup.mjs`. `start` is timed until /readyz says yes, with
// V8's options as in `npm start`; `--bare` leaves them out. `--builds ../before,.` compares checkouts, by turns.
// From its modules instead of the bundle: NODE_OPTIONS=--import=data:text/javascript, node bench/startup.mjs
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { timeOf } from "./proc.mjs";

const { values, positionals } = parseArgs({
  options: { bare: { type: "boolean" }, json: { type: "boolean" }, builds: { type: "string" } },
  allowPositionals: true,
});
const times = Number(positionals[0] ?? 20);
const flags = values.bare ? [] : ["--max-semi-space-size=16", "--min-semi-space-size=8"];
const here = new URL("..", import.meta.url).pathname;
let port = 7300;

const found = new Map();
const builds = (values.builds?.split(",") ?? [here]).map((folder) => build(resolve(folder)));
for (let i = 0; i < times; i++) for (const measure of builds) await measure();
const medians = {};
for (const [name, ms] of found) report(name, ms);
if (values.json) console.log(JSON.stringify(medians));

/** Measures each command once. */
function build(root) {
  const bin = join(root, "dist/src/cli/bin.js");
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder(), "cache") };
  const scratch = folder();
  const own = ["--set", `journal.path=${join(scratch, "venturi.db")}`, "--set", `dataFolder=${scratch}`];
  const run = (...args) => took(() => spawnSync(process.execPath, args, { cwd: root, env }));
  const note = (name, ms) => {
    const full = values.builds ? `${root}: ${name}` : name;
    found.set(full, [...(found.get(full) ?? []), ms]);
  };
  return async () => {
    note("venturi --version", run(bin, "--version"));
    note("venturi validate", run(bin, "validate"));
    note("venturi runs", run(bin, "runs", ...own));
    const answer = ["run", "assistant", "hi", ...own, "--set", "providers.demo.pace=0"];
    note("venturi run, a short answer", run(bin, ...answer));
    note("node -e 0, for comparison", run("-e", "0"));
    const { ms, busy } = await ready(root, bin, env);
    note("venturi start until ready", ms);
    note("… of that on the processor", busy);
  };
}

function took(action) {
  const start = performance.now();
  const { status, stderr } = action();
  if (status !== 0) throw new Error(`it ended with ${status}: ${stderr}`);
  return performance.now() - start;
}

async function ready(root, bin, env) {
  const data = folder();
  const url = `127.0.0.1:${++port}`;
  const set = [`server.listen=${url}`, `journal.path=${join(data, "venturi.db")}`, `dataFolder=${data}`];
  const args = [...flags, bin, "start", "--quiet", ...set.flatMap((value) => ["--set", value])];
  const start = performance.now();
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: "ignore" });
  for (;;) {
    const answer = await fetch(`http://${url}/readyz`).catch(() => undefined);
    if (answer?.ok) break;
    if (child.exitCode !== null) throw new Error(`venturi start ended with ${child.exitCode}`);
    await new Promise((next) => setTimeout(next, 5));
  }
  const ms = performance.now() - start;
  const busy = timeOf(child.pid);
  child.kill();
  await once(child, "exit");
  return { ms, busy };
}

function folder() {
  return mkdtempSync(join(tmpdir(), "venturi-startup-"));
}

function report(name, all) {
  const sorted = [...all].sort((left, right) => left - right);
  const at = (part) => `${sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))].toFixed(0)} ms`;
  medians[name] = sorted[Math.floor(sorted.length / 2)];
  if (!values.json) console.log(`${name.padEnd(28)} median ${at(0.5)}, least ${at(0)}, most ${at(1)}`);
}
