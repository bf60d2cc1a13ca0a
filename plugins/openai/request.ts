import { type GenerationRequest, isStrictSchema, list, type ToolChoice, type ToolSpec } from "venturi/plugin";
import type { OpenAiOptions } from "./index.ts";
import { messagesOf } from "./messages.ts";

type Body = Record<string, unknown>;

/**
 * The body of /chat/completions. Keys that are not ours go in as they are and win over what we made of the others; `tools`
 * among them (the vendor's own) come after the agent's.
 */
export function bodyOf(request: GenerationRequest, options: OpenAiOptions, mode: "stream" | "whole"): Body {
  const { temperature, topP, maxTokens, stop, seed, reasoning, tools: more, ...rest } = request.options;
  const body: Body = { model: request.model, messages: messagesOf(request.messages, options) };
  if (mode === "stream") body.stream = true;
  if (mode === "stream" && options.includeUsage) body.stream_options = { include_usage: true };
  const tools = [...request.tools.map(toolOf), ...list(more)];
  if (tools.length > 0) body.tools = tools;
  if (request.tools.length > 0 && request.toolChoice !== undefined) body.tool_choice = choiceOf(request.toolChoice);
  if (request.output !== undefined)
    body.response_format = {
      type: "json_schema",
      json_schema: { ...request.output, strict: isStrictSchema(request.output.schema) },
    };
  if (temperature !== undefined) body.temperature = temperature;
  if (topP !== undefined) body.top_p = topP;
  if (maxTokens !== undefined) body[options.maxTokensKey] = maxTokens;
  if (stop !== undefined && stop.length > 0) body.stop = stop;
  if (seed !== undefined) body.seed = seed;
  if (reasoning?.effort !== undefined) body.reasoning_effort = reasoning.effort;
  return Object.assign(body, rest);
}

const toolOf = ({ name, description, parameters }: ToolSpec): Body => ({
  type: "function",
  function: { name, description, parameters },
});

const choiceOf = (choice: ToolChoice): unknown =>
  typeof choice === "string" ? choice : { type: "function", function: { name: choice.name } };
