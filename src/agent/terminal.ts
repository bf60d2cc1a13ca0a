import type { VenturiError } from "../core/errors.ts";
import type { PendingCall } from "../core/events.ts";
import type { RunContext } from "./run-context.ts";

/** How a run ended well. */
export interface Ending {
  readonly finish: string;
  readonly object?: unknown;
  readonly calls?: PendingCall[];
}

export function writeFinished(run: RunContext, ending: Ending): void {
  const { state, time } = run;
  run.emit({
    type: "run.finished",
    finish: ending.finish,
    output: state.output,
    ...(ending.object === undefined ? {} : { object: ending.object }),
    ...(ending.calls === undefined ? {} : { calls: ending.calls }),
    usage: state.usage,
    rounds: state.roundNumber,
    timing: time.total(),
  });
}

/** The terminal event of a run that something stopped. A limit may be a good end, by `onLimit`; all else is a failure. */
export async function writeEndOf(run: RunContext, error: VenturiError): Promise<void> {
  const limit = error.details?.limit;
  if (typeof limit === "string" && run.agent.limits.onLimit === "finish") return writeFinished(run, { finish: limit });
  const { state, time, hooks } = run;
  // A hook that throws here has nothing left to stop; the run's own error is what counts.
  await hooks.afterRun({ error, output: state.output }).catch(() => {});
  run.emit({
    type: "run.failed",
    error: error.toJSON(),
    output: state.output,
    usage: state.usage,
    rounds: state.roundNumber,
    timing: time.total(),
  });
}
