import { AsyncLocalStorage } from "node:async_hooks";

/** A request that is no run's. The tenant is "" until its key was checked. */
export interface RequestDoing {
  tenant: string;
  readonly route: string;
}

export interface RunDoing {
  readonly tenant: string;
  readonly run: string;
}

const works = new AsyncLocalStorage<RunDoing | RequestDoing>();

/** Whatever this starts, promises and timers included, is done for the run. Costs nothing per token. */
export const doingFor = <T>(run: RunDoing, work: () => T): T => works.run(run, work);

/** The run whose code is executing, if any. */
export function runDoing(): string | undefined {
  const work = works.getStore();
  return work !== undefined && "run" in work ? work.run : undefined;
}

/** The tenant whose code is executing; "" when it is nobody's. */
export const tenantDoing = (): string => works.getStore()?.tenant ?? "";

/** Whatever this starts is done for the request, but for what is done for a run. */
export const doingForRequest = <T>(request: RequestDoing, work: () => T): T => works.run(request, work);

/** The request whose code is executing, if it is no run's. */
export function requestDoing(): RequestDoing | undefined {
  const work = works.getStore();
  return work !== undefined && "route" in work ? work : undefined;
}

/** Told which run's plugin is about to be called, and "" when the call has returned. */
type Mark = (run: string) => void;

let mark: Mark | undefined;
let marked = "";

/** From here on calls into plugins are marked where they survive the process. */
export function markWith(write: Mark | undefined): void {
  mark = write;
  // Whoever calls process.exit, now or after a wait, does it for a run.
  if (write !== undefined) process.once("exit", () => write(runDoing() ?? marked));
}

/** Calls into a plugin. If the process dies before it returns, the mark tells whose it was. */
export function markedAs<T>(run: string, call: () => T): T {
  if (mark === undefined) return call();
  const outer = marked;
  marked = run;
  mark(run);
  try {
    return call();
  } finally {
    marked = outer;
    mark(outer);
  }
}
