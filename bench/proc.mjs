// What a process takes, from /proc (Linux).
import { readdirSync, readFileSync } from "node:fs";

/** kB of memory. */
export const memoryOf = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);

/** ms of processor time so far, of the processes it started too. */
export function timeOf(pid) {
  let sum = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const folder = `/proc/${pid}/task/${task}`;
    // In nanoseconds; `stat` counts in hundredths of a second, which is too coarse for one stream.
    sum += Number(readFileSync(`${folder}/schedstat`, "utf8").split(" ")[0]) / 1e6;
    for (const child of readFileSync(`${folder}/children`, "utf8").split(" ").filter(Boolean)) sum += timeOf(child);
  }
  return sum;
}
