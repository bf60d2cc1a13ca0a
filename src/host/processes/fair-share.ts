import { performance } from "node:perf_hooks";
import type { Siblings } from "./siblings.ts";

interface Kept {
  readonly count: number;
  /** How many were ever opened. */
  readonly opened: number;
  onOpened: () => void;
  mostKept: number;
}

/** What this process holds beside its connections. */
export interface Held {
  readonly runs: number;
  readonly mostRuns: number;
  /** Memory for callers, of all it may hold: 0 to 1. */
  readonly memory: number;
}

const every = 500;
/** So many connections or runs are a process's full load, however little they do now. */
const many = 500;
/** So many new connections are a full load until their own shows: streams of 50 tokens/s, at 90 µs a token. */
const manyNew = 200;
/** So much of a full load in more connections is reported at once. */
const burst = 0.2;

/**
 * Reports this process's load. Connections stay where they are accepted, so long-lived ones may pile up in one process: one far above the mean,
 * one that takes no new ones, or a full one while another has room closes some after their responses.
 */
export function keepFairShare(connections: Kept, siblings: Siblings, held: () => Held): void {
  let last = performance.eventLoopUtilization();
  let utilization = 0;
  let reported = 0;
  const opened = { before: 0, atLook: 0, atReport: 0 };
  const look = (): Promise<void> => {
    const now = performance.eventLoopUtilization();
    ({ utilization } = performance.eventLoopUtilization(now, last));
    last = now;
    opened.before = opened.atLook;
    opened.atLook = connections.opened;
    return report();
  };
  const report = async (): Promise<void> => {
    opened.atReport = connections.opened;
    const { runs, mostRuns, memory } = held();
    const recent = Math.min(connections.opened - opened.before, connections.count);
    const begun = Math.max(utilization + recent / Math.min(manyNew, mostRuns), runs / Math.min(many, mostRuns));
    const load = Math.max(begun, connections.count / many, memory);
    const isIdle = !siblings.taking && connections.count + runs === 0;
    if (isIdle && reported === 0) return;
    reported = isIdle ? 0 : load;
    try {
      connections.mostKept = (await siblings.share(connections.count, reported)) ?? Number.POSITIVE_INFINITY;
    } catch {
      connections.mostKept = Number.POSITIVE_INFINITY; // Without a supervisor there is nobody to share with.
    }
  };
  setInterval(() => void look(), every).unref();
  connections.onOpened = () => {
    if (connections.opened - opened.atReport >= burst * Math.min(manyNew, held().mostRuns)) void report();
  };
}
