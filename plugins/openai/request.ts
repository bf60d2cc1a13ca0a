import { isStrictSchema, withFields } from "venturi/internal";
import type { GenerationRequest, OutputFormat, ToolChoice, ToolSpec } from "venturi/plugin";
import { asList, withNative } from "venturi/plugin/provider";
import type { Dialect } from "./dialects.ts";
import { messagesOf } from "./messages.ts";
import type { OpenAiOptions } from "./options.ts";

type Body = Record<string, unknown>;

export interface Asking {
  readonly options: OpenAiOptions;
  readonly dialect: Dialect;
  readonly mode: "stream" | "whole";
}

/**
 * The body of /chat/completions. Unknown keys are added unchanged and override ours; `tools` among them (the vendor's own) come
 * after the agent's. A client's native fields that may pass override ours.
 */
export function bodyOf(request: GenerationRequest, { options, dialect, mode }: Asking): Body {
  const { temperature, topP, maxTokens, stop, seed, reasoning, tools: more, ...rest } = request.options;
  const body: Body = { model: request.model, messages: messagesOf(request.messages, options, dialect) };
  if (mode === "stream") body.stream = true;
  if (mode === "stream" && options.includeUsage) body.stream_options = { include_usage: true };
  const tools = [...request.tools.map(toolOf), ...asList(more)];
  if (tools.length > 0) body.tools = tools;
  if (request.tools.length > 0 && request.toolChoice !== undefined) body.tool_choice = choiceOf(request.toolChoice);
  if (request.output !== undefined) body.response_format = formatOf(request.output);
  if (temperature !== undefined) body.temperature = temperature;
  if (topP !== undefined) body.top_p = topP;
  if (maxTokens !== undefined) body[options.maxTokensKey ?? dialect.maxTokens] = maxTokens;
  if (stop !== undefined && stop.length > 0) body.stop = stop;
  if (seed !== undefined) body.seed = seed;
  if (reasoning?.effort !== undefined) body.reasoning_effort = reasoning.effort;
  const key = cacheKeyOf(request, dialect);
  if (key !== undefined) body.prompt_cache_key = key;
  return withFields(withFields(Object.assign(body, rest), request.native), request.nativeChoice);
}

/** Without `auto`, the operator enabled caching and knows that the server supports it. */
const cacheKeyOf = ({ cache }: GenerationRequest, { cacheKey }: Dialect): string | undefined =>
  cache === undefined || cache.mode === "off" || (cache.mode === "auto" && !cacheKey) ? undefined : cache.key;

/** A client of this wire has stated whether its schema is strict. */
function formatOf({ name, schema, native }: OutputFormat): Body {
  if (schema === undefined) return { type: "json_object" };
  const format = { name, schema, ...(native === undefined && { strict: isStrictSchema(schema) }) };
  return withFields({ type: "json_schema", json_schema: format }, native);
}

const toolOf = ({ name, description, parameters, native }: ToolSpec): Body =>
  withNative({ type: "function", function: { name, ...(description !== "" && { description }), parameters } }, native);

const choiceOf = (choice: ToolChoice): unknown =>
  typeof choice === "string" ? choice : { type: "function", function: { name: choice.name } };
