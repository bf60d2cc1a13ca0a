import { pathToFileURL } from "node:url";
import { messageOf, VenturiError } from "../../core/errors/errors.ts";
import type { Runs } from "../../core/ports/runs.ts";
import type { Tool, ToolContext, ToolOutput } from "../../core/ports/tool.ts";
import { costOfAll } from "../../core/run/costs.ts";
import { isTerminal, type TerminalEvent } from "../../core/run/events.ts";
import type { Unanswered } from "../../core/run/unanswered.ts";
import type { RecordedCall } from "./recorded-calls.ts";

const op = "tool.call";

/** A call the original never made, with the calls of the same tool it did make. */
export interface UnansweredCall {
  readonly tool: Tool;
  readonly input: Record<string, unknown>;
  readonly context: ToolContext;
  readonly recorded: readonly RecordedCall[];
}

/** Answers in place of the tool. Undefined if the tool itself may run or a person decides. */
export function standIn(
  unanswered: Unanswered,
  runs: () => Runs,
): ((call: UnansweredCall) => Promise<ToolOutput>) | undefined {
  if (unanswered === "ask" || unanswered === "run") return undefined;
  if (unanswered === "fail") return async (call) => fail(call);
  return "module" in unanswered ? byModule(unanswered.module) : byAgent(unanswered.agent, runs);
}

/** `details.unanswered` distinguishes it from a failure of the tool. */
function fail({ tool }: UnansweredCall): never {
  const message = `the recorded run never made this call of ${tool.name}, and tools are not run here`;
  throw new VenturiError(op, "tool_failed", message, { details: { unanswered: true } });
}

/** Calls the module's default export with `{ name, arguments, recorded }`. Undefined: it has no answer either. */
function byModule(path: string) {
  return async (call: UnansweredCall): Promise<ToolOutput> => {
    const { tool, input, recorded } = call;
    let loaded: { default?: unknown };
    try {
      loaded = (await import(pathToFileURL(path).href)) as { default?: unknown };
    } catch (cause) {
      throw new VenturiError(op, "plugin_failed", `the stand-in ${path} cannot be loaded: ${messageOf(cause)}`, {
        cause,
      });
    }
    if (typeof loaded.default !== "function")
      throw new VenturiError(op, "plugin_failed", `the stand-in ${path} has no function as its default export`);
    const known = recorded.map(({ arguments: given, result }) => ({
      arguments: given,
      ok: result.ok,
      output: result.output,
    }));
    const answer: unknown = await loaded.default({ name: tool.name, arguments: input, recorded: known });
    if (answer === undefined) return fail(call);
    return answer as ToolOutput; // Checked where it is stored, like a tool's own output.
  };
}

const examples = 5;

/** An agent plays the tool in its own run: journaled, billed to the fork, and found again after a crash. */
function byAgent(agent: string, runs: () => Runs) {
  return async ({ tool, input, context, recorded }: UnansweredCall): Promise<ToolOutput> => {
    const { run } = await runs().start(
      {
        agent,
        input: { text: script(tool, input, recorded) },
        parent: { run: context.run, call: context.call, depth: context.depth + 1 },
      },
      { key: `stand-in:${context.run}:${context.call}` },
    );
    const end = await endOf(runs(), run, context.signal);
    context.spent(end.usage, costOfAll(end));
    if (end.type === "run.finished") return end.output;
    throw new VenturiError(op, "tool_failed", `the agent ${agent}, which plays ${tool.name}, failed: ${end.error.err}`);
  };
}

async function endOf(runs: Runs, run: string, signal: AbortSignal): Promise<TerminalEvent> {
  for await (const batch of runs.follow(run, { signal, channel: "tool" })) {
    const last = batch.at(-1);
    if (last !== undefined && isTerminal(last)) return last;
  }
  await runs.cancel(run, "the calling run was cancelled");
  throw new VenturiError(op, "stream_interrupted", "cancelled with its caller");
}

const script = (tool: Tool, input: unknown, recorded: readonly RecordedCall[]): string =>
  [
    `Play the tool "${tool.name}": answer as it would, with its output alone. ${tool.description}`,
    ...recorded
      .slice(0, examples)
      .map(({ arguments: given, result }) => `It was called with ${JSON.stringify(given)} and gave: ${result.output}`),
    `It is called with ${JSON.stringify(input)}. It gives:`,
  ].join("\n");
