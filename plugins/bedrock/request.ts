import { hasLateSystem, prefaced } from "venturi/internal";
import type { GenerationRequest, ToolChoice, ToolSpec } from "venturi/plugin";
import { asRecord, textOf } from "venturi/plugin/provider";
import { type Block, messagesOf } from "./messages.ts";

type Body = Record<string, unknown>;

/** The fields that token counting takes. */
export const countedBody = ({ messages, system, toolConfig, additionalModelRequestFields }: Body): Body => ({
  messages,
  ...(system === undefined ? {} : { system }),
  ...(toolConfig === undefined ? {} : { toolConfig }),
  ...(additionalModelRequestFields === undefined ? {} : { additionalModelRequestFields }),
});

export function bodyOf(request: GenerationRequest): Body {
  const { temperature, topP, maxTokens, stop, seed: _, reasoning: _reasoning, ...rest } = request.options;
  const { preface, turns } = prefaced(request.messages);
  const inferenceConfig: Body = {
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(stop === undefined || stop.length === 0 ? {} : { stopSequences: stop }),
  };
  const system = preface.map(textOf).filter((text) => text.trim() !== "");
  const model = { ...reasoningOf(request), ...asRecord(rest.additionalModelRequestFields) };
  const tools = offered(request);
  const body: Body = {
    messages: messagesOf(turns),
    ...(system.length === 0 ? {} : { system: [{ text: system.join("\n\n") }] }),
    ...(Object.keys(inferenceConfig).length === 0 ? {} : { inferenceConfig }),
    ...(tools.length === 0 ? {} : { toolConfig: toolsOf(tools, request.toolChoice) }),
    ...outputOf(request),
    ...rest,
    ...(Object.keys(model).length === 0 ? {} : { additionalModelRequestFields: model }),
  };
  return withCachePoints(body, request);
}

/** There is no choice of none: forbidden tools are not offered, unless the conversation has calls, whose tools it must name. */
function offered({ tools, toolChoice, messages }: GenerationRequest): readonly ToolSpec[] {
  if (toolChoice !== "none") return tools;
  return messages.some(({ parts }) => parts.some(({ type }) => type === "tool_call")) ? tools : [];
}

function toolsOf(tools: readonly ToolSpec[], choice: ToolChoice | undefined): Body {
  const named = typeof choice === "object" ? { tool: { name: choice.name } } : { any: {} };
  const chosen = choice === undefined || choice === "none" || choice === "auto" ? {} : { toolChoice: named };
  return { tools: tools.map(toolOf), ...chosen };
}

const toolOf = ({ name, description, parameters }: ToolSpec): Body => ({
  toolSpec: {
    name,
    ...(description === "" ? {} : { description }),
    inputSchema: { json: { type: "object", ...parameters } },
  },
});

function outputOf({ output }: GenerationRequest): Body {
  if (output?.schema === undefined) return {};
  const jsonSchema = { name: output.name, schema: JSON.stringify(output.schema) };
  return { outputConfig: { textFormat: { type: "json_schema", structure: { jsonSchema } } } };
}

/** How reasoning is asked for is each vendor's own; empty where it cannot be. */
function reasoningOf({ model, options: { reasoning } }: GenerationRequest): Body {
  const { effort, budget } = reasoning ?? {};
  if (budget === undefined && (effort === undefined || effort === "none")) return {};
  if (model.includes("anthropic.")) {
    if (budget !== undefined) return { thinking: { type: "enabled", budget_tokens: budget } };
    return { thinking: { type: "adaptive" }, output_config: { effort: effort === "minimal" ? "low" : effort } };
  }
  if (effort === undefined) return {};
  const level = effort === "minimal" ? "low" : effort === "xhigh" || effort === "max" ? "high" : effort;
  if (model.includes("amazon.nova")) return { reasoningConfig: { type: "enabled", maxReasoningEffort: level } };
  return model.includes("openai.") || model.includes("deepseek.") ? { reasoning_effort: level } : {};
}

/** Fields the API cannot express, or that this model's vendor does not take. */
export function ignoredBy(request: GenerationRequest): string[] {
  const { seed, reasoning } = request.options;
  const asked = reasoning?.budget !== undefined || (reasoning?.effort !== undefined && reasoning.effort !== "none");
  const keepsTools = request.toolChoice === "none" && offered(request).length > 0;
  return [
    ...(seed === undefined ? [] : ["seed"]),
    ...(asked && Object.keys(reasoningOf(request)).length === 0 ? ["reasoning"] : []),
    ...(keepsTools ? ["tool_choice"] : []),
    ...(request.output !== undefined && request.output.schema === undefined ? ["response_format"] : []),
    // It is a user turn then.
    ...(hasLateSystem(request.messages) ? ["messages.role"] : []),
  ];
}

/** Families whose prompts Bedrock caches where a cache point stands; others refuse one. */
const caching = ["anthropic.", "amazon.nova"];

/** After the tools, the system text and the conversation so far, where the next request gets its cache hit. */
function withCachePoints(body: Body, { cache, model }: GenerationRequest): Body {
  const mode = cache?.mode ?? "off";
  if (mode === "off" || !caching.some((family) => model.includes(family))) return body;
  const messages = body.messages as { role: string; content: Block[] }[]; // built above
  // A single question without context is not repeated, so a cache write would only cost.
  if (mode === "auto" && cache?.key === undefined && body.toolConfig === undefined && messages.length < 2) return body;
  const point = { cachePoint: { type: "default", ...(mode === "1h" ? { ttl: "1h" } : {}) } };
  const last = messages.at(-1);
  // Nova takes none among tools.
  const marksTools = body.toolConfig !== undefined && model.includes("anthropic.");
  const { tools, ...choice } = asRecord(body.toolConfig);
  return {
    ...body,
    ...(body.system === undefined ? {} : { system: [...(body.system as Block[]), point] }),
    ...(marksTools ? { toolConfig: { tools: [...(tools as Block[]), point], ...choice } } : {}),
    messages: last === undefined ? [] : [...messages.slice(0, -1), { ...last, content: [...last.content, point] }],
  };
}
