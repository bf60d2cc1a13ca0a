import type { Cron } from "croner";

/** When a schedule is due. Pure: the same on every replica, from wherever it is asked. */
export interface Occurrences {
  /** The first time after this one; undefined when there is none. */
  next(after: number): number | undefined;
}

/** Years beyond this are not a time that anybody waits for, and what croner says of them was never looked at. */
const last = Date.UTC(2200, 0);

/** Loaded with the first cron expression: a service without schedules has no cron library. */
let library: Promise<typeof import("croner")> | undefined;

export async function occurrencesOf(schedule: {
  readonly cron?: string | undefined;
  readonly at?: number | undefined;
  readonly timezone: string;
}): Promise<Occurrences> {
  const { cron, at, timezone } = schedule;
  if (cron === undefined) return { next: (after) => (at !== undefined && at > after ? at : undefined) };
  library ??= import("croner");
  const pattern = new (await library).Cron(cron, { timezone, paused: true });
  // Asked every second, and the same for all of them until it is due: croner takes some 20 µs.
  let asked = Number.POSITIVE_INFINITY;
  let found = 0;
  return {
    next(after) {
      // From the second after: a pattern has no parts of one, and from within a second croner would say the same one again.
      const second = Math.floor(after / 1_000) * 1_000;
      if (second < asked || second >= found) found = nextOf(pattern, second);
      asked = second;
      return found === Number.POSITIVE_INFINITY ? undefined : found;
    },
  };
}

function nextOf(pattern: Cron, second: number): number {
  const found = pattern.nextRun(new Date(second))?.getTime();
  return found === undefined || found > last ? Number.POSITIVE_INFINITY : found;
}

/** Why these cannot be used, by key; nothing when they can. */
export async function timingProblems({
  cron,
  timezone,
}: {
  readonly cron?: string | undefined;
  readonly timezone: string;
}): Promise<{ readonly key: "cron" | "timezone"; readonly message: string }[]> {
  if (!isZone(timezone)) {
    return [{ key: "timezone", message: `"${timezone}" is not an IANA time zone such as "Europe/Berlin"` }];
  }
  if (cron === undefined) return [];
  try {
    const { next } = await occurrencesOf({ cron, timezone });
    return next(Date.UTC(2024, 0)) === undefined ? [{ key: "cron", message: `"${cron}" is never due` }] : [];
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message.replace(/^CronPattern: /, "") : String(thrown);
    return [{ key: "cron", message: `"${cron}" is not a cron expression: ${reason}` }];
  }
}

function isZone(zone: string): boolean {
  try {
    // Offsets are accepted there too, but have no daylight saving time, which is what a zone is for.
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "" && !/^[+-]/.test(zone);
  } catch {
    return false;
  }
}
