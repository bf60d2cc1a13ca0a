import { joined, VendorAnswer } from "venturi/internal";
import type { EventOf, RunEvent } from "venturi/plugin";
import { asRecord, withNative } from "venturi/plugin/provider";
import { chatWire } from "./chat-content.ts";
import { responsesWire } from "./responses-content.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Vendor fields of a choice and its message. */
export interface VendorFields {
  readonly choice: Fields;
  readonly message: Fields;
}

const nothing: VendorFields = { choice: {}, message: {} };

/** Vendor data of an event beyond text and calls, from a provider of the same wire: log probabilities, sources, audio, unknown fields. */
export function vendorFields(event: RunEvent): VendorFields | undefined {
  if (event.type === "provider.activity") return event.wire === chatWire ? ofActivity(event) : undefined;
  if (event.type !== "text.delta" && event.type !== "refusal.delta") return undefined;
  if (event.native?.wire === chatWire) return byPlace(event.native.fields);
  // The Responses API has them in the same form, without a separate list for refusals.
  const content = event.native?.wire === responsesWire ? event.native.fields.logprobs : undefined;
  return content === undefined ? undefined : { choice: { logprobs: { content, refusal: null } }, message: {} };
}

function ofActivity({ kind, data }: EventOf<"provider.activity">): VendorFields | undefined {
  const said = asRecord(data);
  if (kind === "fields") return byPlace(said);
  // Written by earlier releases.
  if (said.logprobs !== undefined) return { choice: said, message: {} };
  if (kind === "server_tool") return { choice: {}, message: { executed_tools: [said] } };
  // Sources without a type are fields of the answer.
  if (kind === "citation") return said.type === undefined ? undefined : ofMessage({ annotations: [said] });
  if (kind !== "part") return undefined;
  if (said.type === undefined) return ofMessage(said);
  return said.type === "image_url" ? ofMessage({ images: [said] }) : undefined;
}

const ofMessage = (message: Fields): VendorFields => ({ ...nothing, message });

function byPlace(fields: Fields): VendorFields {
  const choice: Record<string, unknown> = {};
  const message: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (name.startsWith("delta.")) message[name.slice("delta.".length)] = value;
    else choice[name] = value;
  }
  return { choice, message };
}

/** The vendor's field name for reasoning, sent with the first piece. */
export const reasoningField = ({ id }: EventOf<"reasoning.delta">): string | undefined =>
  id !== undefined && reasoningFields.has(id) ? id : undefined;

const reasoningFields: ReadonlySet<string> = new Set(["reasoning_content", "reasoning", "reasoning_text"]);

/** A call with the vendor's fields of it and its inner object. */
export function withFields(call: Record<string, unknown>, fields: Fields | undefined): Record<string, unknown> {
  const { type: _, ...others } = fields ?? {};
  return fields === undefined ? call : withNative(call, { wire: chatWire, fields: others });
}

/** The vendor's part of a complete answer. */
export class ChatVendor {
  readonly answer = new VendorAnswer(chatWire);
  choice: Fields = {};
  message: Fields = {};
  readonly calls = new Map<string, Fields>();
  /** As they were before the round. */
  #before = nothing;

  add(event: RunEvent): void {
    this.answer.add(event);
    if (event.type === "round.started") this.#before = { choice: this.choice, message: this.message };
    const said = vendorFields(event);
    if (said !== undefined) {
      this.choice = joined(this.choice, said.choice, "last");
      this.message = joined(this.message, said.message, "text");
    }
    if (event.type === "tool_call.started" && event.native?.wire === chatWire) {
      this.calls.set(event.call, event.native.fields);
    } else if (event.type === "round.retracted") {
      this.choice = this.#before.choice;
      this.message = this.#before.message;
      this.calls.clear();
    }
  }
}
