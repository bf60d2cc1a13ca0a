import { prefaced } from "venturi/internal";
import type { Effort, GenerationOptions, GenerationRequest, ToolChoice, ToolSpec } from "venturi/plugin";
import { asList, asRecord, textOf } from "venturi/plugin/provider";
import { contentsOf } from "./contents.ts";

type Body = Record<string, unknown>;

/** `models/NAME` below the base URL; a model with slashes (`tunedModels/x`, `publishers/…`) is used as the path. */
export function urlOf(baseUrl: string, model: string, mode: "stream" | "whole"): string {
  return methodOf(baseUrl, model, mode === "stream" ? "streamGenerateContent?alt=sse" : "generateContent");
}

export const countUrlOf = (baseUrl: string, model: string): string => methodOf(baseUrl, model, "countTokens");

export const embedUrlOf = (baseUrl: string, model: string): string => methodOf(baseUrl, model, "batchEmbedContents");

function methodOf(baseUrl: string, model: string, method: string): string {
  const path = model.includes("/") ? model : `models/${model}`;
  return `${baseUrl.replace(/\/+$/, "")}/${path.split("/").map(encodeURIComponent).join("/")}:${method}`;
}

export function bodyOf(request: GenerationRequest): Body {
  const { temperature, topP, maxTokens, stop, seed, reasoning, ...rest } = request.options;
  const config: Body = {};
  if (temperature !== undefined) config.temperature = temperature;
  if (topP !== undefined) config.topP = topP;
  if (maxTokens !== undefined) config.maxOutputTokens = maxTokens;
  if (stop !== undefined && stop.length > 0) config.stopSequences = stop;
  if (seed !== undefined) config.seed = seed;
  if (reasoning !== undefined) config.thinkingConfig = thinkingOf(reasoning, request.model);
  if (request.output !== undefined) {
    config.responseMimeType = "application/json";
    if (request.output.schema !== undefined) config.responseJsonSchema = request.output.schema;
  }
  const { preface, turns } = prefaced(request.messages);
  const body: Body = { contents: contentsOf(turns, request.model) };
  const system = preface.map(textOf);
  if (system.length > 0) body.systemInstruction = { parts: [{ text: system.join("\n\n") }] };
  const generationConfig = { ...config, ...asRecord(rest.generationConfig) };
  const tools = [...declarations(request.tools), ...asList(rest.tools)];
  if (request.tools.length > 0 && request.toolChoice !== undefined) {
    body.toolConfig = { functionCallingConfig: choiceOf(request.toolChoice) };
  }
  return {
    ...body,
    ...rest,
    ...(tools.length === 0 ? {} : { tools }),
    ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
  };
}

const declarations = (tools: readonly ToolSpec[]): Body[] =>
  tools.length === 0
    ? []
    : [
        {
          functionDeclarations: tools.map((tool) => ({
            name: tool.name,
            description: tool.description,
            parametersJsonSchema: tool.parameters,
          })),
        },
      ];

function choiceOf(choice: ToolChoice): Body {
  if (typeof choice === "object") return { mode: "ANY", allowedFunctionNames: [choice.name] };
  return { mode: choice === "required" ? "ANY" : choice.toUpperCase() };
}

/** Gemini 3 takes a level, earlier models a token budget. */
function thinkingOf(reasoning: NonNullable<GenerationOptions["reasoning"]>, model: string): Body {
  const { effort, budget } = reasoning;
  if (budget !== undefined) return { includeThoughts: true, thinkingBudget: budget };
  if (effort === undefined) return { includeThoughts: true };
  if (/gemini-2/.test(model)) return { includeThoughts: true, thinkingBudget: budgets[effort] };
  return { includeThoughts: true, thinkingLevel: levels[effort] };
}

const budgets = {
  none: 0,
  minimal: 512,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
} as const satisfies Record<Effort, number>;

/** Later models cannot turn thinking off. */
const levels = {
  none: "minimal",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
} as const satisfies Record<Effort, string>;
