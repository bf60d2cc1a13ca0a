import { momentIn } from "venturi/internal";

const pattern = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::(\d\d)(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Parses an ISO 8601 time with its offset to ms since the epoch, or returns why it is invalid. */
export function momentWithOffset(text: string): number | string {
  const match = pattern.exec(text.trim());
  if (match === null) return `expected a moment with its offset, such as "2027-01-01T09:00:00+01:00"`;
  // POSIX time has no leap seconds, so there is no such time to wait for.
  if (match[1] === "60") return "leap seconds have no time of their own here; write second 59 or the next minute";
  return momentIn(text) ?? `there is no ${text.trim()} in the calendar`;
}

export const isoOf = (moment: number): string => new Date(moment).toISOString();
