import type { NativeRules } from "venturi/plugin";
import { asList, asRecord, asText } from "venturi/plugin/provider";

/** Native fields that callers of the same wire may set; docs/providers.md has the reasons. */
export const nativeRules: NativeRules = {
  fields: {
    cache_control: true,
    context_management: (value) => asList(asRecord(value).edits).every((edit) => isClearing(asRecord(edit).type)),
    output_config: true,
    output_format: true,
    thinking: true,
    top_k: true,
  },
  reserved: new Set([
    "max_tokens",
    "messages",
    "model",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thread",
    "tool_choice",
    "tools",
    "top_p",
    "usage",
  ]),
  acting: { mcp_servers: "mcp", container: "code_execution" },
  headers: { "anthropic-beta": isOpenBeta },
  vendorTool: ({ type }) =>
    type === "custom" || clients.test(asText(type) ?? "") ? undefined : (asText(type) ?? "unknown"),
};

/** These edits only remove old content from the prompt; others generate. */
const isClearing = (type: unknown): boolean => asText(type)?.startsWith("clear_") === true;

/**
 * Betas open to every caller, as Anthropic's own clients send them: output, thinking and tool formats, and caching. Others cost more, keep
 * data at the vendor, or need a vendor tool.
 */
const betas: ReadonlySet<string> = new Set([
  "advanced-tool-use",
  "claude-code",
  "claude-code-side-query",
  "computer-use",
  "context-hint",
  "context-management",
  "effort",
  "extended-cache-ttl",
  "fine-grained-tool-streaming",
  "interleaved-thinking",
  "output-128k",
  "pdfs",
  "per-turn-control",
  "prompt-caching",
  "prompt-caching-scope",
  "redact-thinking",
  "structured-outputs",
  "task-budgets",
  "timing",
  "token-counting",
  "token-efficient-tools",
  "tool-examples",
  "tool-provenance",
  "tool-search-tool",
]);

/** A beta's name ends with a date. */
function isOpenBeta(beta: string): boolean {
  const dated = beta.search(/-\d{4}-?\d\d-?\d\d$/);
  const name = beta.slice(0, Math.max(0, dated));
  return betas.has(name) || name.startsWith("thinking-") || name.startsWith("mid-conversation-");
}

/** Tools whose calls the client executes, or that only choose among the request's own tools. */
const clients = /^(?:bash|text_editor|memory|computer)_\d{8}$|^tool_search_tool_(?:regex|bm25)(?:_\d{8})?$/;
