import { readdir, readFile } from "node:fs/promises";
import { uptime } from "node:os";
import { setTimeout } from "node:timers/promises";

/** Signals a process group; ignores one that is gone. */
export function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch (thrown) {
    if (!isGone(thrown)) throw thrown;
  }
}

/**
 * Kills every process with the mark in its environment, including those that left the group (a daemon, a new session), and waits
 * until they are gone. `since`: `bootTicks()` before the first of them started. Linux only; elsewhere only the group can be found.
 */
export async function killMarked(mark: string, since: number): Promise<void> {
  if (process.platform !== "linux") return;
  // They may fork meanwhile, so repeat until a scan finds none.
  for (let look = 0; look < 20; look++) {
    const { marked, unclear } = await findMarked(mark, since);
    if (marked.length === 0 && unclear === 0) return;
    for (const pid of marked) kill(pid);
    if (look > 0) await setTimeout(5);
  }
}

/** Clock ticks since boot, as /proc counts them. */
export const bootTicks = (): number => Math.floor(uptime() * 100) - 1;

interface Found {
  readonly marked: readonly number[];
  /** Number of processes whose environment cannot be seen now: they are starting a program, or ending. */
  readonly unclear: number;
}

export async function findMarked(mark: string, since: number): Promise<Found> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const marked: number[] = [];
  let unclear = 0;
  const look = async (pid: string) => {
    const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => undefined); // gone, or not ours
    if (environment?.includes(mark)) marked.push(Number(pid));
    else if (environment === "" && (await mayBeMarked(pid, since))) unclear += 1;
  };
  await Promise.all(pids.map(look));
  return { marked, unclear };
}

/** Alive, not a thread of the kernel, and started since. */
async function mayBeMarked(pid: string, since: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => undefined);
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields === undefined || fields[0] === "Z" || fields[0] === "X") return false;
  return (Number(fields[6]) & kernelThread) === 0 && Number(fields[19]) >= since;
}

const kernelThread = 0x0020_0000;

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (thrown) {
    if (!isGone(thrown)) throw thrown;
  }
}

const isGone = (thrown: unknown): boolean => thrown instanceof Error && "code" in thrown && thrown.code === "ESRCH";
