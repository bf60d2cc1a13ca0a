import type { Clock } from "../core/clock.ts";
import { VenturiError } from "../core/errors.ts";
import type { Journal } from "../core/journal.ts";
import type { Log } from "../core/log.ts";
import type { Runs } from "../core/runs.ts";
import type { Telemetry } from "../core/telemetry.ts";
import type { Generations } from "./generations.ts";

export interface RunsParts {
  /** Measured already. */
  readonly journal: Journal;
  /** A run takes `generations.acquire()` and lets go when it ends. */
  readonly generations: Generations;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly log: Log;
}

export interface OpenRuns {
  readonly runs: Runs;
  /** Stops taking work; what is under way is given back to the journal. */
  close(): Promise<void>;
}

/** Runs over the journal, the worker and the loop. */
export async function openRuns(_parts: RunsParts): Promise<OpenRuns> {
  const missing = () => {
    throw new VenturiError("runs.open", "internal", "runs are not built yet");
  };
  const runs: Runs = {
    start: missing,
    follow: missing,
    get: missing,
    list: missing,
    cancel: missing,
    signal: missing,
    agents: () => [],
  };
  return { runs, close: async () => {} };
}
