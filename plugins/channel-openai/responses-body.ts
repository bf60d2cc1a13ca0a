import { withCost } from "venturi/internal";
import type { Bill, ErrorJson, RunRequest, Usage, VendorAnswer } from "venturi/plugin";
import { asRecord, textOf } from "venturi/plugin/provider";
import { responseError } from "./responses-errors.ts";
import { toolsOf } from "./responses-tools.ts";

export type Item = Record<string, unknown>;

/** How an item ends. */
export type Ended = "completed" | "incomplete";

export type Status = "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";

export interface ResponseState {
  readonly status: Status;
  readonly created: number;
  readonly output: readonly Item[];
  readonly usage?: Usage;
  readonly bill?: Omit<Bill, "usage">;
  readonly error?: ErrorJson;
  /** The reason for an incomplete response, in the API's terms. */
  readonly reason?: string;
  readonly vendor?: VendorAnswer;
}

/** A response object. It echoes the request, which the stored run request can reproduce later. */
export function responseBody(run: string, request: RunRequest, state: ResponseState): Record<string, unknown> {
  const { status, created, output, usage, bill = {}, error, reason, vendor } = state;
  const echo = asRecord(asRecord(request.channel).responses);
  const { conversation, ...said } = { ...request.native?.fields, ...echo };
  return {
    parallel_tool_calls: true,
    previous_response_id: null,
    temperature: null,
    top_p: null,
    max_output_tokens: null,
    truncation: "disabled",
    background: false,
    text: { format: { type: "text" } },
    reasoning: { effort: null, summary: null },
    tool_choice: "auto",
    store: true,
    ...said,
    ...vendor?.fields,
    ...(conversation === undefined ? {} : { conversation: { id: conversationId(conversation) } }),
    id: responseId(run),
    object: "response",
    created_at: created,
    status,
    model: request.agent,
    output,
    error: error === undefined ? null : responseError(error),
    incomplete_details: reason === undefined ? null : { reason },
    instructions: request.instructions === undefined ? null : textOf(request.instructions),
    metadata: request.metadata ?? {},
    tools: toolsOf(request.clientTools ?? []),
    usage: usage === undefined ? null : withCost(vendor?.usage(usageOf(usage), usage) ?? usageOf(usage), bill),
  };
}

export const responseId = (run: string): string => `resp_${run}`;

export const conversationId = (conversation: unknown): string =>
  typeof conversation === "string" ? conversation : String(asRecord(conversation).id);

function usageOf(usage: Usage): Record<string, unknown> {
  const input = usage.inputTokens ?? 0;
  const output = usage.outputTokens ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cacheReadTokens ?? 0,
      cache_write_tokens: usage.cacheWriteTokens ?? 0,
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: input + output,
  };
}
