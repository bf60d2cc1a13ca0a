import type { NativeRules } from "venturi/plugin";
import { asText } from "venturi/plugin/provider";

/** Native fields that callers of the same wire may set; docs/providers.md has the reasons. */
export const nativeRules: NativeRules = {
  fields: {
    audio: true,
    frequency_penalty: true,
    function_call: true,
    logit_bias: true,
    logprobs: true,
    min_p: true,
    modalities: true,
    parallel_tool_calls: true,
    prediction: true,
    presence_penalty: true,
    reasoning: true,
    reasoning_effort: true,
    repetition_penalty: true,
    response_format: true,
    stop: true,
    thinking: true,
    top_k: true,
    top_logprobs: true,
    verbosity: true,
    // Embeddings.
    input_type: true,
    truncate: true,
  },
  reserved: new Set([
    "functions",
    "input",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "model",
    "models",
    "n",
    "stream",
    "stream_options",
    "tool_choice",
    "tools",
    "usage",
  ]),
  acting: { web_search_options: "web_search", plugins: "plugins" },
  // Only if the provider's own settings do not set them.
  headers: { "openai-beta": () => true, "openai-organization": () => true, "openai-project": () => true },
  vendorTool: ({ type }) => (type === "function" || type === "custom" ? undefined : (asText(type) ?? "unknown")),
};
