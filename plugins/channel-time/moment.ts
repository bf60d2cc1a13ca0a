const pattern = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(?::(\d\d)(\.\d{1,9})?)?([Zz]|[+-]\d\d:\d\d)$/;

/** Parses an ISO 8601 time to ms since the epoch, or returns why it is invalid. */
export function momentIn(text: string): number | string {
  const [, date, time, seconds = "00", fraction = "", offset] = pattern.exec(text.trim()) ?? [];
  if (date === undefined) return `expected a moment with its offset, such as "2027-01-01T09:00:00+01:00"`;
  // POSIX time has no leap seconds, so there is no such time to wait for.
  if (seconds === "60") return "leap seconds have no time of their own here; write second 59 or the next minute";
  const moment = Date.parse(`${date}T${time}:${seconds}${fraction.slice(0, 4)}${offset?.toUpperCase()}`);
  if (Number.isNaN(moment) || !isDay(date)) return `there is no ${text.trim()} in the calendar`;
  return moment;
}

/** Checks the day: `Date.parse` reads 30 February as 2 March. */
const isDay = (date: string): boolean => new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);

export const isoOf = (moment: number): string => new Date(moment).toISOString();
