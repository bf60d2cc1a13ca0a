import type { NativeRules } from "venturi/plugin";
import { asList, asRecord, asText } from "venturi/plugin/provider";

/** Native fields that callers of the same wire may set; docs/providers.md has the reasons. */
export const nativeRules: NativeRules = {
  fields: {
    include: (value) => asList(value).length > 0 && asList(value).every((each) => included.has(String(each))),
    max_tool_calls: true,
    parallel_tool_calls: true,
    reasoning: true,
    text: true,
    top_logprobs: true,
    truncation: true,
  },
  reserved: new Set([
    "background",
    "conversation",
    "input",
    "instructions",
    "max_output_tokens",
    "model",
    "previous_response_id",
    "stream",
    "stream_options",
    "tool_choice",
    "tools",
    "usage",
  ]),
  // Only if the provider's own settings do not set them.
  headers: { "openai-beta": () => true, "openai-organization": () => true, "openai-project": () => true },
  vendorTool: (tool) => vendorTool(tool),
};

const included: ReadonlySet<string> = new Set([
  "code_interpreter_call.outputs",
  "computer_call_output.output.image_url",
  "file_search_call.results",
  "message.input_image.image_url",
  "message.output_text.logprobs",
  "reasoning.encrypted_content",
  "web_search_call.action.sources",
  "web_search_call.results",
]);

/** Tools whose calls come back to the client, or that only choose among the request's own tools. */
const clients: ReadonlySet<string> = new Set([
  "apply_patch",
  "computer",
  "computer_use_preview",
  "custom",
  "function",
  "local_shell",
  "tool_search",
]);

function vendorTool(tool: Readonly<Record<string, unknown>>): string | undefined {
  const type = asText(tool.type) ?? "unknown";
  if (clients.has(type)) return undefined;
  const place = asRecord(tool.environment).type;
  if (type === "shell" && (place === undefined || place === "local")) return undefined;
  if (type !== "namespace") return type;
  for (const each of asList(tool.tools)) {
    const inner = asRecord(each).type === "namespace" ? "namespace" : vendorTool(asRecord(each));
    if (inner !== undefined) return inner;
  }
  return undefined;
}
