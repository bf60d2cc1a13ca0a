import { z } from "zod";
import { RunEvent } from "../core/run/events.ts";
import { Feedback } from "../core/run/feedback.ts";
import type { RunRequest } from "../core/run/run-request.ts";

/** A run exported as one JSON Lines file: its request, then signals, kept wire bytes and events. */
export const Heading = z.strictObject({
  venturi: z.literal("run"),
  version: z.literal(1),
  run: z.string().min(1),
  /** Absent in files written before tenants existed. */
  tenant: z.string().min(1).optional(),
  session: z.string().optional(),
  createdAt: z.number(),
  // The request's shape is internal and grows; only the agent's name is checked here.
  request: z.looseObject({ agent: z.string(), input: z.looseObject({}) }).transform((value) => value as RunRequest),
});
export type Heading = z.output<typeof Heading>;

export const Line = z.union([
  z.strictObject({ event: RunEvent }),
  z.strictObject({
    signal: z.strictObject({
      number: z.number().int(),
      id: z.string(),
      kind: z.enum(["cancel", "approve", "message"]),
      body: z.record(z.string(), z.unknown()),
    }),
  }),
  z.strictObject({
    wire: z.strictObject({
      round: z.number().int(),
      attempt: z.number().int(),
      wire: z.string(),
      /** Base64. */
      bytes: z.string(),
    }),
  }),
  /** Feedback and other notes stored next to the run. */
  z.strictObject({ notes: z.strictObject({ feedback: z.array(Feedback).max(500) }) }),
  /** Base64 of a blob referred to by hash. */
  z.strictObject({ blob: z.strictObject({ hash: z.string(), bytes: z.string() }) }),
]);
export type Line = z.output<typeof Line>;
