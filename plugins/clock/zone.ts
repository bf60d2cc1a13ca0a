/** Local time in a zone. */
export interface WallTime {
  /** The local time, encoded as if it were UTC. */
  readonly asUtc: number;
  readonly text: string;
  readonly offsetText: string;
}

const formats = new Map<string, Intl.DateTimeFormat>();

export function isTimeZone(zone: string): boolean {
  try {
    return formatOf(zone) !== undefined;
  } catch {
    return false; // Intl throws a RangeError for an unknown zone.
  }
}

export function wallTime(at: number, zone: string): WallTime {
  const asUtc = readingOf(at, zone);
  const minutes = Math.round((asUtc - Math.floor(at / 1000) * 1000) / 60_000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const sign = minutes < 0 ? "-" : "+";
  return {
    asUtc,
    text: new Date(asUtc).toISOString().replace(/\.\d+Z$/, ""),
    offsetText: minutes === 0 ? "Z" : `${sign}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`,
  };
}

/** The instant with this local time. If a clock change skips it, equally long after the change. */
export function momentOf(asUtc: number, zone: string): number {
  const guess = asUtc - (readingOf(asUtc, zone) - asUtc);
  const corrected = guess - (readingOf(guess, zone) - asUtc);
  return readingOf(corrected, zone) === asUtc ? corrected : Math.max(guess, corrected);
}

function readingOf(at: number, zone: string): number {
  const date = new Date(Math.floor(at / 1000) * 1000);
  if (Number.isNaN(date.getTime())) return Number.NaN;
  const fields: Record<string, number> = {};
  for (const field of formatOf(zone).formatToParts(date)) fields[field.type] = Number(field.value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = fields;
  const reading = new Date(0);
  reading.setUTCFullYear(year, month - 1, day); // Date.UTC would map years 0 to 99 to 1900 to 1999.
  reading.setUTCHours(hour, minute, second);
  return reading.getTime();
}

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "iso8601",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formats.set(zone, format);
  }
  return format;
}
