import { type Block, blockSteps } from "../blocks.ts";
import type { TurnUsage } from "../turn.ts";
import { type Answer, created } from "../wire.ts";

type When = "started" | "done";

/** The response object of the Responses wire, at the start and at the end. */
export function responseJson(answer: Answer, when: When) {
  const { prompt, turn, usage, id } = answer;
  const reason = { length: "max_output_tokens", content_filter: "content_filter" }[turn.finish as string];
  const done = when === "done";
  const blocks = done ? blockSteps(turn.pieces).filter((step) => step.type === "close") : [];
  const output = blocks.map((step) => step.block).toSorted((left, right) => left.position - right.position);
  return {
    id: `resp_${id}`,
    object: "response",
    created_at: created,
    status: done ? (reason === undefined ? "completed" : "incomplete") : "in_progress",
    error: null,
    incomplete_details: done && reason !== undefined ? { reason } : null,
    instructions: null,
    max_output_tokens: null,
    model: prompt.model,
    output: output.map((block) => itemOf(block, answer, "done")),
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: 1,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    truncation: "disabled",
    usage: done && usage !== undefined ? usageJson(usage) : null,
    user: null,
    metadata: {},
  };
}

export const itemId = (block: Block, { id }: Answer): string => `${prefixes[block.kind]}_${id}_${block.position}`;

export function itemOf(block: Block, answer: Answer, when: When) {
  const done = when === "done";
  const status = done ? "completed" : "in_progress";
  const base = { id: itemId(block, answer) };
  const text = done ? block.text : "";
  if (block.kind === "reasoning") return { ...base, type: "reasoning", summary: done ? [partOf(block, text)] : [] };
  if (block.kind === "call") {
    const call = answer.shape.missingId ? {} : { call_id: block.id };
    return { ...base, type: "function_call", status, arguments: text, ...call, name: block.name };
  }
  return { ...base, type: "message", status, content: done ? [partOf(block, text)] : [], role: "assistant" };
}

const prefixes: Readonly<Record<Block["kind"], string>> = { text: "msg", refusal: "msg", reasoning: "rs", call: "fc" };

export function partOf(block: Block, text: string): unknown {
  if (block.kind === "reasoning") return { type: "summary_text", text };
  if (block.kind === "refusal") return { type: "refusal", refusal: text };
  return { type: "output_text", annotations: [], logprobs: [], text };
}

const usageJson = (usage: TurnUsage) => ({
  input_tokens: usage.inputTokens,
  input_tokens_details: { cached_tokens: usage.cacheReadTokens ?? 0 },
  output_tokens: usage.outputTokens,
  output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
  total_tokens: usage.inputTokens + usage.outputTokens,
});
