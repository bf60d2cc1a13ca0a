import { answerOf, otherFields, ToldFields } from "venturi/internal";
import type { Delta, NativeAnswer } from "venturi/plugin";
import { asRecord } from "venturi/plugin/provider";

type Json = Readonly<Record<string, unknown>>;

/** The fields of each element that the decoder reads. */
const response = new Set(["id", "object", "created", "model", "choices", "usage", "error", "obfuscation"]);
const choice = new Set(["index", "delta", "message", "text", "finish_reason", "usage", "error"]);
const message = new Set([
  "role",
  "content",
  "refusal",
  "tool_calls",
  "function_call",
  "reasoning_content",
  "reasoning",
  "reasoning_text",
  "reasoning_details",
  "reasoning_opaque",
  "executed_tools",
  "annotations",
  "images",
  "audio",
]);
const call = new Set(["index", "id", "type", "function", "custom"]);
const callBody = new Set(["name", "arguments", "input"]);

/** Fields that the decoder does not read, for clients of the same wire; `delta.name` is a field of the message. */
export class OtherFields {
  readonly #wire: string;
  readonly #told = new ToldFields();
  readonly #toldOfChoice = new ToldFields();
  /** Fields of the current choice that no delta has taken yet. */
  extras: Record<string, unknown> | undefined;

  constructor(wire: string) {
    this.#wire = wire;
  }

  /** Reports fields of the answer, which most servers repeat in every chunk. */
  look(chunk: Json, out: Delta[]): void {
    const news = this.#told.news(otherFields(chunk, response));
    if (news !== undefined) out.push({ type: "response", ...answerOf(this.#wire, news) });
    const { choices } = chunk;
    const first = Array.isArray(choices) ? asRecord(choices[0]) : undefined;
    if (first !== undefined && !first.index) this.#find(first);
  }

  /** The fields, to be spread into the delta they came with. */
  take(): { native?: NativeAnswer } {
    const { extras } = this;
    this.extras = undefined;
    return answerOf(this.#wire, extras);
  }

  /** A value that only repeats is reported once (Azure's `content_filter_results`); log probabilities belong to their chunk. */
  #find(first: Json): void {
    const own = otherFields(first, choice);
    const others = otherFields(asRecord(first.delta ?? first.message), message, "delta.");
    if (own === undefined && others === undefined) return;
    const extras: Record<string, unknown> = { ...others };
    const repeated: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(own ?? {})) {
      if (name === "logprobs") extras[name] = value;
      else repeated[name] = value;
    }
    Object.assign(extras, this.#toldOfChoice.news(repeated));
    if (Object.keys(extras).length > 0) this.extras = extras;
  }
}

/** Fields of a call. `at`: the name of its inner object. */
export function fieldsOfCall(whole: Json, body: Json, at: string): Record<string, unknown> | undefined {
  const [outer, inner] = [otherFields(whole, call), otherFields(body, callBody, `${at}.`)];
  return outer === undefined && inner === undefined ? undefined : { ...outer, ...inner };
}
