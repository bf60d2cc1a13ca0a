import { momentOf, wallTime } from "./zone.ts";

interface Span {
  readonly years?: number | undefined;
  readonly months?: number | undefined;
  readonly weeks?: number | undefined;
  readonly days?: number | undefined;
  readonly hours?: number | undefined;
  readonly minutes?: number | undefined;
  readonly seconds?: number | undefined;
}

/**
 * Years to days move by the calendar (a day across a clock change keeps the hour; 31 January plus a month is the last of
 * February); hours and below are exact durations.
 */
export function addToDate(at: number, zone: string, span: Span): number {
  const { years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0 } = span;
  const exact = ((hours * 60 + minutes) * 60 + seconds) * 1000;
  if (years === 0 && months === 0 && weeks === 0 && days === 0) return at + exact;
  const wall = new Date(wallTime(at, zone).asUtc);
  const day = wall.getUTCDate();
  wall.setUTCDate(1);
  wall.setUTCMonth(wall.getUTCMonth() + years * 12 + months);
  wall.setUTCDate(Math.min(day, daysInMonth(wall)) + weeks * 7 + days);
  return momentOf(wall.getTime(), zone) + exact;
}

const daysInMonth = (date: Date): number => {
  const last = new Date(date);
  last.setUTCMonth(last.getUTCMonth() + 1, 0);
  return last.getUTCDate();
};
