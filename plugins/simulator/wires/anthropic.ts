import { type Block, blockSteps, type Step } from "../blocks.ts";
import { argumentsOf, contentText, isRecord, list, record, resultText, text } from "../json.ts";
import { message, type Prompt, type PromptMessage, type PromptTool } from "../prompt.ts";
import { argumentsValue, type Finish, type TurnUsage } from "../turn.ts";
import { type Answer, eventStream, type Wire, type WireFrame } from "../wire.ts";

/** Anthropic Messages. */
export const anthropic: Wire = {
  name: "anthropic",
  contentType: eventStream,
  route: (path) => (path.endsWith("/messages") ? {} : undefined),
  read,
  frames,
  whole,
  failure: ({ status, message }) => ({
    type: "error",
    error: { type: kinds[status] ?? "api_error", message },
    request_id: "req_simulator",
  }),
  broken: ({ status, message }) =>
    event({ type: "error", error: { type: kinds[status] ?? "api_error", message }, request_id: "req_simulator" }),
  unknown: event({ type: "simulator_unknown" }),
  malformed: 'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":\n\n',
};

const kinds: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  504: "timeout_error",
  529: "overloaded_error",
};

function read(body: unknown): Prompt {
  const request = record(body);
  const schema = record(record(request.output_config).format).schema ?? record(request.output_format).schema;
  const system = contentText(request.system);
  return {
    model: text(request.model),
    streaming: request.stream === true,
    messages: [...(system === "" ? [] : [message("system", system)]), ...list(request.messages).flatMap(readMessage)],
    tools: list(request.tools).map(readTool),
    toolChoice: readChoice(record(request.tool_choice)),
    schema: isRecord(schema) ? schema : undefined,
    reasoning: ["enabled", "adaptive"].includes(text(record(request.thinking).type)),
    usage: true,
  };
}

/** Results and text may share a message; the text comes after the results. */
function readMessage(value: unknown): PromptMessage[] {
  const { role, content } = record(value);
  const blocks = list(content).map(record);
  if (role === "assistant") {
    const calls = blocks
      .filter((block) => block.type === "tool_use")
      .map((block) => ({ id: text(block.id), name: text(block.name), arguments: argumentsOf(block.input) }));
    return [message("assistant", contentText(content), { calls })];
  }
  const results = blocks
    .filter((block) => block.type === "tool_result")
    .map((block) => ({ id: text(block.tool_use_id), name: "", text: resultText(block.content) }));
  const words = typeof content === "string" ? content : contentText(blocks.filter((block) => block.type === "text"));
  const said = words === "" && results.length > 0 ? [] : [message(role === "system" ? "system" : "user", words)];
  return [...(results.length === 0 ? [] : [message("tool", "", { results })]), ...said];
}

function readTool(value: unknown): PromptTool {
  const tool = record(value);
  return { name: text(tool.name), description: text(tool.description), parameters: record(tool.input_schema) };
}

function readChoice(choice: Readonly<Record<string, unknown>>): Prompt["toolChoice"] {
  if (choice.type === "tool") return { name: text(choice.name) };
  if (choice.type === "any") return "required";
  return choice.type === "none" ? "none" : "auto";
}

function event(data: Readonly<Record<string, unknown>>): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

function frames({ prompt, turn, usage, id, shape }: Answer): WireFrame[] {
  const head = (data: Readonly<Record<string, unknown>>): WireFrame => ({ text: event(data), paced: false });
  const start = usage === undefined ? {} : { usage: { ...usageJson(usage), output_tokens: 1 } };
  const out = [
    head({ type: "message_start", message: { ...envelope(id, prompt), content: [], stop_reason: null, ...start } }),
    head({ type: "ping" }),
  ];
  const steps = blockSteps(turn.pieces);
  const firstCall = steps.find((step) => step.block.kind === "call")?.block.position ?? 0;
  for (const step of steps) {
    const { block } = step;
    const index = shape.duplicateIndex && block.kind === "call" ? firstCall : block.position;
    pushStep(out, step, { index, missingId: shape.missingId });
  }
  if (shape.missingEnd) return out;
  const delta = { stop_reason: stopReasons[turn.finish], stop_sequence: null };
  const total = usage === undefined ? {} : { usage: { output_tokens: usage.outputTokens } };
  if (shape.lateUsage) out.push(head({ type: "message_delta", delta, usage: { output_tokens: 0 } }));
  out.push({ text: event({ type: "message_delta", delta, ...total }), paced: shape.lateUsage });
  out.push(head({ type: "message_stop" }));
  return out;
}

function pushStep(
  out: WireFrame[],
  { type, block, text: words }: Step,
  how: { index: number; missingId: boolean },
): void {
  const { index } = how;
  if (type === "open") {
    const content_block = opened(block, how);
    out.push({ text: event({ type: "content_block_start", index, content_block }), paced: block.kind === "call" });
    return;
  }
  if (type === "close") {
    if (block.kind === "reasoning")
      out.push({ text: deltaEvent(index, ["signature_delta", "signature"], signature), paced: false });
    out.push({ text: event({ type: "content_block_stop", index }), paced: false });
    return;
  }
  out.push({ text: deltaEvent(index, deltas[block.kind], words), paced: true });
}

const signature = "c2ltdWxhdG9y";

const deltas: Readonly<Record<Block["kind"], readonly [string, string]>> = {
  text: ["text_delta", "text"],
  refusal: ["text_delta", "text"],
  reasoning: ["thinking_delta", "thinking"],
  call: ["input_json_delta", "partial_json"],
};

function deltaEvent(index: number, [kind, field]: readonly [string, string], words: string): string {
  return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${kind}","${field}":${JSON.stringify(words)}}}\n\n`;
}

function opened(block: Block, { missingId }: { readonly missingId: boolean }): Readonly<Record<string, unknown>> {
  if (block.kind === "reasoning") return { type: "thinking", thinking: "", signature: "" };
  if (block.kind !== "call") return { type: "text", text: "" };
  return { type: "tool_use", ...(missingId ? {} : { id: block.id }), name: block.name, input: {} };
}

const envelope = (id: string, prompt: Prompt) => ({
  id: `msg_${id}`,
  type: "message",
  role: "assistant",
  model: prompt.model,
  stop_sequence: null,
});

const stopReasons: Readonly<Record<Finish, string>> = {
  stop: "end_turn",
  tool_calls: "tool_use",
  length: "max_tokens",
  content_filter: "refusal",
  refusal: "refusal",
};

function whole({ prompt, turn, usage, id, shape }: Answer): unknown {
  const content = blockSteps(turn.pieces)
    .filter((step) => step.type === "close")
    .map(({ block }) => {
      const base = opened(block, shape);
      if (block.kind === "call") return { ...base, input: argumentsValue(block.text) };
      return block.kind === "reasoning" ? { ...base, thinking: block.text, signature } : { ...base, text: block.text };
    });
  const total = usage === undefined ? {} : { usage: usageJson(usage) };
  return { ...envelope(id, prompt), content, stop_reason: stopReasons[turn.finish], ...total };
}

const usageJson = (usage: TurnUsage) => ({
  input_tokens: usage.inputTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: usage.cacheReadTokens ?? 0,
  output_tokens: usage.outputTokens,
});
