import type { GenerationContext } from "../../core/model/provider.ts";
import { callerTrace } from "../../core/values/trace-context.ts";
import { defaultTimeouts, type ModelChain, type ModelTarget } from "../run/definition.ts";
import type { RunContext } from "../run/run-context.ts";

interface Asking {
  readonly target: ModelTarget;
  readonly round: number;
  /** 0 for a summary, which is no attempt of the round. */
  readonly attempt: number;
  /** Of another chain than the agent's. */
  readonly timeout?: ModelChain["timeout"];
}

/** What a provider is told about every request of a run: of a round or for a summary. */
export function contextOf(run: RunContext, asking: Asking): GenerationContext {
  const { target, round, attempt, timeout = run.agent.model.timeout } = asking;
  const { port } = target;
  const { tenant, request } = run.deps;
  // Some gateways send SSE comments for minutes before the first token, so comments only count against an explicitly set limit.
  const firstToken = timeout.firstChunk ?? Math.max(timeout.idle, port.firstChunk ?? 0);
  const firstChunk = timeout.firstChunk ?? port.firstChunk ?? defaultTimeouts.firstChunk;
  return {
    run: run.run,
    round,
    attempt,
    agent: run.agent.name,
    signal: run.signal,
    timeouts: { ...timeout, firstToken, firstChunk },
    ...(request.session === undefined ? {} : { session: request.session }),
    ...(tenant === undefined ? {} : { tenant }),
    ...callerTrace(request),
  };
}
