import { reasonsOf, VenturiError, wrap } from "../../core/errors/errors.ts";
import type { GenerationRequest } from "../../core/model/provider.ts";
import { systemChance } from "../../core/ports/chance.ts";
import { sleep } from "../../core/ports/clock.ts";
import { defaultTenant } from "../../core/run/run-request.ts";
import { isUnusual, stalledAt } from "../run/blame.ts";
import type { Guard } from "../run/breaker.ts";
import type { ModelChain, ModelTarget } from "../run/definition.ts";
import type { RunContext } from "../run/run-context.ts";
import type { CallSink } from "../state/call-sink.ts";
import type { ToolTable } from "../tools/tool-table.ts";
import { GenerationFailure, generate } from "./generation.ts";
import { reserve, TooDear } from "./meter.ts";

export interface RoundRequest {
  readonly round: number;
  readonly tools: ToolTable;
  requestFor(target: ModelTarget): Promise<GenerationRequest>;
  /** A new attempt starts; calls started by an earlier one are void. */
  begin(): CallSink;
  /** Retracts the attempt's output; resolves when its tools have settled. */
  retract(reason: string): Promise<void>;
}

/**
 * One round's generation over the model chain. Before any output was shown: retries on the same model, then the next model, then
 * the one that asked to wait, if it is worth waiting for. After output was shown: only by retraction, and only if the config
 * allows it.
 */
export async function generateOverChain(run: RunContext, round: RoundRequest): Promise<void> {
  run.saving = false;
  try {
    await overChain(run, round, run.agent.model);
  } catch (thrown) {
    const { economy } = run.agent.model;
    if (!(thrown instanceof TooDear) || economy === undefined) throw thrown;
    run.saving = true;
    await overChain(run, round, economy);
  }
}

async function overChain(run: RunContext, round: RoundRequest, chain: ModelChain): Promise<void> {
  const { targets, failover } = chain;
  let last: VenturiError | undefined;
  let shown: VenturiError | undefined;
  let asked: ModelTarget | undefined;
  const skipped: string[] = [];
  const queue: Turn[] = (failover === "never" ? targets.slice(0, 1) : targets).map((target) => ({ target }));
  const patience = queue.length > 1 ? patient : longestWait(run);
  for (let turn = queue.shift(); turn !== undefined; turn = queue.shift()) {
    const { target } = turn;
    if (turn.wait !== undefined) await waitFor(run, turn.target, turn.wait.until);
    const caller = { tenant: run.parts.tenant ?? defaultTenant, run: run.run };
    const breaker = run.parts.breakers.of(target, caller);
    if (!breaker.admit()) {
      skipped.push(target.name);
      last ??= new VenturiError(
        "provider.stream",
        "unavailable",
        `${target.name}: ${target.provider} failed repeatedly; its circuit breaker is open for ${Math.ceil(breaker.leftMs / 1000)} s more`,
        { details: { provider: target.provider, model: target.model, breaker: "open", retryAfterMs: breaker.leftMs } },
      );
      continue;
    }
    // Retracts only now that another model takes over; with none left, the shown text remains as partial output.
    if (shown) await round.retract(shown.code);
    if (asked !== undefined && last !== undefined) {
      const facts = { model: asked.name, next: target.name, code: last.code, status: last.details?.status };
      run.parts.logger.warn("another model is asked", { run: run.run, ...facts, reason: reasonsOf(last).join(": ") });
    }
    const given = { round, target, breaker, skipped: skipped.splice(0) };
    const failure = await tryTarget(run, { ...given, patience: turn.wait === undefined ? patience : longestWait(run) });
    if (failure === undefined) return;
    last = failure.error;
    asked = target;
    shown = failure.shown ? failure.error : undefined;
    if (shown && failover !== "retract") break;
    if (turn.wait === undefined && !shown) later(run, queue, { target, error: failure.error });
  }
  if (last !== undefined && asked !== undefined) throw forCaller(last, asked);
  throw (
    last ?? new VenturiError("provider.stream", "config_invalid", `the model ${run.agent.model.name} has no target`)
  );
}

interface Turn {
  readonly target: ModelTarget;
  /** It has refused once and asked to wait. */
  readonly wait?: { readonly until: number; readonly error: VenturiError };
}

/** With other models to ask, nobody waits longer than this for one, ms. */
const patient = 5_000;

const longestWait = (run: RunContext): number => run.agent.model.retry.longestWait ?? 60_000;

/** One that asked for a wait that is worth it comes once more, after all others; of several, the one that is ready first. */
function later(run: RunContext, queue: Turn[], { target, error }: { target: ModelTarget; error: VenturiError }): void {
  const { retry, targets, failover } = run.agent.model;
  const asked = askedWait(error);
  if (targets.length < 2 || failover === "never" || retry.max === 0 || !worthRetrying(error)) return;
  if (asked === undefined || asked <= patient || asked > longestWait(run)) return;
  const until = run.parts.clock.monotonic() + withJitter(run, asked);
  const known = queue.at(-1);
  if (known?.wait === undefined) queue.push({ target, wait: { until, error } });
  else if (until < known.wait.until) queue[queue.length - 1] = { target, wait: { until, error } };
}

async function waitFor(run: RunContext, { name }: ModelTarget, until: number): Promise<void> {
  const { clock } = run.parts;
  await run.waits.during("backoff", name, sleep(clock, Math.max(0, until - clock.monotonic()), run.signal));
}

interface Try {
  /** Longest wait the provider may ask for on this try, ms. */
  readonly patience: number;
  readonly round: RoundRequest;
  readonly target: ModelTarget;
  readonly breaker: Guard;
  readonly skipped: readonly string[];
}

async function tryTarget(run: RunContext, given: Try): Promise<GenerationFailure | undefined> {
  const { round, target, breaker } = given;
  for (let tries = 0; ; tries++) {
    const request = await prepared(run, round, target).catch((thrown) => {
      // Hooks or the conversation failed here, not the provider, so no other model would do better.
      breaker.abandoned();
      throw thrown;
    });
    const attempt = run.state.attempt + 1;
    const skipped = tries === 0 ? given.skipped : [];
    try {
      const { tools } = round;
      await generate(run, {
        target,
        round: round.round,
        attempt,
        request,
        skipped,
        tools,
        sink: round.begin(),
        breaker,
      });
      breaker.succeeded();
      const used = run.parts.meter && run.state.round?.generated?.usage;
      if (used !== undefined) run.parts.meter?.used(target.name, used);
      return undefined;
    } catch (thrown) {
      const failure = namingWait(
        run,
        thrown instanceof GenerationFailure
          ? thrown
          : new GenerationFailure(wrap("agent.run", thrown), { shown: false }),
      );
      if (run.signal.aborted) {
        breaker.abandoned();
        // The terminal event reports why the run ended; only the cost of the cut generation is missing from it.
        if (failure.usage !== undefined) tellFailed(run, { round, target, attempt, failure });
        throw failure.error;
      }
      const stalled = stalledAt(run.parts.stalls, run.parts.clock.monotonic());
      breaker.failed(failure.error, { shown: failure.shown, stalled, unusual: isUnusual(run.parts.request) });
      const inTime = (askedWait(failure.error) ?? 0) <= given.patience;
      const retries = !failure.shown && inTime && worthRetrying(failure.error) && tries < run.agent.model.retry.max;
      const retryMs = retries ? backoff(run, failure.error, tries) : undefined;
      tellFailed(run, { round, target, attempt, failure, retryMs });
      if (failure.shown) return failure;
      await round.retract(failure.error.code);
      if (retryMs === undefined) return failure;
      logRetry(run, { target, attempt, error: failure.error, retryMs });
      await sleep(run.parts.clock, retryMs, run.signal);
    }
  }
}

/** The request, with what it may cost set aside. */
async function prepared(run: RunContext, round: RoundRequest, target: ModelTarget): Promise<GenerationRequest> {
  const request = await round.requestFor(target);
  if (run.parts.meter !== undefined) await reserve(run, target, request);
  return request;
}

interface FailedAttempt {
  readonly round: RoundRequest;
  readonly target: ModelTarget;
  readonly attempt: number;
  readonly failure: GenerationFailure;
  readonly retryMs?: number | undefined;
}

function tellFailed(run: RunContext, { round, target, attempt, failure, retryMs }: FailedAttempt): void {
  if (run.fenced) return;
  run.emit({
    type: "generation.failed",
    round: round.round,
    attempt,
    model: target.name,
    error: failure.error.toJSON(),
    ...(failure.usage === undefined ? {} : { usage: failure.usage, ...run.costOf(target.name, failure.usage) }),
    ...(retryMs === undefined ? {} : { retryMs: Math.round(retryMs) }),
  });
}

function logRetry(
  run: RunContext,
  { target, attempt, error, retryMs }: { target: ModelTarget; attempt: number; error: VenturiError; retryMs: number },
): void {
  run.parts.logger.warn("generation retried", {
    run: run.run,
    provider: target.provider,
    model: target.name,
    attempt,
    delayMs: Math.round(retryMs),
    status: error.details?.status,
    code: error.code,
    reason: reasonsOf(error).join(": "),
  });
}

/** Failures about the operator's key, account or model name, which the caller cannot fix. */
const operators: ReadonlySet<string> = new Set(["unauthorized", "forbidden", "not_found"]);

/** The failure as reported to the caller: an operator's problem is not blamed on the caller's key or request. */
function forCaller(error: VenturiError, { name, provider }: ModelTarget): VenturiError {
  if (!operators.has(error.code)) return error;
  const reason = error.message.startsWith(`${name}: `) ? error.message.slice(name.length + 2) : error.message;
  const message = `the provider "${provider}" refused to serve ${name}: ${reason}`;
  const details = { ...error.details, provider, model: name, refused: error.code };
  return new VenturiError(error.op, "llm_error", message, { cause: error, details });
}

const worthRetrying = (error: VenturiError): boolean => {
  const asked = error.details?.retry;
  return typeof asked === "boolean" ? asked : error.retryable;
};

/** How long the provider asked to wait, ms. */
function askedWait({ details }: VenturiError): number | undefined {
  const asked = details?.retryAfterMs;
  return typeof asked === "number" && asked >= 0 ? asked : undefined;
}

/** A wait that is too long to be kept is named: it is why nobody tried again. */
function namingWait(run: RunContext, failure: GenerationFailure): GenerationFailure {
  const { error, shown, usage } = failure;
  const asked = askedWait(error);
  const most = longestWait(run);
  if (asked === undefined || asked <= most || !worthRetrying(error)) return failure;
  const seconds = (ms: number) => `${Math.ceil(ms / 1_000)} s`;
  const message = `${error.message}; it asks to wait ${seconds(asked)}, and retry.longestWait is ${seconds(most)}`;
  const named = new VenturiError(error.op, error.code, message, { cause: error, details: { ...error.details } });
  return new GenerationFailure(named, { shown, usage });
}

/** Jitter keeps clients that were rejected together from retrying together. */
const withJitter = (run: RunContext, asked: number): number => asked * (1 + random(run) * 0.25);

const random = ({ parts }: RunContext): number => (parts.chance ?? systemChance).random();

/** The provider's retry-after plus up to 25 %; without one 0.5 s doubling up to 8 s, minus up to 25 %. */
function backoff(run: RunContext, error: VenturiError, tries: number): number {
  const asked = askedWait(error);
  if (asked !== undefined) return withJitter(run, asked);
  return Math.min(8_000, 500 * 2 ** tries) * (1 - random(run) * 0.25);
}
