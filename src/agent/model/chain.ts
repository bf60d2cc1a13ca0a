import { reasonsOf, VenturiError, wrap } from "../../core/errors/errors.ts";
import type { GenerationRequest } from "../../core/model/provider.ts";
import { sleep } from "../../core/ports/clock.ts";
import type { Hedged } from "../../core/run/event-fields.ts";
import { defaultTenant } from "../../core/run/run-request.ts";
import { isUnusual, stalledAt } from "../run/blame.ts";
import type { Guard } from "../run/breaker.ts";
import type { ModelChain, ModelTarget } from "../run/definition.ts";
import type { RunContext } from "../run/run-context.ts";
import type { CallSink } from "../state/call-sink.ts";
import type { RoundState } from "../state/round-state.ts";
import type { ToolTable } from "../tools/tool-table.ts";
import { GenerationFailure, generate } from "./generation.ts";
import type { Asked, Hedge } from "./hedge.ts";
import { reserve, TooDear } from "./meter.ts";
import { askedWait, backoff, longestWait, namingWait, patient, withJitter, worthRetrying } from "./retries.ts";
import { rivalFor } from "./rival.ts";
import { type Candidate, candidatesOf, freeSeat, seatAt, unfit, withinMember } from "./route.ts";
import { estimateRequest } from "./token-room.ts";

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
 * Returns the round with its generation, over the model chain. Before any output was shown: retries on the same model, then the next
 * model, then the one that asked to wait, if it is worth waiting for. Afterwards only by retraction, if the config allows it.
 */
export function generateOverChain(run: RunContext, round: RoundRequest): Promise<RoundState> {
  run.saving = false;
  const { economy } = run.agent.model;
  // Each async function that waits for a stream keeps half a kilobyte while it does.
  const made = overChain(run, round, run.agent.model);
  if (economy === undefined) return made;
  return made.catch((thrown) => {
    if (!(thrown instanceof TooDear)) throw thrown;
    run.saving = true;
    return overChain(run, round, economy);
  });
}

async function overChain(run: RunContext, round: RoundRequest, chain: ModelChain): Promise<RoundState> {
  const { failover, routing } = chain;
  const candidates = candidatesOf(run, chain);
  let last: VenturiError | undefined;
  let shown: VenturiError | undefined;
  let asked: ModelTarget | undefined;
  const skipped: string[] = [];
  const queue: Turn[] = failover === "never" ? candidates.slice(0, 1) : candidates;
  const patience = Math.min(queue.length > 1 ? patient : Number.POSITIVE_INFINITY, longestWait(run));
  for (let turn = queue.shift(); turn !== undefined; turn = queue.shift()) {
    const { target } = turn;
    if (turn.wait !== undefined) await waitFor(run, turn.target, turn.wait.until);
    const caller = { tenant: run.deps.tenant ?? defaultTenant, run: run.run };
    const breaker = run.deps.breakers.of(target, caller);
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
      run.deps.log.warn("another model is asked", { run: run.run, ...facts, reason: reasonsOf(last).join(": ") });
    }
    const reason = routing === undefined || last === undefined ? turn.reason : last.message;
    const others = routing?.hedgeAfter === undefined ? [] : queue.map((each) => each.target);
    const longest = turn.wait === undefined ? patience : longestWait(run);
    const given = { round, target, breaker, skipped: skipped.splice(0), chain, reason, others, patience: longest };
    const failure = await tryTarget(run, given);
    if (failure === undefined) return madeBy(run);
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

function madeBy({ state: { round } }: RunContext): RoundState {
  if (round?.generated !== undefined) return round;
  throw new VenturiError("agent.run", "internal", "the round has no finished generation");
}

interface Turn extends Candidate {
  /** The model refused once and asked for this wait. */
  readonly wait?: { readonly until: number; readonly error: VenturiError };
}

/** Queues a model that asked for an acceptable wait again, after all others, the soonest ready first. */
function later(run: RunContext, queue: Turn[], { target, error }: { target: ModelTarget; error: VenturiError }): void {
  const { retry, targets, failover } = run.agent.model;
  const asked = askedWait(error);
  if (targets.length < 2 || failover === "never" || retry.max === 0 || !worthRetrying(error)) return;
  if (asked === undefined || asked <= patient || asked > longestWait(run)) return;
  const until = run.deps.clock.monotonic() + withJitter(run, asked);
  const known = queue.at(-1);
  if (known?.wait === undefined) queue.push({ target, wait: { until, error } });
  else if (until < known.wait.until) queue[queue.length - 1] = { target, wait: { until, error } };
}

async function waitFor(run: RunContext, { name }: ModelTarget, until: number): Promise<void> {
  const { clock } = run.deps;
  await run.waits.during("backoff", name, sleep(clock, Math.max(0, until - clock.monotonic()), run.signal));
}

interface Try {
  /** Longest wait the provider may ask for on this try, ms. */
  readonly patience: number;
  readonly round: RoundRequest;
  readonly target: ModelTarget;
  readonly breaker: Guard;
  readonly skipped: readonly string[];
  readonly chain: ModelChain;
  readonly reason: string | undefined;
  /** Other models that may be asked as a hedge. */
  readonly others: readonly ModelTarget[];
}

async function tryTarget(run: RunContext, given: Try): Promise<GenerationFailure | undefined> {
  const { round, target, breaker } = given;
  for (let tries = 0; ; tries++) {
    const asked = await prepared(run, given).catch((thrown) => {
      // Hooks or the conversation failed here, not the provider, so no other model would do better.
      breaker.abandoned();
      throw thrown;
    });
    if (asked instanceof GenerationFailure) {
      breaker.abandoned();
      return asked;
    }
    const hedge = hedgeOf(run, given, asked);
    const skipped = tries === 0 ? given.skipped : [];
    try {
      const { tools } = round;
      await generate(run, {
        target,
        round: round.round,
        attempt: asked.attempt,
        request: asked.request,
        skipped,
        tools,
        sink: round.begin(),
        breaker: asked.seat === undefined ? breaker : watched(run, asked, hedge),
        reason: given.reason,
        hedge,
      });
      const won = hedge?.winner ?? asked;
      won.breaker.succeeded();
      const used = (run.deps.meter ?? won.seat) && run.state.round?.generated?.usage;
      if (used !== undefined) run.deps.meter?.used(won.target.name, used);
      won.seat?.leave(used === undefined ? undefined : (used.inputTokens ?? 0) + (used.outputTokens ?? 0));
      return undefined;
    } catch (thrown) {
      const { breaker, target, attempt, seat } = hedge?.winner ?? asked;
      seat?.leave();
      const hedged = hedge?.lost;
      const failure = namingWait(
        run,
        thrown instanceof GenerationFailure
          ? thrown
          : new GenerationFailure(wrap("agent.run", thrown), { shown: false }),
      );
      if (run.signal.aborted) {
        breaker.abandoned();
        // The terminal event reports why the run ended; only the cost of the cut generation is missing from it.
        if (failure.usage !== undefined) tellFailed(run, { round, target, attempt, failure, hedged });
        throw failure.error;
      }
      const stalled = stalledAt(run.deps.stalls, run.deps.clock.monotonic());
      breaker.failed(failure.error, { shown: failure.shown, stalled, unusual: isUnusual(run.deps.request) });
      const inTime = (askedWait(failure.error) ?? 0) <= given.patience;
      const retries = !failure.shown && inTime && worthRetrying(failure.error) && tries < run.agent.model.retry.max;
      const retryMs = retries ? backoff(run, failure.error, tries) : undefined;
      tellFailed(run, { round, target, attempt, failure, retryMs, hedged });
      if (failure.shown) return failure;
      await round.retract(failure.error.code);
      if (retryMs === undefined) return failure;
      logRetry(run, { target, attempt, error: failure.error, retryMs });
      await sleep(run.deps.clock, retryMs, run.signal);
    }
  }
}

/** The request fitted to a model that can take it, with its possible cost reserved. */
async function prepared(run: RunContext, given: Try): Promise<Asked | GenerationFailure> {
  const { round, target, breaker, chain } = given;
  const attempt = run.state.attempt + 1;
  if (chain.routing === undefined) {
    const request = await round.requestFor(target);
    if (run.deps.meter !== undefined) await reserve(run, { target, request });
    return { target, breaker, attempt, request, seat: undefined };
  }
  let seat = freeSeat(run, target);
  try {
    const request = await round.requestFor(target);
    const tokens = estimateRequest(request);
    const lack = unfit(target, tokens);
    if (lack !== undefined) throw new GenerationFailure(lack, { shown: false });
    seat = await seatAt(run, target, { taken: seat, tokens });
    const fitting = withinMember(request, target, tokens);
    if (run.deps.meter !== undefined) await reserve(run, { target, request: fitting });
    return { target, breaker, attempt, request: fitting, seat };
  } catch (thrown) {
    seat?.leave(0);
    if (thrown instanceof GenerationFailure) return thrown;
    throw thrown;
  }
}

function hedgeOf(run: RunContext, { round, chain, others }: Try, first: Asked): Hedge | undefined {
  const after = chain.routing?.hedgeAfter;
  if (after === undefined || others.length === 0) return undefined;
  return { after, first, winner: first, rival: () => rivalFor(run, { requestFor: round.requestFor, first, others }) };
}

/** The breaker's guard of a call, which also measures the time to the first token of models that are chosen by speed. */
function watched(run: RunContext, asked: Asked, hedge: Hedge | undefined): Pick<Guard, "answering"> {
  const since = run.deps.clock.monotonic();
  return {
    answering(change) {
      const { target, breaker } = hedge?.winner ?? asked;
      breaker.answering(change);
      if (change < 0) return;
      const ms = run.deps.clock.monotonic() - since;
      const { members } = run.deps;
      // The first model lost the race: its time to the first token is at least this long.
      if (target !== asked.target) members?.of(asked.target.name).measured(ms);
      members?.of(target.name).measured(target === asked.target ? ms : Math.max(0, ms - (hedge?.after ?? 0)));
    },
  };
}

interface FailedAttempt {
  readonly round: RoundRequest;
  readonly target: ModelTarget;
  readonly attempt: number;
  readonly failure: GenerationFailure;
  readonly retryMs?: number | undefined;
  readonly hedged?: Hedged | undefined;
}

function tellFailed(run: RunContext, given: FailedAttempt): void {
  const { round, target, attempt, failure, retryMs, hedged } = given;
  if (run.fenced) return;
  run.emit({
    type: "generation.failed",
    round: round.round,
    attempt,
    model: target.name,
    error: failure.error.toJSON(),
    ...(failure.usage === undefined ? {} : { usage: failure.usage, ...run.costOf(target.name, failure.usage) }),
    ...(retryMs === undefined ? {} : { retryMs: Math.round(retryMs) }),
    ...(hedged === undefined ? {} : { hedged }),
  });
}

function logRetry(
  run: RunContext,
  { target, attempt, error, retryMs }: { target: ModelTarget; attempt: number; error: VenturiError; retryMs: number },
): void {
  run.deps.log.warn("generation retried", {
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
