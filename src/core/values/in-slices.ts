import { AsyncLocalStorage } from "node:async_hooks";
import { tenantDoing } from "./doing.ts";

/** One slice of work on large values, ms. Then what is small gets its turn, for twice as long. */
const slice = 4;
const rest = 2;

interface Job {
  readonly work: Generator<void, unknown>;
  /** Calls as whoever asked for the work: should it block the process, they are to blame. */
  readonly asAsked: ReturnType<typeof AsyncLocalStorage.snapshot>;
  /** What it takes besides, elsewhere, ms. */
  readonly elsewhere: number;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

/** By tenant, the one whose turn is next first. */
const lines = new Map<string, Job[]>();
let isScheduled = false;
/** What large values have taken of the current slice, ms, and until when. */
let spent = 0;
let workedUntil = 0;

/**
 * Does work on a large value in slices of a few milliseconds, one of one value at a time, by turns between tenants, and leaves more
 * time than it takes to all else of the process in between. The work may be interrupted wherever it yields.
 */
export function inSlices<T>(work: Generator<void, T>, tenant = tenantDoing(), elsewhere = 0): Promise<T> {
  return new Promise((resolve, reject) => {
    const asAsked = AsyncLocalStorage.snapshot();
    const job = { work, asAsked, elsewhere, resolve: resolve as (value: unknown) => void, reject }; // what this work returns
    const line = lines.get(tenant);
    if (line === undefined) lines.set(tenant, [job]);
    else line.push(job);
    if (!isScheduled) schedule();
  });
}

/** Waits for a turn among those, for what takes the thread about so many ms soon after: a piece of a large value that is sent. */
export const turnFor = (ms: number, tenant?: string): Promise<void> => inSlices(nothing(), tenant, ms);

function* nothing(): Generator<void, void> {}

function schedule(): void {
  isScheduled = true;
  const wait = spent < slice ? 0 : workedUntil + rest * Math.min(spent, 2 * slice) - performance.now();
  if (wait > 0) setTimeout(doSlice, wait);
  else setImmediate(doSlice);
}

function doSlice(): void {
  const began = performance.now();
  // A slice that is over was followed by its rest; of one that is not, what has passed since was for others.
  spent = spent < slice ? Math.max(0, spent - (began - workedUntil) / rest) : 0;
  for (const [tenant, line] of lines) {
    lines.delete(tenant);
    const job = line.shift();
    if (job !== undefined && !job.asAsked(isDone, job, began + slice - spent)) line.push(job);
    else spent += job?.elsewhere ?? 0;
    if (line.length > 0) lines.set(tenant, line);
    break;
  }
  workedUntil = performance.now();
  spent += workedUntil - began;
  isScheduled = false;
  if (lines.size > 0) schedule();
}

function isDone({ work, resolve, reject }: Job, until: number): boolean {
  try {
    do {
      const { done, value } = work.next();
      if (!done) continue;
      resolve(value);
      return true;
    } while (performance.now() < until);
    return false;
  } catch (thrown) {
    reject(thrown);
    return true;
  }
}
