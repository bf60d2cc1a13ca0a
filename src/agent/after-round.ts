import { textMessage } from "../core/model/messages.ts";
import { repairRequest, structured, unfit } from "./model/structured.ts";
import type { LimitReached } from "./run/limit-reached.ts";
import { limitOnCalls, noMoreRounds, tokenLimit } from "./run/limits.ts";
import type { RunContext } from "./run/run-context.ts";
import type { RoundState } from "./state/round-state.ts";
import type { Ending } from "./terminal.ts";
import { clientCalls } from "./tools/client-calls.ts";
import type { Repetition } from "./tools/repetition.ts";
import type { ToolTable } from "./tools/tool-table.ts";

/** Finish reasons that would recur on a retry: the run ends with the same reason and without an object. */
const cutEnds: ReadonlySet<string> = new Set(["length", "content_filter", "refusal"]);

export interface FinishedRound {
  readonly round: RoundState;
  readonly tools: ToolTable;
  readonly repetition: Repetition;
  /** Messages were sent into the run that no round has included yet. */
  readonly hasMessages: boolean;
}

/** What follows a finished round: the run's ending, or undefined for another round. Throws when a limit ends the run. */
export function decide(run: RunContext, finished: FinishedRound): Ending | undefined {
  const { round, tools } = finished;
  const finish = round.generated?.finish ?? "other";
  const limit = limitOnTools(run, finished, run.state.toolRounds - 1);
  if (limit) throw limit;
  const calls = clientCalls(round, tools);
  if (calls.length > 0) return { finish: cutEnds.has(finish) ? finish : "tool_calls", calls };
  const last = limitOnRounds(run, finished, finish);
  if (last) throw last;
  const goesOn = round.calls.size > 0 || finished.hasMessages || finish === "pause";
  return goesOn ? undefined : answer(run, finish, round.text);
}

/** The limit on executing the round's calls after `rounds` earlier rounds. Calls of client tools do not count. */
export function limitOnTools(
  run: RunContext,
  { round, tools }: Pick<FinishedRound, "round" | "tools">,
  rounds: number,
): LimitReached | undefined {
  const own = round.inOrder.filter((call) => !tools.isClient(call.name));
  return own.length > 0 ? limitOnCalls(run, own, rounds) : undefined;
}

/** The limit on another generation after this round. */
function limitOnRounds(
  run: RunContext,
  { round, repetition }: FinishedRound,
  finish: string,
): LimitReached | undefined {
  const { state, agent } = run;
  // Calls left unexecuted before a restart, under limits that have been raised since.
  if (round.pending.length > 0) return noMoreRounds(agent.limits);
  // A vendor's pause counts as a tool round, or a model that always pauses would never end.
  if (finish === "pause" && state.toolRounds > agent.limits.maxToolRounds) return noMoreRounds(agent.limits);
  return repetition.limitOn(round) ?? tokenLimit(run);
}

/** The ending with this text as the answer; undefined when the model must retry to fit the schema. */
function answer(run: RunContext, finish: string, text: string): Ending | undefined {
  const asked = run.deps.request.output;
  const schema = asked === undefined ? run.agent.output : asked.schema;
  if (schema === undefined) return { finish };
  const parsed = structured(text, schema, asked === undefined ? run.agent.outputSchema : undefined);
  if (parsed.ok) return { finish, object: parsed.object };
  // A client that sent a schema has already streamed the answer and parses it as with the vendor's own API.
  if (asked !== undefined || cutEnds.has(finish)) return { finish };
  if (run.state.repaired) throw unfit(parsed.problem);
  run.emit({ type: "message.added", message: textMessage("user", repairRequest(parsed.problem)) });
  return undefined;
}
