/** A command shows a run, not the service's log: only warnings are logged unless the user asks for more. */
export const quietly = (set: readonly string[]): readonly string[] =>
  set.some((assignment) => assignment.startsWith("telemetry.logs")) ? set : ["telemetry.logs.level=warn", ...set];
