import { reasonsOf, wrap } from "../../core/errors/errors.ts";
import type { Message } from "../../core/model/messages.ts";
import { type Compaction, defaultCompaction } from "../run/definition.ts";
import { tokensUsed } from "../run/limits.ts";
import type { RunContext } from "../run/run-context.ts";
import { foldEnd, folded, isCut } from "../state/folded.ts";
import { budgetOf, type ContextRoom, compact } from "./compact.ts";
import { estimateMessage } from "./estimate.ts";
import { foldResults } from "./fold-results.ts";
import { SummaryFailure, summarize, summaryCost } from "./summary.ts";

/**
 * A summary must free at least this share of the conversation's room; otherwise the newest messages alone fill it, and summarizing would
 * repeat every round.
 */
const leastGain = 0.1;

/** Runs whose summary failed: they drop their oldest messages instead of trying again every round. */
const failed = new WeakSet<RunContext>();

/** The conversation to send, leaving room for `reserved` tokens. What is left out is recorded as an event before the request is made. */
export async function conversationFor(run: RunContext, reserved: number): Promise<readonly Message[]> {
  const { state, agent } = run;
  const { contextTokens } = agent.model;
  const compaction = agent.compaction ?? defaultCompaction;
  const room = contextTokens === undefined ? undefined : { contextTokens, share: compaction.at, reserved };
  const all = [...run.deps.session, ...state.messages];
  let results = viewOf(run, all, compaction);
  if (
    room !== undefined &&
    compaction.by === "summary" &&
    !failed.has(run) &&
    size(results.messages) > budgetOf(room)
  ) {
    await fold(run, { all, room, keep: compaction.keep });
    results = viewOf(run, all, compaction);
  }
  const { messages, dropped } = compact(results.messages, room);
  const calls = newlyFolded(run, results.calls);
  if (dropped !== state.compacted || calls.length > 0) {
    run.emit({ type: "context.compacted", dropped, ...(calls.length === 0 ? {} : { results: calls }) });
  }
  return messages;
}

function viewOf({ state, deps }: RunContext, all: readonly Message[], { results }: Compaction) {
  const { fold } = state;
  const view = fold === undefined ? all : folded(all, foldEnd(fold, deps.session.length), fold.summary);
  return foldResults(view, results);
}

/** Results folded by this run; earlier runs have reported theirs. */
function newlyFolded({ state }: RunContext, calls: readonly string[]): string[] {
  const news = calls.filter((call) => !state.foldedResults.has(call));
  if (news.length === 0) return [];
  const parts = state.messages.flatMap((message) => message.parts);
  const own = new Set(parts.map((part) => (part.type === "tool_result" ? part.call : "")));
  return news.filter((call) => own.has(call));
}

const size = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + estimateMessage(message), 0);

interface Fold {
  readonly all: readonly Message[];
  readonly room: ContextRoom;
  readonly keep: number;
}

/** Replaces the beginning of the conversation with a summary, which is durable before the next request uses it. */
async function fold(run: RunContext, { all, room, keep }: Fold): Promise<void> {
  const { state, deps } = run;
  const begin = state.fold === undefined ? 0 : foldEnd(state.fold, deps.session.length);
  let end = Math.max(begin, all.length - keep);
  while (end > begin && !isCut(all, end)) end -= 1;
  const messages = all.slice(begin, end);
  const { contextTokens } = room;
  if (size(messages) < budgetOf(room) * leastGain || !affords(run, summaryCost(messages, contextTokens))) return;
  const dropped = all.slice(0, end).filter(({ role }) => role !== "system").length;
  try {
    const made = await summarize(run, { before: state.fold?.summary, messages, contextTokens });
    const range = { messages: end, session: deps.session.length };
    await run.step({ type: "context.compacted", dropped, range, ...made });
  } catch (thrown) {
    if (!(thrown instanceof SummaryFailure)) throw thrown;
    failed.add(run);
    const { cause, spent, endsRun } = thrown;
    const error = wrap("provider.stream", cause);
    if (spent !== undefined || !endsRun) {
      run.emit({ type: "context.compacted", dropped: state.compacted, error: error.toJSON(), ...spent });
    }
    if (endsRun) throw cause;
    const facts = { run: run.run, code: error.code, reason: reasonsOf(error).join(": ") };
    run.deps.log.warn("a conversation could not be summarized; its oldest messages are dropped", facts);
  }
}

function affords(run: RunContext, tokens: number): boolean {
  const { limits } = run.agent;
  return limits.tokens === undefined || tokensUsed(run) + tokens < limits.tokens;
}
