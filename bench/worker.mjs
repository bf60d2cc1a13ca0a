// One subject in one process, so that its processor time is its own. Takes commands over IPC.
import { monitorEventLoopDelay } from "node:perf_hooks";

const [, , subject, baseURL] = process.argv;
const files = { floor: "./floor.mjs", "ai-sdk": "./ai-sdk.mjs" };
const { run } = await (await import(files[subject] ?? "./adapter.mjs")).default({ baseURL, variant: subject });

process.on("message", async ({ model, count, concurrent, atLeast, paced }) => {
  try {
    if (paced) {
      process.send(await steady(paced));
      return;
    }
    globalThis.gc?.();
    const before = process.cpuUsage();
    const start = performance.now();
    let done = 0;
    while (done < count || performance.now() - start < (atLeast ?? 0)) {
      const together = Array.from({ length: concurrent ?? 1 }, () => once(model));
      await Promise.all(together);
      done += together.length;
    }
    const wall = performance.now() - start;
    const { user, system } = process.cpuUsage(before);
    process.send({ cpu: (user + system) / 1000 / done, wall: wall / done, done });
  } catch (error) {
    process.send({ error: String(error?.stack ?? error) });
  }
});
for (const end of ["disconnect", "SIGTERM"]) process.on(end, () => process.exit());
process.send("ready");

/**
 * Many streams that each get a chunk now and then, as from models: processor time per chunk while all are open, how late chunks
 * are, the longest stall of the event loop, and how much the process grew per stream.
 */
async function steady({ streams, every, chunks }) {
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 100);
  const loop = monitorEventLoopDelay({ resolution: 5 });
  loop.enable();
  let arrived = 0;
  const delays = [];
  const text = (piece) => {
    const time = Number(process.hrtime.bigint() / 1000n);
    for (const [, stamp] of piece.matchAll(/T(\d+) /g)) {
      arrived++;
      delays.push(time - Number(stamp));
    }
  };
  const ramp = 500;
  const all = Array.from({ length: streams }, async (_, index) => {
    await new Promise((resolve) => setTimeout(resolve, (ramp * index) / streams));
    await run(`paced-${every}-${chunks}`, { text, tool() {} });
  });
  await new Promise((resolve) => setTimeout(resolve, ramp + 2 * every));
  const from = { cpu: process.cpuUsage(), arrived, delays: delays.length };
  await new Promise((resolve) => setTimeout(resolve, every * (chunks - 4)));
  const { user, system } = process.cpuUsage(from.cpu);
  const count = arrived - from.arrived;
  const late = delays.slice(from.delays).sort((left, right) => left - right);
  await Promise.all(all);
  clearInterval(watch);
  loop.disable();
  return {
    cpu: (user + system) / 1000 / count,
    wall: late[Math.floor(late.length * 0.99)] / 1000,
    stall: loop.max / 1e6,
    kilobytes: (most - before) / 1000 / streams,
    done: streams,
  };
}

async function once(model) {
  let called = 0;
  let length = 0;
  await run(model, {
    text: (piece) => {
      length += piece.length;
    },
    tool: (input) => {
      called++;
      if (input.city !== "Paris") throw new Error("the arguments did not arrive");
      return "It is 18 degrees and sunny.";
    },
  });
  if (length === 0 || (called !== 1 && !model.startsWith("text"))) throw new Error(`${model}: ${length} ${called}`);
}
