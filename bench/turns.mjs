// Builds against each other: node bench/turns.mjs --builds ../before,. [--subject venturi-off] [--model tool-200] [--batch 30] [--batches 40] [--warm 1000]
// Each build (a folder with dist and bench) in its own process, in short batches by turns. A batch is compared with the one of the
// first build next to it, so the median of these ratios holds within 5 to 8 % even on a machine that others use.
import { fork } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { median, stop, upstream } from "./processes.mjs";

const { values: options } = parseArgs({
  options: {
    builds: { type: "string", default: "." },
    subject: { type: "string", default: "venturi-off" },
    model: { type: "string", default: "tool-200" },
    batch: { type: "string", default: "30" },
    batches: { type: "string", default: "40" },
    warm: { type: "string", default: "1000" },
  },
});
const { model } = options;
const baseURL = await upstream();
const builds = [];
for (const folder of options.builds.split(",")) builds.push({ folder, times: [], ask: await worker(folder) });
await Promise.all(builds.map(({ ask }) => ask({ model, count: Number(options.warm) })));
for (let batch = 0; batch < Number(options.batches); batch++) {
  // There and back, so that none is always the first.
  for (const { ask, times } of batch % 2 === 0 ? builds : builds.toReversed())
    times.push((await ask({ model, count: Number(options.batch) })).cpu);
}
console.log(`${options.subject}, ${model}            CPU ms a run: least  median  × the first build`);
for (const { folder, times } of builds) {
  const ratio = median(times.map((time, index) => time / builds[0].times[index]));
  const cells = [Math.min(...times).toFixed(2), median(times).toFixed(2), ratio.toFixed(2)];
  console.log(folder.padEnd(48), ...cells.map((cell) => cell.padStart(8)));
}
stop();
process.exit();

async function worker(folder) {
  const child = fork(resolve(folder, "bench/worker.mjs"), [options.subject, baseURL], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  process.once("exit", () => child.kill());
  await once(child, "message");
  return async (command) => {
    child.send(command);
    const [answer] = await once(child, "message");
    if (answer.error) throw new Error(`${folder}: ${answer.error}`);
    return answer;
  };
}
