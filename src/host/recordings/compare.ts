import type { Usage } from "../../core/model/usage.ts";
import { costsOf } from "../../core/run/costs.ts";
import { inputText, lastedMs } from "../../core/run/digest.ts";
import type { Timing } from "../../core/run/event-fields.ts";
import type { RunEvent, TerminalEvent } from "../../core/run/events.ts";
import { foldOf } from "../../core/run/recorded-fold.ts";
import type { FoldedCall } from "../../core/run/run-fold.ts";
import { Spending } from "../../core/run/spending.ts";

/** The data of one run that a comparison uses. */
export interface ComparedRun {
  readonly run: string;
  readonly agent: string;
  readonly status: "finished" | "failed" | "running";
  readonly finish: string;
  readonly models: readonly string[];
  readonly config: string | undefined;
  readonly input: string;
  readonly output: string;
  readonly ms: number;
  readonly timing: Timing | undefined;
  readonly usage: Usage;
  /** USD: of its own generations, and including what its tools spent. */
  readonly cost?: number;
  readonly totalCost?: number;
  /** Usage copied from the fork's original; not part of `usage`. */
  readonly inherited: Usage | undefined;
  readonly rounds: number;
  readonly calls: readonly ComparedCall[];
}

export interface ComparedCall {
  readonly round: number;
  readonly name: string;
  /** JSON. */
  readonly arguments: string;
  readonly ok: boolean | undefined;
  readonly output: string;
  readonly ms: number;
}

/** A call of either run, with its counterpart. */
export interface CallPair {
  readonly a: ComparedCall | undefined;
  readonly b: ComparedCall | undefined;
  /** `result`: same call, different output. `arguments`: same tool, different arguments. */
  readonly difference: "none" | "result" | "arguments" | "onlyA" | "onlyB";
}

export interface Comparison {
  readonly a: ComparedRun;
  readonly b: ComparedRun;
  readonly calls: readonly CallPair[];
  /** Length of the outputs' common prefix; undefined when they are equal. */
  readonly outputDiffersAt: number | undefined;
}

export function compareRuns(a: readonly RunEvent[], b: readonly RunEvent[]): Comparison {
  const [left, right] = [comparedRun(a), comparedRun(b)];
  return {
    a: left,
    b: right,
    calls: pairs(left.calls, right.calls),
    outputDiffersAt: left.output === right.output ? undefined : commonLength(left.output, right.output),
  };
}

function comparedRun(events: readonly RunEvent[]): ComparedRun {
  const { started, end, rounds } = foldOf(events);
  const attempts = rounds.flatMap((round) => round.attempts);
  const startedAt = events[0]?.at ?? 0;
  return {
    run: events[0]?.run ?? "",
    agent: started?.agent ?? "",
    status: end === undefined ? "running" : end.type === "run.finished" ? "finished" : "failed",
    finish: end === undefined ? "" : end.type === "run.finished" ? end.finish : end.error.code,
    models: [...new Set(attempts.map(({ model }) => model))],
    config: started?.config,
    input: started === undefined ? "" : inputText(started.input),
    output: end?.output ?? "",
    ms: end === undefined ? (events.at(-1)?.at ?? 0) - startedAt : lastedMs(end, startedAt),
    timing: end?.timing,
    ...usageOf(events, end),
    rounds: end?.rounds ?? 0,
    calls: rounds.flatMap(({ calls }) => calls.flatMap(comparedCall)),
  };
}

/** Computed from a fork's events: terminal events of earlier releases include what it copied. */
function usageOf(
  events: readonly RunEvent[],
  end: TerminalEvent | undefined,
): Pick<ComparedRun, "usage" | "cost" | "totalCost" | "inherited"> {
  const spending = new Spending();
  for (const event of events) spending.apply(event);
  const { usage, inherited, ...bill } = spending.bill;
  return {
    usage: inherited === undefined ? (end?.usage ?? {}) : usage,
    ...costsOf(bill),
    inherited: inherited?.usage,
  };
}

function comparedCall({ round, name, sealed, finished }: FoldedCall): ComparedCall[] {
  if (sealed?.type !== "tool_call.ready") return [];
  const { ok, output = "", ms = 0 } = finished ?? {};
  return [{ round, name, arguments: JSON.stringify(sealed.arguments), ok, output, ms }];
}

/** Within a round, equal calls first, then calls of the same tool in order; the rest stand alone. */
function pairs(a: readonly ComparedCall[], b: readonly ComparedCall[]): CallPair[] {
  const found: CallPair[] = [];
  const rounds = [...new Set([...a, ...b].map(({ round }) => round))].sort((left, right) => left - right);
  for (const round of rounds) {
    const rest = b.filter((call) => call.round === round);
    const take = (fits: (call: ComparedCall) => boolean) => {
      const at = rest.findIndex(fits);
      return at < 0 ? undefined : rest.splice(at, 1)[0];
    };
    const own = a.filter((call) => call.round === round);
    const same = own.map((call) => take((other) => other.name === call.name && other.arguments === call.arguments));
    for (const [index, call] of own.entries()) {
      const other = same[index] ?? take(({ name }) => name === call.name);
      found.push({ a: call, b: other, difference: differenceOf(call, other) });
    }
    for (const call of rest) found.push({ a: undefined, b: call, difference: "onlyB" });
  }
  return found;
}

function differenceOf(a: ComparedCall, b: ComparedCall | undefined): CallPair["difference"] {
  if (b === undefined) return "onlyA";
  if (a.arguments !== b.arguments) return "arguments";
  return a.output === b.output && a.ok === b.ok ? "none" : "result";
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}
