import { budgetLimits, costOfAll, isHandover, traceHeadersIn } from "venturi/internal";
import {
  type Runs,
  type TerminalEvent,
  type ToolContext,
  terminalOf,
  VenturiError,
  type Verdict,
} from "venturi/plugin";
import { CalledRun } from "./called-run.ts";

const op = "tool.call";

export interface Task {
  readonly agent: string;
  readonly maxDepth: number;
  readonly task: string;
  readonly variables?: Record<string, unknown> | undefined;
}

/** Runs another agent to its end. A call repeated after a crash finds the run it had started. */
export async function runAgent(runs: Runs, task: Task, context: ToolContext): Promise<unknown> {
  context.signal.throwIfAborted();
  const depth = context.depth + 1;
  if (depth > task.maxDepth) {
    throw new VenturiError(op, "tool_denied", `agents may call agents ${task.maxDepth} deep; do this task yourself`);
  }
  const { run } = await runs.start(
    {
      agent: task.agent,
      limits: budgetLimits(context.budget()),
      input: { text: task.task, ...(task.variables === undefined ? {} : { variables: task.variables }) },
      parent: { run: context.run, call: context.call, depth },
      ...traceHeadersIn(context),
    },
    { key: `agent:${context.idempotencyKey}`, context: context.stored },
  );
  context.log.info("agent called as a tool", { run: context.run, call: context.call, agent: task.agent, child: run });
  context.progress(`run ${run}\n`);
  const answer = (call: string, { arguments: _, for: __, ...verdict }: Verdict, question: string) => {
    const body = { call, ...verdict };
    return runs.signal(run, "approve", body, `approve:${question}`);
  };
  const called = new CalledRun({ run, agent: task.agent, context, answer });
  const end = await called.follow(runs.follow(run, { signal: context.signal, channel: "tool" }));
  if (end !== undefined) return outcome(end, task.agent, run);
  // If the calling run was parked or moved, its next owner finds this run by its key.
  if (!isHandover(context.signal.reason)) await cancel(runs, run, context);
  throw new VenturiError(op, "stream_interrupted", `the run ${run} of "${task.agent}" was cancelled with its caller`);
}

/** Its usage counts towards the caller as well. */
async function cancel(runs: Runs, run: string, context: ToolContext): Promise<void> {
  await runs.cancel(run, "the calling run was cancelled");
  const { head } = await runs.get(run);
  const end = await terminalOf(runs.follow(run, { after: Math.max(0, head - 1), channel: "tool" }));
  if (end !== undefined) context.spent(end.usage, costOfAll(end));
}

function outcome(end: TerminalEvent, agent: string, run: string): unknown {
  if (end.type === "run.finished") return end.object ?? end.output;
  const { code, err } = end.error;
  throw new VenturiError(op, "tool_failed", `the agent "${agent}" failed: ${code}: ${err}`, { details: { run, code } });
}
