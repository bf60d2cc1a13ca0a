import { otherFields } from "venturi/internal";
import type { Delta } from "venturi/plugin";
import { asList, asRecord } from "venturi/plugin/provider";
import type { Output } from "./outputs.ts";

type Json = Readonly<Record<string, unknown>>;

/**
 * Fields of a response that are read here, or that this service states itself: its name, what is stored where, and the request. A vendor
 * echoes the operator's settings, which clients must not see.
 */
const response = new Set([
  ...["id", "object", "created_at", "status", "model", "output", "error", "incomplete_details", "usage"],
  ...["previous_response_id", "conversation", "store", "background", "instructions", "metadata", "prompt", "tools"],
  ...["tool_choice", "user", "safety_identifier", "prompt_cache_key", "output_text"],
]);
const message = new Set(["type", "id", "status", "role", "content"]);
const part = new Set(["type", "text", "refusal", "annotations", "logprobs"]);
const reasoning = new Set(["type", "id", "summary", "content", "encrypted_content"]);
const call = new Set(["type", "id", "status", "call_id", "name", "arguments"]);

export const fieldsOfResponse = (of: Json): Json | undefined => otherFields(of, response);

/** Fields of a call that were not reported yet. */
export const fieldsOfCall = ({ told }: Output, item: Json): Record<string, unknown> | undefined =>
  told.news(otherFields(item, call));

export const tellFields = (wire: string, data: Json, out: Delta[]): void =>
  void out.push({ type: "activity", kind: "fields", wire, data });

/** Announces a message if its item has fields of its own or follows another message. */
export function beginMessage(wire: string, { output, item, follows }: Begun, out: Delta[]): void {
  if (output.begun) return;
  output.begun = true;
  const fields = output.told.news(otherFields(item, message));
  if (fields !== undefined || follows) tellFields(wire, { message: fields ?? {} }, out);
}

interface Begun {
  readonly output: Output;
  readonly item: Json;
  /** The previous item is a message too. */
  readonly follows: boolean;
}

/** Reports the rest of a finished message: its own fields, and those of its parts by position. */
export function endMessage(wire: string, output: Output, item: Json, out: Delta[]): void {
  const own = output.told.news(otherFields(item, message));
  const parts: Record<string, unknown> = {};
  for (const [index, each] of asList(item.content).map(asRecord).entries()) {
    const logprobs = output.logprobs || asList(each.logprobs).length === 0 ? {} : { logprobs: each.logprobs };
    const fields = { ...otherFields(each, part), ...logprobs };
    if (Object.keys(fields).length > 0) parts[index] = fields;
  }
  const hasParts = Object.keys(parts).length > 0;
  if (own !== undefined || hasParts) tellFields(wire, { ...(own && { item: own }), ...(hasParts && { parts }) }, out);
}

export function endReasoning(wire: string, output: Output, item: Json, out: Delta[]): void {
  const own = output.told.news(otherFields(item, reasoning));
  if (own !== undefined) tellFields(wire, { item: own }, out);
}
