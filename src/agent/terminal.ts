import type { VenturiError } from "../core/errors.ts";
import type { PendingCall } from "../core/events.ts";
import { limitIn } from "./limits.ts";
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
  const { state, time, hooks } = run;
  const limit = run.agent.limits.onLimit === "finish" ? limitIn(error) : undefined;
  const outcome = limit === undefined ? { error } : { finish: limit };
  hooks.hurry(run.agent.toolPolicy.grace);
  // A hook that throws here has nothing left to stop; how the run ended is what counts.
  await hooks.afterRun({ ...outcome, output: state.output }).catch(() => {});
  if (limit !== undefined) return writeFinished(run, { finish: limit });
  run.emit({
    type: "run.failed",
    error: error.toJSON(),
    output: state.output,
    usage: state.usage,
    rounds: state.roundNumber,
    timing: time.total(),
  });
}
