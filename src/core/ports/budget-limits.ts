import { VenturiError } from "../errors/errors.ts";
import type { Budget } from "./tool.ts";

/** A sub-run's limits: what its caller has left. */
export function budgetLimits({ tokens, time, maxToolCalls }: Budget): Record<string, number> {
  if ((tokens ?? 1) < 1 || (time ?? 1) < 1) {
    throw new VenturiError("tool.call", "budget_exceeded", "the budget of the calling run is used up");
  }
  return {
    maxToolCalls,
    ...(tokens === undefined ? {} : { tokens }),
    ...(time === undefined ? {} : { time: Math.floor(time) }),
  };
}
