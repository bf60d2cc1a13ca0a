import { hasLateSystem, prefaced, withFields } from "venturi/internal";
import type { GenerationRequest, ToolChoice, ToolSpec } from "venturi/plugin";
import { asList, asRecord, withNative } from "venturi/plugin/provider";
import { withBreakpoints } from "./cache.ts";
import { containerOf, messagesOf, systemOf, systemPlaces } from "./messages.ts";
import { outputSchema } from "./schema.ts";

/** Default for `max_tokens`, which Anthropic requires. */
const defaultMaxTokens = 8_192;

/** The fields the token counting endpoint accepts; it rejects others. */
export function countedBody(body: Body): Body {
  return Object.fromEntries(Object.entries(body).filter(([key]) => counted.has(key)));
}

const counted: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "system",
  "tools",
  "tool_choice",
  "thinking",
  "output_config",
  "output_format",
  "cache_control",
  "context_management",
  "mcp_servers",
]);

/** The client's betas come after the operator's. */
export function headersOf(request: GenerationRequest, beta: readonly string[]): Record<string, string> {
  const own = request.native?.headers?.["anthropic-beta"]?.split(",").map((name) => name.trim()) ?? [];
  const names = [...new Set([...beta, ...own.filter((name) => name !== "")])];
  return names.length === 0 ? {} : { "anthropic-beta": names.join(",") };
}

/** From this version on, the API rejects sampling settings. */
const withoutSampling = "2026-10-21";

type Body = Record<string, unknown>;

/** The provider options that requests depend on. */
interface Api {
  readonly version: string;
  readonly baseUrl: string;
}

export function bodyOf(request: GenerationRequest, { version, baseUrl }: Api): Body {
  const { temperature, topP, maxTokens, stop, seed: _, reasoning, ...rest } = request.options;
  const thinking = thinkingOf(request);
  const { preface, turns } = prefaced(request.messages, systemPlaces(request, baseUrl));
  const body: Body = {
    model: request.model,
    max_tokens: maxTokens ?? defaultMaxTokens + (reasoning?.budget ?? 0),
    messages: messagesOf(turns),
  };
  const system = systemOf(preface);
  if (system !== undefined) body.system = system;
  if (stop !== undefined && stop.length > 0) body.stop_sequences = stop;
  if (thinking !== undefined) body.thinking = thinking;
  if (takesSampling(request, version)) {
    if (temperature !== undefined) body.temperature = temperature;
    if (topP !== undefined) body.top_p = topP;
  }
  const container = containerOf(request.messages);
  if (container !== undefined) body.container = container;
  const output = { ...outputOf(request), ...asRecord(rest.output_config) };
  const tools = [...request.tools.map(toolOf), ...asList(rest.tools)];
  if (tools.length > 0 && request.toolChoice !== undefined) body.tool_choice = choiceOf(request.toolChoice);
  const whole = {
    ...body,
    ...rest,
    ...(tools.length === 0 ? {} : { tools }),
    ...(Object.keys(output).length === 0 ? {} : { output_config: output }),
  };
  return withBreakpoints(withFields(withFields(whole, request.native), request.nativeChoice), request);
}

/** With thinking, only the default temperature is accepted. A client of this wire that sends both is not overruled. */
function takesSampling(request: GenerationRequest, version: string): boolean {
  return version < withoutSampling && thinkingOf(request) === undefined;
}

/** Fields the API cannot express, or rejects in combination. */
export function ignoredBy(request: GenerationRequest, { version, baseUrl }: Api): string[] {
  const { seed, temperature, topP } = request.options;
  const sampling = takesSampling(request, version);
  return [
    ...(seed === undefined ? [] : ["seed"]),
    ...(temperature === undefined || sampling ? [] : ["temperature"]),
    ...(topP === undefined || sampling ? [] : ["top_p"]),
    // There is no JSON mode without a schema.
    ...(request.output !== undefined && request.output.schema === undefined ? ["response_format"] : []),
    // It is sent as a user turn then.
    ...(hasLateSystem(request.messages, systemPlaces(request, baseUrl)) ? ["messages.role"] : []),
    ...shownBy(request, "image"),
    ...shownBy(request, "file"),
  ];
}

/** Images or files produced by another vendor's model, which `assistantBlock` leaves out. */
function shownBy({ messages }: GenerationRequest, type: "image" | "file"): string[] {
  const shown = messages.some(
    ({ role, parts }) => role === "assistant" && parts.some((part) => part.type === type && part.native === undefined),
  );
  return shown ? [`messages.content.${type}`] : [];
}

/**
 * Older models take a thinking budget, newer ones an effort. A client of this wire states for itself whether it wants thinking in addition.
 */
function thinkingOf({ options: { reasoning }, native }: GenerationRequest): Body | undefined {
  if (native?.fields.output_config !== undefined || native?.fields.thinking !== undefined) return undefined;
  if (reasoning?.budget !== undefined) return { type: "enabled", budget_tokens: reasoning.budget };
  return reasoning?.effort === undefined || reasoning.effort === "none" ? undefined : { type: "adaptive" };
}

function outputOf(request: GenerationRequest): Body {
  const { effort, budget } = request.options.reasoning ?? {};
  const output: Body = {};
  if (effort !== undefined && effort !== "none" && budget === undefined)
    output.effort = effort === "minimal" ? "low" : effort;
  if (request.output?.schema !== undefined)
    output.format = { type: "json_schema", schema: outputSchema(request.output.schema) };
  return output;
}

/** A client of this wire has already adapted its schema. */
const toolOf = ({ name, description, parameters, native }: ToolSpec): Body => {
  const schema = native === undefined ? { type: "object", ...parameters } : parameters;
  return withNative({ name, ...(description !== "" && { description }), input_schema: schema }, native);
};

function choiceOf(choice: ToolChoice): Body {
  if (typeof choice === "object") return { type: "tool", name: choice.name };
  return { type: choice === "required" ? "any" : choice };
}
