import type { AgentDefinition } from "../../agent/run/definition.ts";
import { ToolTable } from "../../agent/tools/tool-table.ts";
import { fromJson, VenturiError } from "../../core/errors/errors.ts";
import type { Journal } from "../../core/journal/journal.ts";
import type { Runs } from "../../core/ports/runs.ts";
import { RichOutput, type Tool, type ToolImage } from "../../core/ports/tool.ts";
import type { RunEvent } from "../../core/run/events.ts";
import type { ForkOrigin } from "../../core/run/run-request.ts";
import type { Unanswered } from "../../core/run/unanswered.ts";
import { canonicalJson } from "../../core/values/canonical-json.ts";
import { heldRun, historyOrNothing } from "../../journal/history.ts";
import { type Call, type Finished, isRecorded, madeIn, type RecordedCall, unfinishedIn } from "./recorded-calls.ts";
import { standIn } from "./stand-in.ts";

interface Recorded {
  /** Calls of the original. */
  readonly calls: readonly RecordedCall[];
  /** Calls that the original started without getting a result: cancelled, or still running. */
  readonly unfinished: readonly Call[];
  /** Calls made by the fork, including copied ones. */
  readonly made: readonly Call[];
  readonly unanswered: Unanswered;
  readonly answer: ReturnType<typeof standIn>;
  load(hash: string): Promise<Uint8Array | undefined>;
}

/** Agents as a forked run sees them: with tools restricted to what the fork may do. */
export async function forkedAgents(
  journal: Journal,
  { fork, history, runs }: { fork: ForkOrigin; history: readonly RunEvent[]; runs: () => Runs },
): Promise<(agent: AgentDefinition) => AgentDefinition> {
  const { unanswered = "ask" } = fork;
  const others = { unanswered, answer: standIn(unanswered, runs) };
  const wrap = fork.tools === "recorded" ? await replaying(journal, { fork, history, others }) : asking(fork.tools);
  // Reuse the wrapper of a tool: tables and schemas are cached by identity.
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

async function replaying(
  journal: Journal,
  {
    fork,
    history,
    others,
  }: { fork: ForkOrigin; history: readonly RunEvent[]; others: Pick<Recorded, "unanswered" | "answer"> },
) {
  const original = heldRun(journal, fork.run)?.steps ?? (await eventsOf(journal, fork.run));
  const recorded: Recorded = {
    ...others,
    calls: madeIn(original).filter(isRecorded),
    unfinished: unfinishedIn(original),
    made: madeIn(history),
    load: async (hash) => journal.blobs?.get(hash),
  };
  return (tool: Tool): Tool => replayingTool(tool, recorded);
}

/** If the original was removed meanwhile, no call can be answered from it. */
async function eventsOf(journal: Journal, run: string): Promise<readonly RunEvent[]> {
  const row = await journal.get(run);
  return row === undefined ? [] : await historyOrNothing(journal, row);
}

/** Answers the n-th call with the same arguments with the original's n-th result. */
function replayingTool(tool: Tool, recorded: Recorded): Tool {
  const { calls, unfinished, unanswered, answer, load } = recorded;
  const table = new ToolTable([tool]);
  const keyOf = ({ arguments: raw }: Pick<Call, "arguments">) => {
    const checked = table.check(tool.name, { ...raw });
    return canonicalJson(checked.ok ? checked.input : { ...raw });
  };
  const own = calls.filter(({ name }) => name === tool.name);
  const results = Map.groupBy(own, keyOf);
  const places = new Places();
  for (const call of recorded.made) if (call.name === tool.name) places.of(call.call, keyOf(call));
  const uncertain = new Set(
    tool.effect === "pure" ? [] : unfinished.filter(({ name }) => name === tool.name).map(keyOf),
  );
  const resultOf = (call: string, key: string): Finished | undefined => {
    const known = results.get(key) ?? [];
    // After the last recorded result, a pure tool would return the same again; any other tool would do something new.
    return (known[places.of(call, key)] ?? (tool.effect === "pure" ? known.at(-1) : undefined))?.result;
  };
  return {
    ...declared(tool),
    approval: (input, { call }) => {
      const key = canonicalJson({ ...input });
      if (answer !== undefined || resultOf(call, key) !== undefined) return false;
      const isFree = tool.approval === undefined || tool.approval === "never";
      if (unanswered === "run" && tool.effect === "pure" && isFree) return false;
      return uncertain.has(key) && !results.has(key) ? mayHaveRun : true;
    },
    call(input, context) {
      const result = resultOf(context.call, canonicalJson(input));
      if (result !== undefined) return outputOf(result, load);
      return answer === undefined ? tool.call(input, context) : answer({ tool, input, context, recorded: own });
    },
  };
}

/** Numbers calls with the same arguments, from 0; a call keeps its number. */
class Places {
  readonly #places = new Map<string, number>();
  readonly #counts = new Map<string, number>();

  of(call: string, key: string): number {
    const known = this.#places.get(call);
    if (known !== undefined) return known;
    const place = this.#counts.get(key) ?? 0;
    this.#counts.set(key, place + 1);
    this.#places.set(call, place);
    return place;
  }
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

/** Copies properties by name: a spread would lose a class instance's getters. */
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
