import type { Cron } from "croner";

/** When a schedule is due. Pure: the same on every replica. */
export interface Occurrences {
  /** The first time after this one; undefined if there is none. */
  next(after: number): number | undefined;
}

/** Later years are refused: nobody waits for them, and croner is untested there. */
const last = Date.UTC(2200, 0);

/** Loaded with the first cron expression, so that services without schedules do not load it. */
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
  // Cached: it is asked every second and stays the same until due, while croner takes about 20 µs.
  let asked = Number.POSITIVE_INFINITY;
  let found = 0;
  return {
    next(after) {
      // Whole seconds: patterns have no fractions, and croner would return the same second again.
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

/** Problems of these settings, by key; empty if there are none. */
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
    // Fixed offsets are accepted there too, but have no daylight saving time.
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "" && !/^[+-]/.test(zone);
  } catch {
    return false;
  }
}
