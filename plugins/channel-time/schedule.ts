import { createHash } from "node:crypto";
import type { RunInput, StoredSchedule } from "venturi/plugin";
import { isoOf } from "./moment.ts";
import { type Occurrences, occurrencesOf } from "./occurrences.ts";
import type { ScheduleOptions } from "./schedule-options.ts";

/** A watched schedule and its origin. */
export interface Schedule {
  readonly source: "config" | "api";
  readonly definition: StoredSchedule;
  readonly occurrences: Occurrences;
}

export const idOf = ({ tenant, name }: Pick<StoredSchedule, "tenant" | "name">): string =>
  `${encodeURIComponent(tenant)}/${name}`;

/** The idempotency key, which alone makes a start happen once. */
export const keyOf = (name: string, time: number): string => `schedule:${name}:${isoOf(time)}`;

export const inputOf = (input: string | RunInput): RunInput => (typeof input === "string" ? { text: input } : input);

export async function watched(source: Schedule["source"], definition: StoredSchedule): Promise<Schedule> {
  const occurrences = await occurrencesOf(definition);
  occurrences.next(definition.createdAt); // Throws now, and not when all schedules are looked at.
  return { source, definition, occurrences };
}

/** `first`: when the schedule was first seen, from which `in` counts. */
export function fromConfig(name: string, options: ScheduleOptions, first: number): StoredSchedule {
  const { enabled: _, in: after, at, cron, input, session, metadata, notify, ...rest } = options;
  const moment = at ?? (after === undefined ? undefined : first + after);
  return {
    name,
    ...rest,
    input: inputOf(input),
    createdAt: first,
    ...(cron === undefined ? {} : { cron }),
    ...(moment === undefined ? {} : { at: moment }),
    ...(session === undefined ? {} : { session }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(notify === undefined ? {} : { notify: noUndefined(notify) }),
  };
}

export const noUndefined = ({ webhook, url }: { webhook: string; url?: string | undefined }) => ({
  webhook,
  ...(url === undefined ? {} : { url }),
});

/** Random delay of this start, derived from name and time, so that every replica computes the same. */
export function jitterOf({ tenant, name, jitter }: StoredSchedule, time: number): number {
  if (jitter === 0) return 0;
  const hash = createHash("sha256").update(`${tenant}\n${name}\n${time}`).digest();
  return Math.floor((hash.readUInt32BE(0) / 2 ** 32) * jitter);
}
