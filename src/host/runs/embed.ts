import type { AgentDefinition } from "../../agent/run/definition.ts";
import { VenturiError } from "../../core/errors/errors.ts";
import { untranslated } from "../../core/model/native.ts";
import { bothGrants, permittedNative } from "../../core/model/native-rules.ts";
import { costOf, type PriceOf } from "../../core/model/prices.ts";
import { checkedUsage } from "../../core/model/usage.ts";
import type { Embedded, EmbedInput } from "../../core/ports/runs.ts";
import type { Revisions } from "../revisions/revisions.ts";
import { agentNamed } from "./check-request.ts";

/** Embeds with the current revision, held open meanwhile. */
export async function embedWith(
  revisions: Revisions,
  request: EmbedInput,
  signal: AbortSignal = new AbortController().signal,
): Promise<Embedded> {
  const lease = revisions.acquire();
  try {
    const { agents, priceOf } = revisions.current;
    return await embed(agentNamed(agents, request.agent), request, { signal, priceOf });
  } finally {
    lease.release();
  }
}

/** Uses the agent's first capable model. No fallback: vectors of different models are not comparable. */
async function embed(
  agent: AgentDefinition,
  { agent: _, native, compat, caller, ...asked }: EmbedInput,
  { signal, priceOf }: { readonly signal: AbortSignal; readonly priceOf: PriceOf },
): Promise<Embedded> {
  const op = "provider.embed";
  const target = agent.model.targets.find(({ port }) => port.embed !== undefined);
  if (target?.port.embed === undefined) {
    const message = `${agent.model.name} makes no embeddings; choose an agent whose provider does: openai, gemini, ollama`;
    throw new VenturiError(op, "invalid_input", message);
  }
  const { wire, nativeRules: rules } = target.port;
  const grants = bothGrants(agent.overrides, caller?.overrides);
  const own = native?.wire === wire ? native && permittedNative(native, { rules, grants, set: {} }) : undefined;
  const warnings =
    native === undefined ? [] : own === undefined ? untranslated(native) : [...own.lost, ...(native.unsent ?? [])];
  if (warnings.length > 0 && compat === "strict") {
    const message = `${target.name} does not support ${warnings.join(", ")}`;
    throw new VenturiError(op, "invalid_input", message, { details: { fields: warnings, param: warnings[0] } });
  }
  const request = { ...asked, model: target.model, ...(own?.native === undefined ? {} : { native: own.native }) };
  const { timeout } = agent.model;
  const timeouts = { ...timeout, firstChunk: timeout.firstChunk ?? timeout.idle };
  const context = { run: "", round: 0, attempt: 1, agent: agent.name, signal, timeouts };
  const { vectors, usage, ...rest } = await target.port.embed(request, context);
  if (!vectors.every((vector) => vector.every(Number.isFinite))) {
    throw new VenturiError(op, "llm_error", `${target.name} answered with a vector that is not made of numbers`);
  }
  const cost = costOf(checkedUsage(usage), priceOf(target.name));
  return { ...rest, vectors, usage: checkedUsage(usage), ...(cost === undefined ? {} : { cost }), warnings };
}
