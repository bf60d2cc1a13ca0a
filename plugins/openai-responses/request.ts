import { isStrictSchema, withFields } from "venturi/internal";
import type { GenerationRequest, OutputFormat, ToolChoice, ToolSpec } from "venturi/plugin";
import { asList, asRecord, asText, withNative } from "venturi/plugin/provider";
import { inputOf } from "./input.ts";
import type { ResponsesOptions } from "./options.ts";

type Body = Record<string, unknown>;

/** Reasoning models: only they accept `include: reasoning.encrypted_content`. */
const thinking = /^(o\d|gpt-5|gpt-6|codex|computer-use)/;

/**
 * The body of /responses. Unknown keys are added unchanged and override ours; `tools` among them (the vendor's own) come after
 * the agent's.
 */
export function bodyOf(request: GenerationRequest, options: ResponsesOptions, mode: "stream" | "whole"): Body {
  const { temperature, topP, maxTokens, stop: _, seed: _seed, reasoning, tools: more, ...rest } = request.options;
  const { instructions, input } = inputOf(request.messages, options);
  const body: Body = { model: request.model, input, store: options.store };
  if (instructions !== undefined) body.instructions = instructions;
  if (mode === "stream") body.stream = true;
  const own = asList(more);
  const offered = new Set(own.map((tool) => asText(asRecord(tool).type)));
  const functions = request.tools.filter(
    ({ aliases = [], native }) => !native?.within && !aliases.some((alias) => offered.has(alias)),
  );
  const tools = [...functions.map(toolOf), ...own];
  if (tools.length > 0) body.tools = tools;
  if (request.tools.length > 0 && request.toolChoice !== undefined) body.tool_choice = choiceOf(request.toolChoice);
  if (request.output !== undefined) body.text = { format: formatOf(request.output) };
  if (temperature !== undefined) body.temperature = temperature;
  if (topP !== undefined) body.top_p = topP;
  if (maxTokens !== undefined) body.max_output_tokens = maxTokens;
  const summary = options.reasoningSummary;
  if (reasoning?.effort !== undefined || summary !== undefined) {
    body.reasoning = { ...(reasoning?.effort && { effort: reasoning.effort }), ...(summary && { summary }) };
  }
  const thinks = body.reasoning !== undefined || thinking.test(request.model.replace(/^.*\//, ""));
  // Without a stored response, reasoning reaches the next round only if it is included encrypted.
  const key = cacheKeyOf(request, options);
  if (key !== undefined) body.prompt_cache_key = key;
  const proofs = !options.store && thinks ? ["reasoning.encrypted_content"] : [];
  const asked = withFields(withFields(Object.assign(body, rest), request.native), request.nativeChoice);
  // A client of another wire may set the verbosity, while the run sets the format.
  if (body.text !== undefined && asRecord(asked.text).format === undefined) {
    asked.text = { ...asRecord(body.text), ...asRecord(asked.text) };
  }
  const include = new Set([...asList(asked.include), ...proofs]);
  return include.size === 0 ? asked : { ...asked, include: [...include] };
}

/** The fields the token counting endpoint accepts; it rejects others. */
export function countedBody(body: Body): Body {
  return Object.fromEntries(Object.entries(body).filter(([key]) => counted.has(key)));
}

const counted: ReadonlySet<string> = new Set([
  "model",
  "input",
  "instructions",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "reasoning",
  "text",
  "truncation",
]);

/** For OpenAI itself; elsewhere only if the operator enabled caching, since a server may reject unknown fields. */
function cacheKeyOf({ cache }: GenerationRequest, { baseUrl }: ResponsesOptions): string | undefined {
  if (cache === undefined || cache.mode === "off") return undefined;
  return cache.mode !== "auto" || openAi.test(new URL(baseUrl).hostname) ? cache.key : undefined;
}

const openAi = /(^|\.)openai\.com$|\.azure\.com$/;

/** A client of this wire has stated whether its schema is strict. */
function formatOf({ name, schema, native }: OutputFormat): Body {
  if (schema === undefined) return { type: "json_object" };
  const strict = native === undefined ? { strict: isStrictSchema(schema) } : {};
  return withFields({ type: "json_schema", name, schema, ...strict }, native);
}

const toolOf = ({ name, description, parameters, native }: ToolSpec): Body =>
  withNative(
    {
      type: "function",
      name,
      ...(description !== "" && { description }),
      parameters,
      ...(native === undefined && { strict: false }),
    },
    native,
  );

const choiceOf = (choice: ToolChoice): unknown =>
  typeof choice === "string" ? choice : { type: "function", name: choice.name };
