/** A command shows the run and its failure, not the service's log: only errors are logged unless the user asks for more. */
export const quietly = (set: readonly string[]): readonly string[] =>
  set.some((assignment) => assignment.startsWith("telemetry.logs")) ? set : ["telemetry.logs.level=error", ...set];
