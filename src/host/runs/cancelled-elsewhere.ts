import { cancelled } from "../../agent/run-context.ts";
import { RunState } from "../../agent/state/run-state.ts";
import { noTiming } from "../../core/events.ts";
import type { Signal } from "../../core/journal.ts";
import type { PipelineWork } from "../../core/pipeline.ts";

/**
 * Ends a run whose agent is not here, if someone cancelled it: that takes no agent, and whoever cancelled waits for the end. A
 * run that was not cancelled is left open, and so given back for a worker that has its agent.
 */
export async function endIfCancelled({ claim, log, history, signals }: PipelineWork): Promise<void> {
  let cancel: Signal | undefined;
  signals.subscribe(0, (signal) => {
    if (signal.kind === "cancel") cancel ??= signal;
  })();
  if (cancel === undefined) return;
  const { agent, input } = claim.request;
  if (history.length === 0) log.write({ type: "run.started", agent, input });
  const { output, usage, roundNumber } = RunState.of(history);
  const error = cancelled(cancel.body);
  await log.step({ type: "run.failed", error: error.toJSON(), output, usage, rounds: roundNumber, timing: noTiming });
}
