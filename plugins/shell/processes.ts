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
  const until = performance.now() + patience;
  // They may fork meanwhile, so repeat until a scan finds none.
  for (let look = 0; performance.now() < until; look++) {
    const { marked, unclear } = await findMarked(mark, since);
    if (marked.length === 0 && unclear === 0) return;
    for (const pid of marked) killOne(pid);
    if (look > 0) await setTimeout(Math.min(5 * look, 50));
  }
}

/** How long killed processes may take to disappear, ms. */
const patience = 5_000;

/** Clock ticks since boot, as /proc counts them. */
export const bootTicks = (): number => Math.floor(uptime() * 100) - 1;

interface Found {
  readonly marked: readonly number[];
  /** Number of processes whose environment cannot be read now: they are starting a program, or ending. */
  readonly unclear: number;
}

export async function findMarked(mark: string, since: number): Promise<Found> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const marked: number[] = [];
  let unclear = 0;
  const look = async (pid: string) => {
    let environment = await environmentOf(pid);
    if (environment === "") {
      const phase = await phaseOf(pid, since);
      if (phase === "between") unclear += 1;
      if (phase === "started") environment = await environmentOf(pid); // It may have started its program meanwhile.
    }
    if (environment?.includes(mark)) marked.push(Number(pid));
  };
  await Promise.all(pids.map(look));
  return { marked, unclear };
}

/** Undefined if it is gone or not ours. */
const environmentOf = (pid: string): Promise<string | undefined> =>
  readFile(`/proc/${pid}/environ`, "latin1").catch(() => undefined);

/** Phase of a process without an environment. One with memory for it has started; others are starting a program, or ending. */
async function phaseOf(pid: string, since: number): Promise<"started" | "between" | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => undefined);
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields === undefined || fields[0] === "Z" || fields[0] === "X") return undefined;
  const [flags = 0, started = 0, place = 0] = [fields[6], fields[19], fields[47]].map(Number);
  if ((flags & kernelThread) !== 0 || started < since) return undefined;
  return place === 0 ? "between" : "started";
}

const kernelThread = 0x0020_0000;

export function killOne(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (thrown) {
    if (!isGone(thrown)) throw thrown;
  }
}

const isGone = (thrown: unknown): boolean => thrown instanceof Error && "code" in thrown && thrown.code === "ESRCH";
