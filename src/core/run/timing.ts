import type { Timing } from "./event-parts.ts";
import type { RunEvent } from "./events.ts";
import { RunTimes } from "./run-times.ts";
import { timeParts, timingKey } from "./time-parts.ts";

/** The breakdown of a run that ends now. */
export function timingOf(times: RunTimes, now?: number): Timing {
  const totals = times.totals(now);
  return Object.fromEntries(timeParts.map((part) => [timingKey(part), totals[part]])) as Timing; // Every part has a key.
}

/** The breakdown of a run that ends now, from all its events. */
export function timingUntil(history: readonly RunEvent[], now: number): Timing {
  const times = RunTimes.of(history);
  times.take({ type: "run.failed", at: now });
  return timingOf(times);
}

export const noTiming: Timing = Object.freeze(timingOf(new RunTimes()));
