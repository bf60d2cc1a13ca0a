const written = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)([Zz]|[+-]\d\d:?\d\d)?)?$/;

/**
 * Parses an ISO 8601 day or time to ms since the epoch; undefined if it is none, or not in the calendar. Without an offset it is UTC, in
 * which times are shown. `Date.parse` alone takes 30 February for 2 March, "foo 3" for March 2001, and a time for the process's zone.
 */
export function momentIn(text: string): number | undefined {
  const [, day, time = "00:00", offset = "Z"] = written.exec(text.trim()) ?? [];
  if (day === undefined || !isDay(day)) return undefined;
  const moment = Date.parse(`${day}T${time}${offset.toUpperCase().replace(/(\d\d)(\d\d)$/, "$1:$2")}`);
  return Number.isNaN(moment) ? undefined : moment;
}

function isDay(day: string): boolean {
  const start = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(start) && new Date(start).toISOString().startsWith(day);
}
