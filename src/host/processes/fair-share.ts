import type { Siblings } from "./siblings.ts";

interface Kept {
  readonly count: number;
  mostKept: number;
}

const every = 500;
/** Above the mean by less than this, connections are not worth moving. */
const tolerance = { factor: 1.25, extra: 8 };

/**
 * Connections go to whoever is idle when they come, and stay. Those that are kept open for many requests may end up with one
 * process: one that has far more than the mean closes some after their responses.
 */
export function keepFairShare(connections: Kept, siblings: Siblings): void {
  const look = async (): Promise<void> => {
    try {
      const mean = await siblings.meanConnections(connections.count);
      const share = mean * tolerance.factor + tolerance.extra;
      // New ones come faster than this looks: only a surplus that was there counts.
      connections.mostKept = connections.count > share ? share : Number.POSITIVE_INFINITY;
    } catch {
      connections.mostKept = Number.POSITIVE_INFINITY; // without a supervisor there is nobody to share with
    }
  };
  setInterval(() => void look(), every).unref();
}
