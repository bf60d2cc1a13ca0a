import { type GenerationRequest, list, record, type ToolChoice, type ToolSpec, textOf } from "venturi/plugin";
import { containerOf, messagesOf } from "./messages.ts";
import { outputSchema } from "./schema.ts";

/** Room for the answer when nobody says how much: Anthropic insists on a figure. */
const defaultMaxTokens = 8_192;

/** From this version on the API refuses sampling settings. */
const withoutSampling = "2026-10-21";

type Body = Record<string, unknown>;

export function bodyOf(request: GenerationRequest, version: string): Body {
  const { temperature, topP, maxTokens, stop, seed: _, reasoning, ...rest } = request.options;
  const thinking = thinkingOf(reasoning);
  const body: Body = {
    model: request.model,
    max_tokens: maxTokens ?? defaultMaxTokens + (reasoning?.budget ?? 0),
    messages: messagesOf(request.messages),
  };
  const system = request.messages.filter((message) => message.role === "system").map(textOf);
  if (system.length > 0) body.system = system.join("\n\n");
  if (stop !== undefined && stop.length > 0) body.stop_sequences = stop;
  if (thinking !== undefined) body.thinking = thinking;
  else if (version < withoutSampling) {
    // Beside thinking, any temperature but the default is refused as well.
    if (temperature !== undefined) body.temperature = temperature;
    if (topP !== undefined) body.top_p = topP;
  }
  const container = containerOf(request.messages);
  if (container !== undefined) body.container = container;
  const output = { ...outputOf(request), ...record(rest.output_config) };
  const tools = [...request.tools.map(toolOf), ...list(rest.tools)];
  if (tools.length > 0 && request.toolChoice !== undefined) body.tool_choice = choiceOf(request.toolChoice);
  return {
    ...body,
    ...rest,
    ...(tools.length === 0 ? {} : { tools }),
    ...(Object.keys(output).length === 0 ? {} : { output_config: output }),
  };
}

/** A budget is the older way to ask for thinking, an effort the newer; models take one or the other. */
function thinkingOf(reasoning: GenerationRequest["options"]["reasoning"]): Body | undefined {
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

const toolOf = (tool: ToolSpec): Body => ({
  name: tool.name,
  description: tool.description,
  input_schema: { type: "object", ...tool.parameters },
});

function choiceOf(choice: ToolChoice): Body {
  if (typeof choice === "object") return { type: "tool", name: choice.name };
  return { type: choice === "required" ? "any" : choice };
}
