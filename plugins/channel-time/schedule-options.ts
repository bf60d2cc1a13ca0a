import { overlaps } from "venturi/internal";
import { Duration } from "venturi/plugin";
import { RunInput } from "venturi/plugin/channel";
import { z } from "zod";
import { momentWithOffset } from "./moment.ts";

const upTo = (days: number) => Duration.refine((ms) => ms <= days * 86_400_000, { error: `at most ${days}d` });

export const timing = {
  cron: z.string().max(256).optional().describe("cron expression of five fields, or six with seconds in front"),
  at: z
    .string()
    .transform((text, context) => {
      const moment = momentWithOffset(text);
      if (typeof moment === "number") return moment;
      context.addIssue({ code: "custom", message: moment });
      return z.NEVER;
    })
    .optional()
    .describe("a single time, with its offset: 2027-01-01T09:00:00+01:00"),
  in: upTo(36_600).optional().describe("a single time, this long after the schedule is first seen"),
  timezone: z.string().max(64).prefault("UTC").describe("IANA time zone of `cron`"),
  overlap: z
    .enum(overlaps)
    .prefault("queue")
    .describe("if the previous run is still active: skip this time, queue it within `catchUp`, or cancel that run"),
  jitter: upTo(366).prefault(0).describe("each start is delayed by up to this much, the same on every replica"),
  catchUp: upTo(366).prefault("1h").describe("how long a missed time can be made up for"),
};

export const what = {
  agent: z.string().min(1).describe("agent to start"),
  input: z.union([z.string(), RunInput]).describe("input: a text, or text, messages and variables"),
  session: z.string().min(1).max(256).optional().describe("conversation that its runs continue"),
  metadata: z.record(z.string(), z.unknown()).optional().describe("metadata of its runs"),
  notify: z
    .strictObject({ webhook: z.string(), url: z.url().optional() })
    .optional()
    .describe("webhook that reports its runs"),
};

/** Names are part of idempotency keys and URLs. */
export const scheduleName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/, "a name has letters, digits, _, . and -, at most 128");

/** Checks what the schema cannot: exactly one of the three is set. */
export function oneTime(value: { cron?: unknown; at?: unknown; in?: unknown }): string | undefined {
  const given = [value.cron, value.at, value.in].filter((each) => each !== undefined).length;
  return given === 1 ? undefined : "write one of cron, at and in";
}

export const ScheduleOptions = z
  .strictObject({
    ...timing,
    ...what,
    tenant: z.string().min(1).max(128).prefault("default").describe("owner of its runs"),
    enabled: z.boolean().prefault(true),
  })
  .superRefine((value, context) => {
    const message = oneTime(value);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });
export type ScheduleOptions = z.output<typeof ScheduleOptions>;
