import { checkedUsage, type Usage } from "../../core/model/usage.ts";
import type { Budget } from "../../core/ports/tool.ts";
import { timeParts } from "../../core/run/time-parts.ts";
import { withEntry } from "../../core/values/no-entries.ts";
import { vendorNumber } from "../../core/values/vendor-number.ts";
import type { CallState } from "../state/round-state.ts";
import { Countdown } from "./countdown.ts";
import type { Limits } from "./definition.ts";
import { LimitReached } from "./limit-reached.ts";
import type { RunContext } from "./run-context.ts";

/** The limit, if any, that forbids executing these calls. `rounds`: number of earlier rounds with calls. */
export function limitOnCalls(run: RunContext, calls: readonly CallState[], rounds: number): LimitReached | undefined {
  const { limits } = run.agent;
  const { state } = run;
  const asked = calls.filter((call) => call.attempts === 0 && call.result === undefined).length;
  if (rounds >= limits.maxToolRounds) {
    return noMoreRounds(limits);
  }
  if (state.toolCalls + asked > limits.maxToolCalls) {
    return new LimitReached("max_tool_calls", `the run may make ${limits.maxToolCalls} tool calls`);
  }
  return tokenLimit(run);
}

export const noMoreRounds = ({ maxToolRounds }: Limits): LimitReached =>
  new LimitReached("max_rounds", `the run may have ${maxToolRounds} rounds of tool calls`);

export function tokenLimit(run: RunContext): LimitReached | undefined {
  const { tokens, outputTokens } = run.agent.limits;
  const produced = run.state.usage.outputTokens ?? 0;
  if (produced > outputTokens) {
    return new LimitReached("max_output", `the run produced ${produced} tokens and may produce ${outputTokens}`);
  }
  const used = tokensUsed(run);
  if (tokens === undefined || used <= tokens) return undefined;
  return new LimitReached("max_tokens", `the run used ${used} tokens and may use ${tokens}`);
}

/** Tokens used by the run, its finished tools and calls still running. */
export function tokensUsed(run: RunContext): number {
  let used = tokensIn(run.state.usage);
  for (const { usage } of run.spentBy.values()) used += tokensIn(usage);
  return used;
}

const tokensIn = (usage: Usage): number => (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);

/** Records a call's usage so far and ends the run if it exceeds its budget. */
export function spend(run: RunContext, call: string, spent: { readonly usage: Usage; readonly cost?: number }): void {
  const { usage, cost } = spent;
  const known = vendorNumber(cost);
  const so = { usage: checkedUsage(usage), ...(known === undefined ? {} : { cost: known }) };
  run.spentBy = withEntry(run.spentBy, call, so);
  const limit = tokenLimit(run);
  if (limit) run.abort(limit);
}

export function budgetLeft(run: RunContext): Budget {
  const { tokens, time, maxToolCalls } = run.agent.limits;
  return {
    maxToolCalls: Math.max(0, maxToolCalls - run.state.toolCalls),
    ...(tokens === undefined ? {} : { tokens: tokens - tokensUsed(run) }),
    ...(time === undefined ? {} : { time: time - elapsedOf(run) }),
  };
}

/** Ends the run when its time limit expires, whatever it is doing; time spent waiting for approval does not count. */
export function watchTime(run: RunContext): Countdown | undefined {
  const { time } = run.agent.limits;
  if (time === undefined) return undefined;
  const end = () => run.abort(new LimitReached("max_time", `the run may take ${time} ms`));
  return new Countdown(run.deps.clock, Math.max(0, time - elapsedOf(run)), end);
}

/** Run time that counts towards the limit, ms: excludes queueing, pauses and waiting for people. */
function elapsedOf({ times, now }: RunContext): number {
  const totals = times.totals(now);
  let sum = 0;
  for (const part of timeParts) if (part !== "queue" && part !== "approval" && part !== "paused") sum += totals[part];
  return sum;
}
