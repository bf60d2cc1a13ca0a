import { VenturiError } from "../../core/errors/errors.ts";
import type { GenerationRequest } from "../../core/model/provider.ts";
import { sleep } from "../../core/ports/clock.ts";
import type { ModelTarget } from "../run/definition.ts";
import { LimitReached } from "../run/limit-reached.ts";
import type { RunContext } from "../run/run-context.ts";
import { estimateRequest } from "./token-room.ts";

/** A budget has no room for this model; the chain's `economy` model is tried next. */
export class TooDear extends Error {}

/**
 * Reserves the possible cost of a generation. When a budget has no room, throws a failure, the run's end, or `TooDear` if a cheaper model
 * may continue.
 */
export async function reserve(run: RunContext, asked: ToAsk, beside?: ToAsk): Promise<void> {
  const { meter } = run.deps;
  if (meter === undefined) return;
  if (meter.unsettled) await run.waits.during("journal", "", run.orAborted(run.deps.runLog.flush()));
  const canSave = run.agent.model.economy !== undefined && !run.saving;
  const reserved = meter.reserve({
    ownership: run.deps.runLog.ownership,
    ...metered(asked),
    saving: run.saving,
    ...(beside === undefined ? {} : { beside: metered(beside) }),
  });
  const answer = await run.waits.during("journal", "", run.orAborted(reserved));
  for (const notice of answer.notices) run.emit(notice);
  if (answer.decision === "go") return;
  if (answer.rate !== undefined && answer.decision === "refuse") {
    const { retryAfterMs, most, left } = answer.rate;
    if (run.state.roundsFinished === 0) {
      const details = { budget: answer.budget, limit: "tokensPerMinute", most, left, retryAfterMs };
      throw new VenturiError("agent.run", "rate_limited", answer.message, { details });
    }
    // A rate limit only delays a run that has already done work.
    await run.waits.during("backoff", asked.target.name, sleep(run.deps.clock, retryAfterMs, run.signal));
    return await reserve(run, asked, beside);
  }
  if (answer.decision === "cheaper" && canSave) throw new TooDear();
  if (answer.decision === "finish") throw new LimitReached("budget", answer.message);
  throw new VenturiError("agent.run", "budget_exceeded", answer.message, { details: { budget: answer.budget } });
}

/** A model and the request for it. */
interface ToAsk {
  readonly target: ModelTarget;
  readonly request: GenerationRequest;
}

const metered = ({ target, request }: ToAsk) => ({
  model: target.name,
  input: estimateRequest(request),
  output: request.options.maxTokens,
});
