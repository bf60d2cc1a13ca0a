import { AsyncLocalStorage } from "node:async_hooks";

/** A request that does not belong to a run. The tenant is "" until its key was checked. */
export interface RequestDoing {
  tenant: string;
  readonly route: string;
}

export interface RunDoing {
  readonly tenant: string;
  readonly run: string;
}

const works = new AsyncLocalStorage<RunDoing | RequestDoing>();

/** Attributes everything `work` starts, including promises and timers, to the run. Costs nothing per token. */
export const doingFor = <T>(run: RunDoing, work: () => T): T => works.run(run, work);

/** The run whose code is executing, if any. */
export function runDoing(): string | undefined {
  const work = works.getStore();
  return work !== undefined && "run" in work ? work.run : undefined;
}

/** The tenant whose code is executing; "" if none. */
export const tenantDoing = (): string => works.getStore()?.tenant ?? "";

/** Attributes everything `work` starts to the request, except what is done for a run. */
export const doingForRequest = <T>(request: RequestDoing, work: () => T): T => works.run(request, work);

/** The request whose code is executing, if it does not belong to a run. */
export function requestDoing(): RequestDoing | undefined {
  const work = works.getStore();
  return work !== undefined && "route" in work ? work : undefined;
}

/** Called with the run whose plugin is about to be called, and with "" after it returned. */
type Mark = (run: string) => void;

let mark: Mark | undefined;
let marked = "";

/** From now on, records calls into plugins where the record survives the process. */
export function markWith(write: Mark | undefined): void {
  mark = write;
  // A call of process.exit, now or later, is attributed to the run that made it.
  if (write !== undefined) process.once("exit", () => write(runDoing() ?? marked));
}

/** Calls into a plugin. If the process dies before it returns, the mark tells which run it was. */
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
