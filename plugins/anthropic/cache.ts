import type { GenerationRequest } from "venturi/plugin";
import { asList, asRecord } from "venturi/plugin/provider";
import type { AnthropicMessage, Block } from "./messages.ts";

type Body = Record<string, unknown>;

/**
 * The body with up to four cache breakpoints: the last tool, the system text, and the conversation's end now and one turn
 * earlier, where the next request gets its cache hit. A client's own breakpoints take precedence.
 */
export function withBreakpoints(body: Body, { cache }: GenerationRequest): Body {
  const mode = cache?.mode ?? "off";
  if (mode === "off" || isMarked(body)) return body;
  const mark = { type: "ephemeral", ...(mode === "1h" ? { ttl: "1h" } : {}) };
  const { tools, system } = body;
  const messages = body.messages as AnthropicMessage[]; // Built by this plugin.
  const marked: Body = { ...body };
  if (typeof system === "string") marked.system = [{ type: "text", text: system, cache_control: mark }];
  else if (Array.isArray(system)) marked.system = markLast(system, mark);
  if (Array.isArray(tools)) marked.tools = markLast(tools, mark);
  // A single question without context is not repeated, so a cache write would only cost.
  if (mode !== "auto" || cache?.key !== undefined || tools !== undefined || messages.length > 1) {
    marked.messages = markTurns(messages, mark);
  }
  return marked;
}

function isMarked(body: Body): boolean {
  const messages = asList(body.messages).flatMap((message) => asList(asRecord(message).content));
  return [body, ...asList(body.system), ...asList(body.tools), ...messages].some(hasMark);
}

/** Also looks inside tool results, which may contain blocks. */
function hasMark(value: unknown): boolean {
  const block = asRecord(value);
  if (block.cache_control != null) return true;
  return block.type === "tool_result" && asList(block.content).some(hasMark);
}

/** After the last two user messages, including tool results. */
function markTurns(messages: readonly AnthropicMessage[], mark: Body): AnthropicMessage[] {
  let left = 2;
  return messages
    .toReversed()
    .map((message) => {
      if (left === 0 || message.role !== "user") return message;
      left -= 1;
      return { ...message, content: markLast(message.content, mark) };
    })
    .toReversed();
}

/** Thinking and vendor blocks cannot carry a breakpoint. */
function markLast(blocks: readonly Block[], mark: Body): Block[] {
  const at = blocks.findLastIndex(({ type }) => type === undefined || markable.has(String(type)));
  return blocks.map((block, index) => (index === at ? { ...block, cache_control: mark } : block));
}

const markable: ReadonlySet<string> = new Set(["text", "image", "document", "tool_use", "tool_result", "custom"]);
