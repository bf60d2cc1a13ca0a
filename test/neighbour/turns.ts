import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";

// Loaded into the service's processes before anything else (`--import`). Notes what its main thread worked between two looks of a
// timer, in processor time, which other programs on the machine do not lengthen: at most a few ms more than the longest turn.
const folder = process.env.VENTURI_TURNS;
const shortest = 10;
/** Growth of the process that is worth a line, bytes. */
const growth = 16 * 1024 ** 2;

if (isMainThread && folder !== undefined) {
  let noted = 0;
  let before = process.threadCpuUsage();
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(before);
    const ms = (user + system) / 1_000;
    if (ms >= shortest) appendFileSync(join(folder, `${process.pid}`), `${Date.now()} ${ms}\n`);
    const rss = process.memoryUsage.rss();
    if (Math.abs(rss - noted) > growth) {
      noted = rss;
      appendFileSync(join(folder, `${process.pid}`), `${Date.now()} 0 ${Math.round(rss / 1024 ** 2)}\n`);
    }
    before = process.threadCpuUsage();
  }, 4).unref();
}
