/**
 * Permissions of a caller. `start`: start runs and read their answers; `see`: runs, sessions and lists of its tenant; `steer`:
 * send messages and cancel; `inspect`: traces and the audit log; `approve`: tool calls; `metrics`: of the whole service;
 * `schedule`: make and remove schedules, whose runs start without it.
 */
export const scopes = ["start", "see", "steer", "inspect", "approve", "metrics", "schedule"] as const;
export type Scope = (typeof scopes)[number];
