import type { Usage } from "../../core/model/usage.ts";
import { costsOf } from "../../core/run/costs.ts";
import { inputText } from "../../core/run/digest.ts";
import type { Timing } from "../../core/run/event-parts.ts";
import { type EventOf, isTerminal, type RunEvent, type TerminalEvent } from "../../core/run/events.ts";
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
  const first = events[0];
  const last = events.at(-1);
  const started = first?.type === "run.started" ? first : undefined;
  const end = last !== undefined && isTerminal(last) ? last : undefined;
  const models = events.flatMap((event) => (event.type === "round.started" ? [event.model] : []));
  return {
    run: first?.run ?? "",
    agent: started?.agent ?? "",
    status: end === undefined ? "running" : end.type === "run.finished" ? "finished" : "failed",
    finish: end === undefined ? "" : end.type === "run.finished" ? end.finish : end.error.code,
    models: [...new Set(models)],
    config: started?.config,
    input: started === undefined ? "" : inputText(started.input),
    output: end?.output ?? "",
    ms: (last?.at ?? 0) - (first?.at ?? 0),
    timing: end?.timing,
    ...usageOf(events, end),
    rounds: end?.rounds ?? 0,
    calls: callsOf(events),
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

function callsOf(events: readonly RunEvent[]): ComparedCall[] {
  const finished = new Map<string, EventOf<"tool.finished">>();
  for (const event of events) if (event.type === "tool.finished") finished.set(event.call, event);
  return events.flatMap((event) => {
    if (event.type !== "tool_call.ready") return [];
    const result = finished.get(event.call);
    const { round, name } = event;
    const output = result?.output ?? "";
    return [{ round, name, arguments: JSON.stringify(event.arguments), ok: result?.ok, output, ms: result?.ms ?? 0 }];
  });
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
