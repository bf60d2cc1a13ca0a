import type { AgentDefinition } from "../../agent/run/definition.ts";
import { ToolTable } from "../../agent/tools/tool-table.ts";
import { fromJson, VenturiError } from "../../core/errors/errors.ts";
import type { Journal } from "../../core/journal/journal.ts";
import { RichOutput, type Tool, type ToolImage } from "../../core/ports/tool.ts";
import type { EventOf, RunEvent } from "../../core/run/events.ts";
import type { ForkOrigin } from "../../core/run/run-request.ts";
import { historyOrNothing } from "../../journal/history.ts";

type Finished = EventOf<"tool.finished">;

type Call = Pick<EventOf<"tool_call.ready">, "name" | "arguments">;

/** Calls with their results, in order. */
interface RecordedCall extends Call {
  readonly result: Finished;
}

interface Recorded {
  /** Calls of the original. */
  readonly calls: readonly RecordedCall[];
  /** Calls the original started and has no result of: it was cancelled, or still runs. */
  readonly unfinished: readonly Call[];
  /** Calls the fork has made, those it took over included. */
  readonly made: readonly RecordedCall[];
  load(hash: string): Promise<Uint8Array | undefined>;
}

/** Agents as a forked run sees them: with tools that respect what the fork may do. */
export async function forkedAgents(
  journal: Journal,
  { fork, history }: { fork: ForkOrigin; history: readonly RunEvent[] },
): Promise<(agent: AgentDefinition) => AgentDefinition> {
  const wrap = fork.tools === "recorded" ? await replaying(journal, fork, history) : asking(fork.tools);
  // The same object for the same tool: tables and schemas are cached by it.
  const wrapped = new WeakMap<Tool, Tool>();
  const forked = (tool: Tool): Tool => {
    const known = wrapped.get(tool) ?? (tool.local ? tool : wrap(tool));
    wrapped.set(tool, known);
    return known;
  };
  return (agent) => ({ ...agent, tools: () => agent.tools().map(forked) });
}

const asking =
  (mode: "run" | "ask") =>
  (tool: Tool): Tool => {
    if (mode === "run" && tool.effect === "pure") return tool;
    return { ...declared(tool), approval: "always", call: (input, context) => tool.call(input, context) };
  };

async function replaying(journal: Journal, fork: ForkOrigin, history: readonly RunEvent[]) {
  const row = await journal.get(fork.run);
  // The original may have been removed since: then every call asks.
  const original = row === undefined ? [] : await historyOrNothing(journal, row);
  const recorded: Recorded = {
    calls: callsIn(original),
    unfinished: unfinishedIn(original),
    made: callsIn(history),
    load: async (hash) => journal.blobs?.get(hash),
  };
  return (tool: Tool): Tool => replayingTool(tool, recorded);
}

/** Gives the original's result for a call with the same arguments, and asks about any other. */
function replayingTool(tool: Tool, { calls, unfinished, made, load }: Recorded): Tool {
  const table = new ToolTable([tool]);
  const keyOf = (input: Record<string, unknown>) => canonical(input);
  const checkedKey = ({ arguments: raw }: Call) => {
    const checked = table.check(tool.name, { ...raw });
    return keyOf(checked.ok ? checked.input : { ...raw });
  };
  const own = (call: Call) => call.name === tool.name;
  const results = Map.groupBy(calls.filter(own), checkedKey);
  const used = new Map([...Map.groupBy(made.filter(own), checkedKey)].map(([key, { length }]) => [key, length]));
  const uncertain = new Set(tool.effect === "pure" ? [] : unfinished.filter(own).map(checkedKey));
  return {
    ...declared(tool),
    approval: (input) => {
      const key = keyOf({ ...input });
      return uncertain.has(key) && !results.has(key) ? mayHaveRun : !results.has(key);
    },
    call(input, context) {
      const key = keyOf(input);
      const known = results.get(key);
      if (known === undefined) return tool.call(input, context);
      const place = used.get(key) ?? 0;
      used.set(key, place + 1);
      const result = (known[place] ?? known.at(-1))?.result;
      return result === undefined ? "" : outputOf(result, load);
    },
  };
}

const mayHaveRun = "the original run started this call and has no result of it: it may have run already";

async function outputOf(result: Finished, load: Recorded["load"]): Promise<RichOutput> {
  if (!result.ok) throw failureOf(result);
  const bytes = async <Item extends { data?: string; hash?: string; mediaType: string }>(item: Item) => {
    const { hash: _h, size: _s, ...rest } = { size: 0, ...item };
    const data = item.data ?? Buffer.from((await load(item.hash ?? "")) ?? []).toString("base64");
    return { ...rest, data } satisfies ToolImage;
  };
  const images = await Promise.all((result.images ?? []).map(bytes));
  const files = await Promise.all((result.files ?? []).map(bytes));
  const { hash, output = "" } = result;
  const whole = hash === undefined ? output : Buffer.from((await load(hash)) ?? []).toString();
  return new RichOutput(whole, images, files);
}

const failureOf = ({ error, output = "" }: Finished): VenturiError =>
  error === undefined ? new VenturiError("tool.call", "tool_failed", output) : fromJson(error);

/** Calls that have settled, in the order of their results. */
function callsIn(events: readonly RunEvent[]): RecordedCall[] {
  const ready = new Map<string, EventOf<"tool_call.ready">>();
  const calls: RecordedCall[] = [];
  for (const event of events) {
    if (event.type === "tool_call.ready") ready.set(event.call, event);
    if (event.type !== "tool.finished") continue;
    const call = ready.get(event.call);
    // Cancelled with its round: it has no result worth giving.
    if (call === undefined || event.error?.code === "stream_interrupted") continue;
    calls.push({ name: call.name, arguments: call.arguments, result: event });
  }
  return calls;
}

function unfinishedIn(events: readonly RunEvent[]): Call[] {
  const ready = new Map<string, Call>();
  const open = new Map<string, Call>();
  for (const event of events) {
    if (event.type === "tool_call.ready") ready.set(event.call, event);
    else if (event.type === "tool.finished") open.delete(event.call);
    const call = event.type === "tool.started" ? ready.get(event.call) : undefined;
    if (event.type === "tool.started" && call !== undefined) open.set(event.call, call);
  }
  return [...open.values()];
}

/** Copies properties by name: a spread would lose the getters of a class instance. */
function declared(tool: Tool): Omit<Tool, "call" | "approval"> {
  const { name, description, parameters, aliases, effect, exclusive, resumable, timeout, maxOutput } = tool;
  return {
    name,
    description,
    parameters,
    ...(aliases === undefined ? {} : { aliases }),
    ...(tool.adapt === undefined ? {} : { adapt: (input) => tool.adapt?.(input) ?? input }),
    ...(effect === undefined ? {} : { effect }),
    ...(exclusive === undefined ? {} : { exclusive }),
    ...(resumable === undefined ? {} : { resumable }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(maxOutput === undefined ? {} : { maxOutput }),
  };
}

/** JSON with sorted keys: models write the same arguments in any order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)))
      : inner,
  );
}
