import { AsyncLocalStorage } from "node:async_hooks";
import { tenantDoing } from "./doing.ts";

/** Time slice for work on large values, ms; other work then gets twice as long. */
const slice = 4;
const rest = 2;

interface Job {
  readonly work: Generator<void, unknown>;
  /** Runs in the caller's async context, so that the caller is blamed if it blocks the process. */
  readonly asAsked: ReturnType<typeof AsyncLocalStorage.snapshot>;
  /** Additional time that the work takes elsewhere, ms. */
  readonly elsewhere: number;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

/** Waiting jobs by tenant; the next tenant comes first. */
const lines = new Map<string, Job[]>();
let isScheduled = false;
/** Time used of the current slice, ms, and when the last work ended. */
let spent = 0;
let workedUntil = 0;

/**
 * Works on a large value in slices of a few milliseconds, one value at a time, rotating between tenants and leaving more time for
 * everything else in between. The work can be interrupted wherever it yields.
 */
export function inSlices<T>(work: Generator<void, T>, tenant = tenantDoing(), elsewhere = 0): Promise<T> {
  return new Promise((resolve, reject) => {
    const asAsked = AsyncLocalStorage.snapshot();
    const job = { work, asAsked, elsewhere, resolve: resolve as (value: unknown) => void, reject }; // Typed by what this work returns.
    const line = lines.get(tenant);
    if (line === undefined) lines.set(tenant, [job]);
    else line.push(job);
    if (!isScheduled) schedule();
  });
}

/** Waits for a turn among the large values, for work that will take about `ms` right after: sending a piece of one, for example. */
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
  // A complete slice was followed by its rest. Of an incomplete one, the time since then went to others.
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
