import { momentIn } from "venturi/internal";
import { definePlugin, defineTool, fromToolOptions, toolOptions, VenturiError } from "venturi/plugin";
import { z } from "zod";
import { addToDate } from "./calendar.ts";
import { isTimeZone, momentOf, wallTime } from "./zone.ts";

const timeZone = z.string().max(64);
const amount = z.number().int().min(-100_000).max(100_000);

const parameters = z.strictObject({
  timeZone: timeZone.optional().describe('IANA time zone such as "Europe/Berlin"; the configured one when absent'),
  at: z
    .string()
    .max(40)
    .optional()
    .describe("ISO 8601 date-time to look at instead of now; without an offset it is in the time zone"),
  add: z
    .strictObject({
      years: amount.optional(),
      months: amount.optional(),
      weeks: amount.optional(),
      days: amount.optional(),
      hours: amount.optional(),
      minutes: amount.optional(),
      seconds: amount.optional(),
    })
    .optional()
    .describe("move on by this much (negative: back), by the calendar of the time zone"),
  until: z.string().max(40).optional().describe("ISO 8601 date-time to measure the distance to"),
});

export default definePlugin({
  name: "clock",
  kind: "tool",
  description: "The time in any time zone, and date arithmetic",
  options: z.strictObject({
    ...toolOptions,
    timeZone: timeZone
      .refine(isTimeZone, { error: 'expected an IANA time zone such as "Europe/Berlin"' })
      .default("UTC"),
    locale: z.string().default("en-GB"),
  }),
  create: (options, context) =>
    defineTool({
      ...fromToolOptions(options),
      name: context.name,
      description: `Tells the current date and time (time zone ${options.timeZone} unless another is asked for), and adds to or measures between dates.`,
      input: parameters,
      effect: "pure",
      call(input) {
        const zone = input.timeZone ?? options.timeZone;
        if (!isTimeZone(zone)) throw failure(`"${zone}" is not a time zone; use an IANA name such as "Europe/Berlin"`);
        const from = input.at === undefined ? context.clock.now() : read(input.at, zone);
        const at = input.add === undefined ? from : addToDate(from, zone, input.add);
        const described = tell(at, zone, options.locale);
        return input.until === undefined ? described : { ...described, until: distance(at, read(input.until, zone)) };
      },
    }),
});

const firstMoment = Date.parse("0001-01-02T00:00:00Z");
const lastMoment = Date.parse("9999-12-31T00:00:00Z");

function tell(at: number, zone: string, locale: string) {
  const date = new Date(at);
  if (!(at >= firstMoment && at < lastMoment)) throw failure("the result is outside the years 1 to 9999");
  const format = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "long", timeZone: zone });
  const wall = wallTime(at, zone);
  return { iso: `${wall.text}${wall.offsetText}`, timeZone: zone, human: format.format(date), epochMs: at };
}

function distance(from: number, to: number) {
  const seconds = Math.trunc((to - from) / 1000);
  const left = Math.abs(seconds);
  const units = [
    `${Math.floor(left / 86_400)} days`,
    `${Math.floor((left % 86_400) / 3_600)} hours`,
    `${Math.floor((left % 3_600) / 60)} minutes`,
    `${left % 60} seconds`,
  ].filter((unit) => !unit.startsWith("0 "));
  return { seconds, human: `${units.join(", ") || "0 seconds"}${seconds < 0 ? " ago" : ""}` };
}

const dateTime = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/i;

/** Text without an offset is local time in the zone. */
function read(text: string, zone: string): number {
  const match = dateTime.exec(text.trim());
  const hasOffset = match?.[1] !== undefined;
  const utc = match === null ? undefined : momentIn(text);
  if (utc === undefined) throw failure(`"${text}" is not an ISO 8601 date-time such as "2026-03-01T09:30:00+01:00"`);
  return hasOffset ? utc : momentOf(utc, zone);
}

const failure = (message: string) => new VenturiError("tool.call", "tool_failed", message);
