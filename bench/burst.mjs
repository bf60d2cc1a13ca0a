// node bench/burst.mjs [--runs 1000] [--repetitions 4] [--builds ../before,.]
// What a burst of starts does to open streams: 50 streams of 20 chunks a second are open when all runs are started in one turn of the
// event loop. The longest turn, and how late the chunks of those streams were; builds by turns, each time in a process of its own.
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { median, stop, upstream } from "./processes.mjs";

const { values: options } = parseArgs({
  options: {
    runs: { type: "string", default: "1000" },
    repetitions: { type: "string", default: "4" },
    builds: { type: "string", default: "." },
    measure: { type: "string" },
  },
});
if (options.measure === undefined) byTurns();
else await measure(options.measure);

function byTurns() {
  const found = new Map();
  for (let i = 0; i < Number(options.repetitions); i++) {
    for (const build of options.builds.split(",")) {
      const args = ["--expose-gc", "--no-warnings", import.meta.filename, "--runs", options.runs, "--measure", build];
      found.set(build, [
        ...(found.get(build) ?? []),
        JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })),
      ]);
    }
  }
  for (const [build, times] of found) {
    const of = (name) =>
      `${median(times.map((each) => each[name])).toFixed(0)} (${times.map((each) => each[name].toFixed(0)).join(", ")})`;
    console.log(
      `${build}: longest turn ${of("turn")} ms; chunks of open streams, p99 ${of("late")} ms; all runs ${of("all")} ms`,
    );
  }
}

async function measure(build) {
  const baseURL = await upstream();
  const { default: adapter } = await import(resolve(build, "bench/adapter.mjs"));
  const { run } = await adapter({ baseURL, variant: "venturi" });
  const hooks = { text() {}, tool: () => "x" };
  for (const start = performance.now(); performance.now() - start < 3_000; ) await run("tool-200", hooks);
  const delays = [];
  const text = (piece) => {
    const now = Number(process.hrtime.bigint() / 1000n);
    for (const [, stamp] of piece.matchAll(/T(\d+) /g)) delays.push((now - Number(stamp)) / 1000);
  };
  for (let i = 0; i < 50; i++) void run("paced-50-200", { text, tool() {} });
  await new Promise((next) => setTimeout(next, 2_000));
  globalThis.gc?.();
  delays.length = 0;
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const start = performance.now();
  await Promise.all(Array.from({ length: Number(options.runs) }, () => run("paced-500-2", hooks)));
  const all = performance.now() - start;
  loop.disable();
  delays.sort((left, right) => left - right);
  console.log(JSON.stringify({ turn: loop.max / 1e6, late: delays[Math.floor(delays.length * 0.99)], all }));
  stop();
  process.exit();
}
