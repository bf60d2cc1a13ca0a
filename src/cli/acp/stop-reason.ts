import { RequestError, type StopReason } from "@agentclientprotocol/sdk";
import type { TerminalEvent } from "../../core/run/events.ts";
import type { LimitName } from "../../core/run/limit-names.ts";

const limits: Readonly<Record<LimitName, StopReason>> = {
  max_tokens: "max_tokens",
  max_output: "max_tokens",
  max_rounds: "max_turn_requests",
  max_tool_calls: "max_turn_requests",
  max_time: "max_turn_requests",
  repeated_calls: "max_turn_requests",
  budget: "max_turn_requests",
};
const finishes: Readonly<Record<string, StopReason>> = {
  ...limits,
  length: "max_tokens",
  refusal: "refusal",
  content_filter: "refusal",
};
const failures: Readonly<Record<string, StopReason>> = {
  stream_interrupted: "cancelled",
  max_rounds_exceeded: "max_turn_requests",
  budget_exceeded: "max_turn_requests",
  content_blocked: "refusal",
};

/** Throws for a failure that the protocol has no stop reason for. */
export function stopReasonOf(last: TerminalEvent): StopReason {
  if (last.type === "run.finished") return finishes[last.finish] ?? "end_turn";
  const { code, err } = last.error;
  const reason = failures[code];
  if (reason !== undefined) return reason;
  throw new RequestError(-32603, `${code}: ${err}`, { code, run: last.run });
}
