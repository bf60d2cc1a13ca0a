import { costOfAll } from "../../core/run/costs.ts";
import { isTerminal, type RunEvent } from "../../core/run/events.ts";
import { completeCallsIn } from "../../core/run/recorded-fold.ts";
import { canonicalJson } from "../../core/values/canonical-json.ts";

/** A run as scorers see it. */
export interface Outcome {
  readonly run: string;
  readonly ok: boolean;
  /** Error code of a failed run. */
  readonly code?: string;
  readonly output: string;
  readonly object?: unknown;
  /** Without those of attempts that were retracted, as by a failover. */
  readonly calls: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[];
  /** Failed calls that the recorded run never made. */
  readonly unanswered: number;
  /** From first to last event, ms. */
  readonly ms: number;
  readonly tokens: number;
  /** USD; undefined if a price is unknown. */
  readonly cost: number | undefined;
}

/** Undefined if the run has not ended. */
export function outcomeOf(events: readonly RunEvent[]): Outcome | undefined {
  const last = events.at(-1);
  if (last === undefined || !isTerminal(last)) return undefined;
  const { inputTokens = 0, outputTokens = 0 } = last.usage;
  const shared = {
    run: last.run,
    output: last.output,
    calls: completeCallsIn(events).flatMap(({ name, sealed, retracted }) =>
      retracted === undefined ? [{ name, arguments: sealed.arguments }] : [],
    ),
    unanswered: events.filter((event) => event.type === "tool.finished" && event.error?.details?.unanswered === true)
      .length,
    ms: Math.max(0, last.at - (events[0]?.at ?? last.at)),
    tokens: inputTokens + outputTokens,
    cost: costOfAll(last),
  };
  if (last.type === "run.failed") return { ...shared, ok: false, code: last.error.code };
  return { ...shared, ok: true, ...(last.object === undefined ? {} : { object: last.object }) };
}

/** Equal for calls of a tool with the same arguments, in any key order. */
export const callKey = (call: Outcome["calls"][number]): string => `${call.name} ${canonicalJson(call.arguments)}`;
