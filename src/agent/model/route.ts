import { createHash } from "node:crypto";
import { VenturiError } from "../../core/errors/errors.ts";
import { costOf } from "../../core/model/prices.ts";
import type { GenerationRequest } from "../../core/model/provider.ts";
import { defaultTenant } from "../../core/run/run-request.ts";
import type { ModelChain, ModelTarget, Routing } from "../run/definition.ts";
import type { Seat } from "../run/members.ts";
import type { RunContext } from "../run/run-context.ts";
import { GenerationFailure } from "./generation.ts";
import { longestWait } from "./retries.ts";

/** A model to try, and why at this position; no reason means the configured order. */
export interface Candidate {
  readonly target: ModelTarget;
  readonly reason?: string;
}

/** The chain's models in the order to try them. */
export function candidatesOf(run: RunContext, { targets, routing, chosen }: ModelChain): Candidate[] {
  if (routing === undefined)
    return targets.map((target) => (chosen === undefined ? { target } : { target, reason: chosen.reason }));
  const ordered = sorted(run, targets, routing);
  const kept = routing.sticky && routing.choose !== "order" ? stuck(run, ordered) : ordered;
  const found = withRoomFirst(run, kept);
  if (chosen === undefined) return found;
  return found.map(({ target, reason }) => ({
    target,
    reason: reason === undefined ? chosen.reason : `${chosen.reason}; ${reason}`,
  }));
}

/** Token counts by which prices are compared; prompts are longer than answers. */
const typical = { inputTokens: 3_000, outputTokens: 1_000 };

function sorted(run: RunContext, targets: readonly ModelTarget[], { choose }: Routing): Candidate[] {
  if (choose === "order") return targets.map((target) => ({ target }));
  const ranked = targets.map((target) => ({ target, ...rankOf[choose](run, target) }));
  return ranked
    .toSorted((left, right) => (left.rank === right.rank ? 0 : left.rank - right.rank))
    .map(({ target, reason }) => ({ target, reason: `${choose}: ${reason}` }));
}

interface Rank {
  readonly rank: number;
  readonly reason: string;
}

const rankOf: Readonly<Record<Exclude<Routing["choose"], "order">, (run: RunContext, target: ModelTarget) => Rank>> = {
  /** Rendezvous hashing: a session gets the same model from every replica, and each model its share of sessions. */
  weighted(run, { name, member }) {
    const weight = member?.weight ?? 1;
    const { tenant = defaultTenant, request } = run.deps;
    const digest = createHash("sha256").update(JSON.stringify([tenant, request.session ?? run.run, name]));
    const drawn = (digest.digest().readUInt32BE(0) + 1) / (2 ** 32 + 1);
    return { rank: -Math.log(drawn) / weight, reason: `weight ${weight}` };
  },
  /** A model without a recent measurement is probed by one generation at a time. */
  fastest(run, { name }) {
    const member = run.deps.members?.of(name);
    const ms = member?.firstMs;
    if (ms !== undefined) return { rank: ms, reason: `first token after ${Math.round(ms)} ms` };
    const isTried = (member?.active ?? 0) > 0;
    return { rank: isTried ? Number.POSITIVE_INFINITY : -1, reason: "not measured lately" };
  },
  cheapest(run, { name }) {
    const cost = costOf(typical, run.deps.priceOf?.(name));
    if (cost === undefined) return { rank: Number.POSITIVE_INFINITY, reason: "no price" };
    return { rank: cost, reason: `$${cost} for 3,000 tokens in and 1,000 out` };
  },
  leastBusy(run, { name, member }) {
    const active = run.deps.members?.of(name).active ?? 0;
    return { rank: active / (member?.weight ?? 1), reason: `${active} generations under way` };
  },
};

/** Moves the model of the conversation's last generation to the front: its provider has the prompt cached. */
function stuck(run: RunContext, candidates: Candidate[]): Candidate[] {
  const last = run.state.model ?? run.deps.lastModel;
  const found = candidates.find(({ target }) => target.name === last);
  if (found === undefined) return candidates;
  const caller = { tenant: run.deps.tenant ?? defaultTenant, run: run.run };
  if (run.deps.breakers.of(found.target, caller).state !== "closed") return candidates;
  const sticky = { target: found.target, reason: "sticky: it answered this conversation last" };
  return [sticky, ...candidates.filter((each) => each !== found)];
}

function withRoomFirst(run: RunContext, candidates: Candidate[]): Candidate[] {
  const hasRoom = ({ target: { name, member } }: Candidate) =>
    member === undefined || run.deps.members?.of(name).hasRoom(member) !== false;
  const free = candidates.filter(hasRoom);
  const [first] = candidates;
  if (first === undefined || free.length === 0 || free.includes(first)) return candidates;
  const reason = `${first.target.name} has as much under way as it may`;
  return [...free.map(({ target }) => ({ target, reason })), ...candidates.filter((each) => !free.includes(each))];
}

/** Why this model cannot take the request; the next of the chain may. */
export function unfit({ name, member }: ModelTarget, tokens: number): VenturiError | undefined {
  const { contextTokens } = member ?? {};
  if (contextTokens === undefined || tokens + leastAnswer <= contextTokens) return undefined;
  const message = `${name} takes ${contextTokens} tokens with its answer (contextTokens), and the request has about ${tokens}`;
  return new VenturiError("agent.run", "too_large", message, { details: { model: name, tokens, contextTokens } });
}

const leastAnswer = 16;

/** Caps the answer at the room left in the model's context. */
export function withinMember(request: GenerationRequest, { member }: ModelTarget, tokens: number): GenerationRequest {
  const room = (member?.contextTokens ?? Number.POSITIVE_INFINITY) - tokens;
  const { maxTokens } = request.options;
  return maxTokens === undefined || maxTokens <= room
    ? request
    : { ...request, options: { ...request.options, maxTokens: room } };
}

/**
 * Takes a free seat at the model, if any, synchronously with the choice: otherwise runs that choose at the same time would all pick the
 * same model.
 */
export function freeSeat({ deps }: RunContext, { name, member }: ModelTarget): Seat | undefined {
  const known = deps.members?.of(name);
  return known?.hasRoom(member ?? {}) ? known.take(0) : undefined;
}

/** Keeps the seat already taken if the request fits; otherwise waits for one, at most as long as for a provider's retry-after. */
export async function seatAt(
  run: RunContext,
  { name, member }: ModelTarget,
  { taken, tokens }: { readonly taken: Seat | undefined; readonly tokens: number },
): Promise<Seat | undefined> {
  const known = run.deps.members?.of(name);
  if (known === undefined || (taken !== undefined && (member === undefined || taken.expect(member, tokens))))
    return taken;
  taken?.leave(0);
  if (member === undefined) return known.take(tokens);
  const most = longestWait(run);
  const { clock } = run.deps;
  const waiting = Promise.withResolvers<Seat>();
  const leave = known.wait(member, tokens, waiting.resolve);
  const stop = clock.after(most, () => {
    const message = `${name} had as much under way as it may (concurrency, tokensPerMinute) for ${most / 1_000} s`;
    const error = new VenturiError("provider.stream", "rate_limited", message, { details: { model: name } });
    waiting.reject(new GenerationFailure(error, { shown: false }));
  });
  try {
    return await run.waits.during("backoff", name, run.orAborted(waiting.promise));
  } catch (thrown) {
    leave();
    void waiting.promise.then((seat) => seat.leave()).catch(() => {}); // The seat may be granted just as the run gives up.
    throw thrown;
  } finally {
    stop();
  }
}
