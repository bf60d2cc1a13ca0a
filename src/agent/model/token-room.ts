import { VenturiError } from "../../core/errors/errors.ts";
import type { GenerationOptions, GenerationRequest, ToolSpec } from "../../core/model/provider.ts";
import { LimitReached } from "../run/limit-reached.ts";
import { tokensUsed } from "../run/limits.ts";
import type { RunContext } from "../run/run-context.ts";
import { estimateMessage, estimateTokens, nativeSize, tokensOf } from "./estimate.ts";

/** Fewer tokens make no answer, and the Responses API refuses smaller limits. */
const leastAnswer = 16;
/** A limit that every model accepts; a higher one may exceed the model's maximum and be refused. */
const safeLimit = 4_096;
/** Characters per token at which an answer is cut here: generous where the vendor enforces the limit too. */
const perToken = { withLimit: 16, without: 5 };

/**
 * Checks the request before anything is spent: refused if its estimate exceeds the model's context or the run's remaining tokens, otherwise
 * with the answer capped at what is left.
 */
export function withinLimits(run: RunContext, request: GenerationRequest): GenerationRequest {
  const { limits, model } = run.agent;
  run.answerCharacters = Number.POSITIVE_INFINITY;
  const written = limits.outputTokens - (run.state.usage.outputTokens ?? 0);
  if (limits.tokens === undefined && model.contextTokens === undefined) return capped(run, request, written);
  const input = estimateRequest(request);
  const fits = inContext(request, input, model.contextTokens);
  if (limits.tokens === undefined) return capped(run, fits, written);
  const used = tokensUsed(run);
  const left = limits.tokens - used - input;
  if (left < leastAnswer) {
    const message = `the run may use ${limits.tokens} tokens; it has used ${used}, and its next request has about ${input}`;
    throw new LimitReached("max_tokens", message);
  }
  return capped(run, fits, Math.min(left, written));
}

/** Estimated input tokens. */
export function estimateRequest({ messages, tools, output, native }: GenerationRequest): number {
  const schema = output?.schema === undefined ? 0 : estimateTokens(JSON.stringify(output.schema));
  const around = schema + estimateTools(tools) + tokensOf(nativeSize(native));
  return messages.reduce((sum, message) => sum + estimateMessage(message), around);
}

/** Cached by tool list: most rounds of most runs share one. */
const sizes = new WeakMap<readonly ToolSpec[], number>();
export function estimateTools(tools: readonly ToolSpec[]): number {
  if (tools.length === 0) return 0;
  const known = sizes.get(tools) ?? estimateTokens(JSON.stringify(tools));
  sizes.set(tools, known);
  return known;
}

function inContext(request: GenerationRequest, input: number, contextTokens: number | undefined): GenerationRequest {
  if (contextTokens === undefined) return request;
  const room = contextTokens - input;
  if (room < leastAnswer) {
    const message = `the request has about ${input} tokens, and the model takes ${contextTokens} with its answer (contextTokens); shorten the input, or choose a model with a larger context`;
    throw new VenturiError("agent.run", "too_large", message, { details: { tokens: input, contextTokens } });
  }
  const { maxTokens } = request.options;
  return maxTokens === undefined || maxTokens <= room
    ? request
    : { ...request, options: answerOf(request.options, room) };
}

function capped(run: RunContext, request: GenerationRequest, left: number): GenerationRequest {
  const { maxTokens } = request.options;
  if (maxTokens !== undefined && maxTokens <= left) return request;
  if (left < leastAnswer) {
    const message = `the run may produce ${run.agent.limits.outputTokens} tokens, and ${Math.max(0, left)} are left`;
    throw new LimitReached("max_output", message);
  }
  if (maxTokens === undefined && left > safeLimit) {
    run.answerCharacters = left * perToken.without;
    return request;
  }
  run.answerCharacters = left * perToken.withLimit;
  return { ...request, options: answerOf(request.options, left) };
}

/** Caps the thinking budget too: vendors refuse one that exceeds the token limit. */
function answerOf(options: GenerationOptions, maxTokens: number): GenerationOptions {
  const { budget, ...reasoning } = options.reasoning ?? {};
  if (budget === undefined || budget < maxTokens) return { ...options, maxTokens };
  return { ...options, maxTokens, reasoning };
}
