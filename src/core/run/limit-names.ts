/** Finish reasons of a run that ended at one of its own limits. */
export const limitNames = [
  "max_rounds",
  "max_tool_calls",
  "max_tokens",
  "max_output",
  "max_time",
  "repeated_calls",
  "budget",
] as const;
export type LimitName = (typeof limitNames)[number];

export const isLimitName = (finish: string): finish is LimitName => (limitNames as readonly string[]).includes(finish);

/** Whether the answer is incomplete because the model or the run reached a limit. */
export const isCutShort = (finish: string): boolean => finish === "length" || isLimitName(finish);
