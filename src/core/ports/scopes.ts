/**
 * Permissions of a caller. `start`: start runs and read their answers; `see`: list and read its tenant's runs and sessions; `steer`: send
 * messages and cancel; `inspect`: traces and the audit log; `approve`: decide on tool calls; `metrics`: metrics of the whole service;
 * `schedule`: create and remove schedules.
 */
export const scopes = ["start", "see", "steer", "inspect", "approve", "metrics", "schedule"] as const;
export type Scope = (typeof scopes)[number];
