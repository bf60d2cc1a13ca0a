import { type Clock, sleep } from "../../core/clock.ts";
import { VenturiError, wrap } from "../../core/errors.ts";
import type { GenerationRequest } from "../../core/provider.ts";
import type { ModelTarget } from "../definition.ts";
import type { RunContext } from "../run-context.ts";
import type { ToolTable } from "../tools/tool-table.ts";
import { Breaker } from "./breaker.ts";
import type { CallSink } from "./delta-writer.ts";
import { GenerationFailure, generate } from "./generation.ts";

/** The breakers of all providers, shared by all runs. */
export class Breakers {
  readonly #clock: Clock;
  readonly #breakers = new Map<string, Breaker>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(provider: string): Breaker {
    let breaker = this.#breakers.get(provider);
    if (breaker === undefined) {
      breaker = new Breaker(this.#clock);
      this.#breakers.set(provider, breaker);
    }
    return breaker;
  }
}

export interface RoundRequest {
  readonly round: number;
  readonly tools: ToolTable;
  requestFor(target: ModelTarget): Promise<GenerationRequest>;
  /** A new attempt begins: whatever an earlier one started is void. */
  begin(): CallSink;
  /** What the attempt showed is withdrawn; resolves when its tools are settled. */
  retract(reason: string): Promise<void>;
}

/**
 * One round's generation over the model chain: retries on the same model before anything was shown, then the next model; after
 * something was shown, only by retraction, and only where the config allows it.
 */
export async function generateOverChain(run: RunContext, round: RoundRequest): Promise<void> {
  const { targets, failover } = run.agent.model;
  let last: VenturiError | undefined;
  let shown: VenturiError | undefined;
  let failed: string | undefined;
  for (const target of failover === "never" ? targets.slice(0, 1) : targets) {
    const breaker = run.parts.breakers.of(target.provider);
    if (!breaker.admit()) {
      last ??= new VenturiError(
        "provider.stream",
        "unavailable",
        `${target.provider} failed repeatedly and is left alone`,
      );
      continue;
    }
    // Only now that another model takes over: with none left, what was shown stands as the partial output.
    if (shown) await round.retract(shown.code);
    if (failed !== undefined) {
      const { logger } = run.parts;
      logger.warn("another model is asked", { run: run.run, model: failed, next: target.name, code: last?.code });
    }
    const failure = await tryTarget(run, round, target, breaker);
    if (failure === undefined) return;
    last = failure.error;
    failed = target.name;
    shown = failure.shown ? failure.error : undefined;
    if (shown && failover !== "retract") break;
  }
  throw (
    last ?? new VenturiError("provider.stream", "config_invalid", `the model ${run.agent.model.name} has no target`)
  );
}

async function tryTarget(
  run: RunContext,
  round: RoundRequest,
  target: ModelTarget,
  breaker: Breaker,
): Promise<GenerationFailure | undefined> {
  for (let tries = 0; ; tries++) {
    const request = await round.requestFor(target).catch((thrown) => {
      // Hooks and the conversation itself fail here, not the provider: no other model would do better.
      breaker.abandoned();
      throw thrown;
    });
    try {
      const attempt = run.state.attempt + 1;
      await generate(run, { target, round: round.round, attempt, request, tools: round.tools, sink: round.begin() });
      breaker.succeeded();
      return undefined;
    } catch (thrown) {
      const failure =
        thrown instanceof GenerationFailure ? thrown : new GenerationFailure(wrap("agent.run", thrown), false);
      if (run.signal.aborted) {
        breaker.abandoned();
        throw failure.error;
      }
      breaker.failed(failure.error);
      if (failure.shown) return failure;
      await round.retract(failure.error.code);
      if (!worthRetrying(failure.error) || tries >= run.agent.model.retry.max) return failure;
      run.parts.logger.warn("generation retried", { run: run.run, model: target.name, code: failure.error.code });
      await sleep(run.parts.clock, backoff(failure.error, tries), run.signal);
    }
  }
}

const worthRetrying = (error: VenturiError): boolean => {
  const asked = error.details?.retry;
  return typeof asked === "boolean" ? asked : error.retryable;
};

const longestAsked = 60_000;

/** What the provider asked for, if that is bearable; else doubling from half a second to eight, less up to a quarter. */
function backoff(error: VenturiError, tries: number): number {
  const asked = error.details?.retryAfterMs;
  if (typeof asked === "number" && asked >= 0 && asked <= longestAsked) return asked;
  return Math.min(8_000, 500 * 2 ** tries) * (1 - Math.random() * 0.25);
}
