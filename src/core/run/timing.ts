import type { Timing } from "./event-fields.ts";
import type { RunEvent } from "./events.ts";
import { RunTimes } from "./run-times.ts";
import { timeParts, timingKey } from "./time-parts.ts";

const keys = timeParts.map((part) => [part, timingKey(part)] as const);
/** Copied and filled: building an object from entries takes twenty times as long, and every run ends with one. */
const zeros = Object.fromEntries(keys.map(([, key]) => [key, 0]));

/** The breakdown of a run that ends now. */
export function timingOf(times: RunTimes, now?: number): Timing {
  const totals = times.totals(now);
  const timing: Record<string, number> = { ...zeros };
  for (const [part, key] of keys) timing[key] = totals[part];
  return timing as unknown as Timing; // Every part has a key.
}

/** The time of all parts, whole ms. */
export function timeIn(timing: Timing): number {
  let sum = 0;
  for (const [, key] of keys) sum += (timing as Readonly<Record<string, number | undefined>>)[key] ?? 0; // Earlier releases knew fewer parts.
  return Math.round(sum);
}

/** The breakdown of a run that ends now, from all its events. */
export function timingUntil(history: readonly RunEvent[], now: number): Timing {
  const times = RunTimes.of(history);
  times.take({ type: "run.failed", at: now });
  return timingOf(times);
}

export const noTiming: Timing = Object.freeze(timingOf(new RunTimes()));
