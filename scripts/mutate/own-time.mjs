// A clock that stands still while a process waits for a core, so that a busy machine makes no test too slow: wall time less the time
// its main thread was runnable but not run (Linux; elsewhere wall time).
import { readFileSync } from "node:fs";

/** In ms. */
export function ownTime(pid = "self") {
  return performance.now() - waited(pid);
}

function waited(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}
