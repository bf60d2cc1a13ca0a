import type { Siblings } from "./siblings.ts";

interface Kept {
  readonly count: number;
  mostKept: number;
}

const every = 500;
/** Smaller surpluses over the mean are not worth moving. */
const tolerance = { factor: 1.25, extra: 8 };

/**
 * Connections go to whichever process is idle and stay there, so long-lived ones may pile up in one process. A process far above the mean
 * closes some after their responses.
 */
export function keepFairShare(connections: Kept, siblings: Siblings): void {
  const look = async (): Promise<void> => {
    try {
      const mean = await siblings.meanConnections(connections.count);
      const share = mean * tolerance.factor + tolerance.extra;
      // New connections arrive faster than this check, so only an existing surplus counts.
      connections.mostKept = connections.count > share ? share : Number.POSITIVE_INFINITY;
    } catch {
      connections.mostKept = Number.POSITIVE_INFINITY; // Without a supervisor there is nobody to share with.
    }
  };
  setInterval(() => void look(), every).unref();
}
