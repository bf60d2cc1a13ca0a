import {
  isTerminal,
  type RunEvent,
  type Runs,
  type TerminalEvent,
  type ToolContext,
  VenturiError,
} from "venturi/plugin";

const op = "tool.call";

export interface Task {
  readonly agent: string;
  readonly maxDepth: number;
  readonly task: string;
  readonly variables?: Record<string, unknown> | undefined;
}

/** Runs another agent to its end. The same call, made again after a crash, finds the run that it started before. */
export async function runAgent(runs: Runs, task: Task, context: ToolContext): Promise<unknown> {
  context.signal.throwIfAborted();
  const depth = context.depth + 1;
  if (depth > task.maxDepth) {
    throw new VenturiError(op, "tool_denied", `agents may call agents ${task.maxDepth} deep; do this task yourself`);
  }
  const { run } = await runs.start(
    {
      agent: task.agent,
      input: { text: task.task, ...(task.variables === undefined ? {} : { variables: task.variables }) },
      parent: { run: context.run, call: context.call, depth },
      ...(context.traceparent === undefined ? {} : { traceparent: context.traceparent }),
    },
    { key: `agent:${context.idempotencyKey}` },
  );
  context.log.info("agent called as a tool", { run: context.run, call: context.call, agent: task.agent, child: run });
  context.progress(`run ${run}\n`);
  const end = await follow(runs, run, context);
  if (end !== undefined) return outcome(end, task.agent, run);
  if (!isHandover(context.signal.reason)) await runs.cancel(run, "the calling run was cancelled");
  throw new VenturiError(op, "stream_interrupted", `the run ${run} of "${task.agent}" was cancelled with its caller`);
}

/** The terminal event, or undefined when the signal came first. */
async function follow(runs: Runs, run: string, context: ToolContext): Promise<TerminalEvent | undefined> {
  for await (const batch of runs.follow(run, { signal: context.signal, channel: "tool" })) {
    const text = batch.map(textOf).join("");
    if (text !== "") context.progress(text);
    const last = batch.at(-1);
    if (last !== undefined && isTerminal(last)) return last;
  }
  if (context.signal.aborted) return undefined;
  throw new VenturiError(op, "tool_failed", `the run ${run} ended without an outcome`);
}

const textOf = (event: RunEvent): string => (event.type === "text.delta" ? event.text : "");

function outcome(end: TerminalEvent, agent: string, run: string): unknown {
  if (end.type === "run.finished") return end.object ?? end.output;
  const { code, err } = end.error;
  throw new VenturiError(op, "tool_failed", `the agent "${agent}" failed: ${code}: ${err}`, { details: { run, code } });
}

/** Another worker goes on with the calling run, and will find this one by its key: it must not be stopped. */
const isHandover = (reason: unknown): boolean =>
  VenturiError.isInstance(reason) && ["shutting_down", "journal_failed", "conflict"].includes(reason.code);
