/** One slice of work on a large value, ms. Then what is small gets its turn, for twice as long. */
const slice = 4;
const rest = 2;

interface Job {
  readonly work: Generator<void, unknown>;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

const jobs: Job[] = [];
let isBusy = false;

/**
 * Does work on a large value in slices of a few milliseconds, one of one value at a time, and leaves more time than it takes to
 * all else of the process in between. The work may be interrupted wherever it yields.
 */
export function inSlices<T>(work: Generator<void, T>): Promise<T> {
  return new Promise((resolve, reject) => {
    jobs.push({ work, resolve: resolve as (value: unknown) => void, reject }); // what this work returns
    if (isBusy) return;
    isBusy = true;
    setImmediate(doSlice);
  });
}

function doSlice(): void {
  const job = jobs.shift();
  const began = performance.now();
  if (job !== undefined && !isDone(job, began + slice)) jobs.push(job);
  isBusy = jobs.length > 0;
  if (isBusy) setTimeout(doSlice, rest * Math.min(performance.now() - began, 2 * slice));
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
