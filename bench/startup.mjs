// How long the commands take to be ready, 20 times each: `node bench/startup.mjs`. `start` is timed until /readyz says yes, with
// V8's options as in `npm start`; `--bare` leaves them out.
// From its modules instead of the bundle: NODE_OPTIONS=--import=data:text/javascript, node bench/startup.mjs
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { timeOf } from "./proc.mjs";

const { values, positionals } = parseArgs({
  options: { bare: { type: "boolean" }, json: { type: "boolean" } },
  allowPositionals: true,
});
const medians = {};
const times = Number(positionals[0] ?? 20);
const flags = values.bare ? [] : ["--max-semi-space-size=16", "--min-semi-space-size=8"];
const root = new URL("..", import.meta.url).pathname;
const bin = join(root, "dist/src/cli/bin.js");
const env = { ...process.env, NODE_COMPILE_CACHE: join(mkdtempSync(join(tmpdir(), "venturi-startup-")), "cache") };

report(
  "venturi --version",
  series(() => spawnSync(process.execPath, [bin, "--version"], { env })),
);
report(
  "venturi validate",
  series(() => spawnSync(process.execPath, [bin, "validate"], { cwd: root, env })),
);
const scratch = mkdtempSync(join(tmpdir(), "venturi-startup-"));
const own = [
  "--set",
  `journal.path=${join(scratch, "venturi.db")}`,
  "--set",
  `dataFolder=${scratch}`,
  "--set",
  "providers.demo.pace=0",
];
report(
  "venturi run, a short answer",
  series(() => spawnSync(process.execPath, [bin, "run", "assistant", "hi", ...own], { cwd: root, env })),
);
report(
  "node -e 0, for comparison",
  series(() => spawnSync(process.execPath, ["-e", "0"], { env })),
);
const starts = [];
const busy = [];
for (let i = 0; i < times; i++) starts.push(await ready(7300 + i));
report("venturi start until ready", starts);
report("… of that on the processor", busy);
if (values.json) console.log(JSON.stringify(medians));

function series(action) {
  return Array.from({ length: times }, () => {
    const start = performance.now();
    action();
    return performance.now() - start;
  });
}

async function ready(port) {
  const data = mkdtempSync(join(tmpdir(), "venturi-startup-"));
  const set = [`server.listen=127.0.0.1:${port}`, `journal.path=${join(data, "venturi.db")}`, `dataFolder=${data}`];
  const start = performance.now();
  const child = spawn(
    process.execPath,
    [...flags, bin, "start", "--quiet", ...set.flatMap((value) => ["--set", value])],
    {
      cwd: root,
      env,
      stdio: "ignore",
    },
  );
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (answer?.ok) break;
    if (child.exitCode !== null) throw new Error(`venturi start ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const ms = performance.now() - start;
  busy.push(timeOf(child.pid));
  child.kill();
  await once(child, "exit");
  return ms;
}

function report(name, found) {
  const sorted = [...found].sort((left, right) => left - right);
  const at = (part) => `${sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))].toFixed(0)} ms`;
  medians[name] = sorted[Math.floor(sorted.length / 2)];
  if (!values.json) console.log(`${name.padEnd(28)} median ${at(0.5)}, least ${at(0)}, most ${at(1)}`);
}
