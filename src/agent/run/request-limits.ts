import { z } from "zod";
import { complaintsOf } from "../../core/errors/complaints.ts";
import { VenturiError } from "../../core/errors/errors.ts";
import type { Limits } from "./definition.ts";

const Asked = z.strictObject({
  maxToolRounds: z.int().min(0).optional(),
  maxToolCalls: z.int().min(0).optional(),
  tokens: z.int().min(1).optional(),
  time: z.int().min(1).optional(),
});

/** A request may lower the agent's limits, never raise them. */
export function lowerLimits(limits: Limits, asked: Readonly<Record<string, unknown>> | undefined): Limits {
  if (asked === undefined) return limits;
  const parsed = Asked.safeParse(asked);
  if (!parsed.success) {
    const [first] = complaintsOf(Asked, asked, parsed.error);
    const message = `limits${first?.path ? `.${first.path}` : ""}: ${first?.message ?? "not valid"}`;
    throw new VenturiError("run.start", "invalid_input", message);
  }
  const { maxToolRounds, maxToolCalls, tokens, time } = parsed.data;
  return {
    ...limits,
    maxToolRounds: Math.min(limits.maxToolRounds, maxToolRounds ?? limits.maxToolRounds),
    maxToolCalls: Math.min(limits.maxToolCalls, maxToolCalls ?? limits.maxToolCalls),
    tokens: lower(limits.tokens, tokens),
    time: lower(limits.time, time),
  };
}

const lower = (left: number | undefined, right: number | undefined): number | undefined =>
  left === undefined || right === undefined ? (left ?? right) : Math.min(left, right);
