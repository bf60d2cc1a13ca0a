import { reasonsOf, type VenturiError } from "../core/errors/errors.ts";
import type { PendingCall } from "../core/run/event-fields.ts";
import { noTiming, timeIn } from "../core/run/timing.ts";
import { toolsFor } from "./model/request.ts";
import { limitIn } from "./run/limit-reached.ts";
import type { RunContext } from "./run/run-context.ts";
import { clientCalls } from "./tools/client-calls.ts";

/** A successful end of a run. */
export interface Ending {
  readonly finish: string;
  readonly object?: unknown;
  readonly calls?: PendingCall[];
}

export function writeFinished(run: RunContext, ending: Ending): void {
  const { state } = run;
  run.emit({
    type: "run.finished",
    finish: ending.finish,
    output: state.output,
    ...(ending.object === undefined ? {} : { object: ending.object }),
    ...(ending.calls === undefined ? {} : { calls: ending.calls }),
    ...state.spending.bill,
    rounds: state.roundNumber,
    timing: noTiming, // Filled in when the event is written.
  });
}

/** One log line per run, once its end is durable. `failure` includes the causes, which the event must not expose. */
export function logEnd(run: RunContext, failure: VenturiError | undefined): void {
  const { terminal, started, model } = run.state;
  if (terminal === undefined) return;
  const { usage, cost, totalCost, rounds, timing } = terminal;
  const fields = {
    run: run.run,
    agent: run.agent.name,
    ...callerOf(run),
    provider: model?.split("/", 1)[0],
    model,
    ms: timeIn(timing),
    ...(timing.queue ? { queuedMs: Math.round(timing.queue) } : {}),
    rounds,
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    cacheReadTokens: usage.cacheReadTokens,
    cacheWriteTokens: usage.cacheWriteTokens,
    cost,
    totalCost,
    trace: started?.trace?.split("-")[1],
  };
  const { log } = run.deps;
  if (terminal.type === "run.finished") return log.info("run finished", { ...fields, finish: terminal.finish });
  const { code, op, err } = terminal.error;
  const reason = failure === undefined ? err : reasonsOf(failure).join(": ");
  log.warn("run failed", { ...fields, code, op, reason });
}

function callerOf({ deps: { request, tenant } }: RunContext): Record<string, unknown> {
  return {
    ...(tenant === undefined ? {} : { tenant }),
    ...(request.session === undefined ? {} : { session: request.session }),
    ...(request.parent === undefined ? {} : { parent: request.parent.run }),
  };
}

/** Writes the terminal event of a stopped run. A limit may be a normal end, by `onLimit`; anything else is a failure. */
export async function writeEndOf(run: RunContext, error: VenturiError): Promise<void> {
  const { state, hooks } = run;
  const reached = limitIn(error);
  // For a budget, `onExceed` decides instead.
  const limit = run.agent.limits.onLimit === "finish" || reached === "budget" ? reached : undefined;
  const outcome = limit === undefined ? { error } : { finish: limit };
  hooks.hurry(run.agent.toolPolicy.grace);
  // The run has already ended, so a throwing hook has nothing left to stop.
  await hooks.afterRun({ ...outcome, output: state.output }).catch(() => {});
  if (limit !== undefined) return writeFinished(run, { finish: limit, ...wholeCalls(run) });
  run.emit({
    type: "run.failed",
    error: error.toJSON(),
    output: state.output,
    ...state.spending.bill,
    rounds: state.roundNumber,
    timing: noTiming, // Filled in when the event is written.
  });
}

/** Calls of client tools that were whole before the limit: a client that follows the run has seen them. */
function wholeCalls(run: RunContext): Pick<Ending, "calls"> {
  const round = run.state.round ?? run.state.closedRound;
  const calls = round === undefined ? [] : clientCalls(round, toolsFor(run)).filter(({ raw }) => raw === undefined);
  return calls.length === 0 ? {} : { calls };
}
