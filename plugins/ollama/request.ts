import { fileAsText } from "venturi/internal";
import {
  type FilePart,
  type GenerationRequest,
  type ImagePart,
  type Message,
  type ToolSpec,
  VenturiError,
} from "venturi/plugin";
import { argumentsObject, asRecord, textOf } from "venturi/plugin/provider";

type Body = Record<string, unknown>;

/** The body of /api/chat. Unknown keys go beside `model` (`keep_alive`, …); model settings into `options`. */
export function bodyOf(request: GenerationRequest): Body {
  const { temperature, topP, maxTokens, stop, seed, reasoning, options: own, ...rest } = request.options;
  const options: Body = {};
  if (temperature !== undefined) options.temperature = temperature;
  if (topP !== undefined) options.top_p = topP;
  if (maxTokens !== undefined) options.num_predict = maxTokens;
  if (stop !== undefined && stop.length > 0) options.stop = stop;
  if (seed !== undefined) options.seed = seed;
  const settings = { ...options, ...asRecord(own) };
  const tools = offered(request).map(toolOf);
  return {
    model: request.model,
    messages: request.messages.flatMap(messagesOf),
    ...(tools.length === 0 ? {} : { tools }),
    ...(request.output === undefined ? {} : { format: request.output.schema ?? "json" }),
    ...(reasoning === undefined ? {} : { think: thinkOf(request.model, reasoning.effort) }),
    ...(Object.keys(settings).length === 0 ? {} : { options: settings }),
    ...rest,
  };
}

/** Ollama has no tool choice: forbidden tools are simply not offered. */
function offered(request: GenerationRequest): readonly ToolSpec[] {
  const choice = request.toolChoice;
  if (choice === "none") return [];
  return typeof choice === "object" ? request.tools.filter((tool) => tool.name === choice.name) : request.tools;
}

const toolOf = (tool: ToolSpec): Body => ({
  type: "function",
  function: { name: tool.name, description: tool.description, parameters: tool.parameters },
});

/** gpt-oss has levels of thinking; other models only on or off. */
function thinkOf(model: string, effort: string | undefined): string | boolean {
  if (effort === "none") return false;
  if (effort === undefined || !model.includes("gpt-oss")) return true;
  if (effort === "minimal") return "low";
  return effort === "xhigh" || effort === "max" ? "high" : effort;
}

function messagesOf(message: Message): Body[] {
  if (message.role === "tool") return results(message);
  const files = message.parts.flatMap((part) => (part.type === "file" ? [textIn(part)] : []));
  const body: Body = { role: message.role, content: [...files, textOf(message)].join("\n") };
  const images: string[] = [];
  const calls: Body[] = [];
  let thinking = "";
  for (const part of message.parts) {
    if (part.type === "image") images.push(base64Of(part));
    else if (part.type === "reasoning") thinking += part.text;
    else if (part.type === "tool_call") {
      calls.push({ id: part.call, function: { name: part.name, arguments: argumentsObject(part) } });
    }
  }
  if (thinking !== "") body.thinking = thinking;
  if (images.length > 0) body.images = images;
  if (calls.length > 0) body.tool_calls = calls;
  return [body];
}

function results(message: Message): Body[] {
  const out: Body[] = [];
  for (const part of message.parts) {
    if (part.type !== "tool_result") continue;
    const images = (part.images ?? []).map(base64Of);
    const said = part.ok ? part.output : `error: ${part.output}`;
    const content = [said, ...(part.files ?? []).map(textIn)].join("\n");
    const body: Body = { role: "tool", content, tool_name: part.name, tool_call_id: part.call };
    out.push(images.length === 0 ? body : { ...body, images });
  }
  return out;
}

/** Ollama has no files: text is sent as text, and the capability check rejects anything else. */
function textIn(part: FilePart): string {
  const text = fileAsText(part);
  if (text !== undefined) return text;
  const message = `ollama takes no ${part.mediaType} files, only text by its data; choose another model`;
  throw new VenturiError("provider.stream", "invalid_input", message);
}

function base64Of(part: ImagePart): string {
  if (part.data !== undefined) return part.data;
  const message = "ollama takes images as base64 data, not by URL; load the image and pass its data";
  throw new VenturiError("provider.stream", "invalid_input", message);
}
