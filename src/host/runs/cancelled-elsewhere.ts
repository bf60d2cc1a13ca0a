import { cancelled } from "../../agent/run/run-context.ts";
import { RunState } from "../../agent/state/run-state.ts";
import type { Signal } from "../../core/journal/journal.ts";
import type { PipelineWork } from "../../core/ports/pipeline.ts";
import { timingUntil } from "../../core/run/timing.ts";

/**
 * Ends a cancelled run whose agent is not configured here: that needs no agent, and the canceller is waiting. Other runs are released for a
 * worker with the agent.
 */
export async function endIfCancelled({ claim, log, history, signals, now }: PipelineWork): Promise<void> {
  let cancel: Signal | undefined;
  signals.subscribe(0, (signal) => {
    if (signal.kind === "cancel") cancel ??= signal;
  })();
  if (cancel === undefined) return;
  const { agent, input } = claim.request;
  if (history.length === 0) log.write({ type: "run.started", agent, input });
  const { output, spending, roundNumber: rounds } = RunState.of(history);
  const error = cancelled(cancel.body);
  const timing = timingUntil(history, now());
  await log.step({ type: "run.failed", error: error.toJSON(), output, ...spending.bill, rounds, timing });
}
