// What a process takes, from /proc (Linux).
import { readdirSync, readFileSync } from "node:fs";

/** kB of memory. */
export const memoryOf = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);

/** ms of processor time so far, of the processes it started too. */
export function timeOf(pid) {
  // Of children that ended, in hundredths of a second: user and system time, fields 16 and 17.
  const ended = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ").slice(13, 15);
  let sum = 10 * (Number(ended[0]) + Number(ended[1]));
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const folder = `/proc/${pid}/task/${task}`;
    // In nanoseconds; `stat` counts in hundredths of a second, which is too coarse for one stream.
    sum += Number(readFileSync(`${folder}/schedstat`, "utf8").split(" ")[0]) / 1e6;
    for (const child of readFileSync(`${folder}/children`, "utf8").split(" ").filter(Boolean)) sum += timeOf(child);
  }
  return sum;
}
