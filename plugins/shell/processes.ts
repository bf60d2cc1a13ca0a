import { readdir, readFile } from "node:fs/promises";

/** Signals a process group; ignores one that is gone. */
export function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch (thrown) {
    if (!isGone(thrown)) throw thrown;
  }
}

/**
 * Kills every process with the mark in its environment, including those that left the group (a daemon, a new session). Linux
 * only; elsewhere only the group can be found.
 */
export async function killMarked(mark: string): Promise<void> {
  if (process.platform !== "linux") return;
  // They may fork meanwhile, so repeat until a scan finds none.
  for (let look = 0; look < 10; look++) {
    const found = await findMarked(mark);
    if (found.length === 0) return;
    for (const pid of found) kill(pid);
  }
}

export async function findMarked(mark: string): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const marked = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => ""); // gone, or not ours
      return environment.includes(mark) ? Number(pid) : undefined;
    }),
  );
  return marked.filter((pid) => pid !== undefined);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (thrown) {
    if (!isGone(thrown)) throw thrown;
  }
}

const isGone = (thrown: unknown): boolean => thrown instanceof Error && "code" in thrown && thrown.code === "ESRCH";
