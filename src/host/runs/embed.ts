import type { AgentDefinition } from "../../agent/definition.ts";
import { VenturiError } from "../../core/errors.ts";
import { untranslated } from "../../core/native.ts";
import type { Embedded, EmbedInput } from "../../core/runs.ts";

/** Embeds with the agent's first capable model. No fallback, because vectors of different models are not comparable. */
export async function embed(
  agent: AgentDefinition,
  { agent: _, native, compat, ...asked }: EmbedInput,
  signal: AbortSignal,
): Promise<Embedded> {
  const op = "provider.embed";
  const target = agent.model.targets.find(({ port }) => port.embed !== undefined);
  if (target?.port.embed === undefined) {
    const message = `${agent.model.name} makes no embeddings; choose an agent whose provider does: openai, gemini, ollama`;
    throw new VenturiError(op, "invalid_input", message);
  }
  const isOwn = native?.wire === target.port.wire;
  const warnings = native === undefined || isOwn ? [] : untranslated(native);
  if (warnings.length > 0 && compat === "strict") {
    const message = `${target.name} does not support ${warnings.join(", ")}`;
    throw new VenturiError(op, "invalid_input", message, { details: { fields: warnings, param: warnings[0] } });
  }
  const request = { ...asked, model: target.model, ...(isOwn && native !== undefined ? { native } : {}) };
  const { timeout } = agent.model;
  const timeouts = { ...timeout, firstChunk: timeout.firstChunk ?? timeout.idle };
  const context = { run: "", round: 0, attempt: 1, agent: agent.name, signal, timeouts };
  return { ...(await target.port.embed(request, context)), warnings };
}
