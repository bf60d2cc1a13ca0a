import { answerOf, asIndex, mergeUsage, RepeatedJson, SharedForms, separated, varying } from "venturi/internal";
import type { Decoder, Delta, Frame, Usage } from "venturi/plugin";
import { asList, asRecord, asText, parseJson, Quirks } from "venturi/plugin/provider";
import { contentParts } from "./content.ts";
import { broken, errorIn, isError } from "./errors.ts";
import { finishOf, strongerFinish } from "./finish.ts";
import { OtherFields } from "./other-fields.ts";
import { ReasoningDetails } from "./reasoning-details.ts";
import { longestHead, reasoningFields, type Said, unsaid } from "./said.ts";
import { type Source, ToolCalls } from "./tool-calls.ts";
import { usageOf } from "./usage.ts";

export const wireName = "openai-chat";

type Json = Readonly<Record<string, unknown>>;

/** Values that vary between chunks, or between streams and are known from the first chunk. */
const changing = varying(
  [
    ["choices", 0, "delta", "content"],
    ["choices", 0, "delta", "reasoning_content"],
    ["choices", 0, "delta", "reasoning"],
    ["choices", 0, "delta", "tool_calls", 0, "function", "arguments"],
  ],
  [["obfuscation"], ["created"], ["id"]],
);
const forms = new SharedForms();

/**
 * Chat Completions as OpenAI and all compatible servers write it. The stream is complete after a finish reason for every
 * started choice, and then `[DONE]` or the end of the body; `[DONE]` alone proves nothing.
 */
export class ChatDecoder implements Decoder {
  readonly quirks = new Quirks();
  readonly #json = new RepeatedJson(changing, forms);
  readonly #calls = new ToolCalls(this.quirks);
  readonly #details = new ReasoningDetails();
  /** The usage object as the vendor sent it. */
  #figures: Record<string, unknown> | undefined;
  readonly #others = new OtherFields(wireName);
  #last: Json | undefined;
  /** The current chunk as received, and the place of the current choice in it. */
  #source = "";
  #position = 0;
  #within: "delta" | "message" = "delta";
  /** Finish reasons by choice index; undefined while open. Only the first choice seen is decoded. */
  readonly #choices = new Map<number, string | undefined>();
  #choice: number | undefined;
  #id = "";
  #model = "";
  #usage: Usage | undefined;
  /** New usage arrived since it was last emitted. */
  #usageNews = false;
  #sources: { citations?: unknown; search_results?: unknown } | undefined;
  #opaque: string | undefined;
  readonly #text: Said = { head: "", length: 0 };
  readonly #thoughts: Said = { head: "", length: 0 };
  #hasText = false;
  #hasRefusal = false;
  #ended = false;

  push(frame: Frame, out: Delta[]): void {
    if (this.#ended) return;
    const data = frame.data;
    this.#source = data;
    if (data.charCodeAt(0) !== 123 && this.#sentinel(data.trim(), out)) return;
    const introduced = this.#id !== "" && this.#model !== "";
    const chunk = introduced ? this.#json.parse(data) : parseJson(data);
    if (typeof chunk !== "object" || chunk === null) return this.#noObject(chunk, frame, out);
    this.#chunk(chunk as Json, frame.event, out); // Missing keys read as undefined.
  }

  end(out: Delta[]): void {
    if (this.#ended) return;
    this.#finish(out);
    if (out.at(-1)?.type === "done") this.quirks.count("done_missing");
  }

  /** Handles payloads that are not JSON; true when there is nothing more to do. */
  #sentinel(data: string, out: Delta[]): boolean {
    if (data === "") return true;
    if (data === "[DONE]") {
      this.#finish(out);
      return true;
    }
    // A proxy wrapped a comment in an event (OpenRouter's keep-alive behind a gateway).
    if (data.startsWith(":")) this.quirks.count("comment_as_data");
    return data.startsWith(":");
  }

  #noObject(value: unknown, frame: Frame, out: Delta[]): void {
    if (value !== undefined) return this.quirks.count("unknown_event");
    const events = separated(frame);
    if (events.length > 0) this.quirks.count("events_not_separated");
    for (const event of events) this.push(event, out);
    if (events.length === 0)
      this.#fail(out, broken("the provider sent an event that is not valid JSON", { malformed: true }));
  }

  #chunk(chunk: Json, event: string, out: Delta[]): void {
    const { choices, usage } = chunk;
    if (chunk.error || event === "error" || (!Array.isArray(choices) && isError(chunk)))
      return this.#fail(out, errorIn(chunk));
    if (this.#id === "" || this.#model === "") this.#introduce(chunk, out);
    // If it is the same object, the chunk differs from the last one only in values that are read.
    if (chunk !== this.#last) this.#others.look(chunk, out);
    this.#last = chunk;
    const from = out.length;
    if (usage !== undefined && usage !== null) this.#count(usage);
    if (Array.isArray(choices)) {
      for (let at = 0; at < choices.length; at++) this.#pushChoice(choices[at], at, out);
    } else if (usage === undefined) {
      this.quirks.count("unknown_event");
    }
    if (chunk.x_groq !== undefined) this.#count(asRecord(chunk.x_groq).usage);
    if (chunk.citations !== undefined || chunk.search_results !== undefined) {
      this.#sources = { ...pick(chunk, "citations"), ...pick(chunk, "search_results") };
    }
    // Usage in its own chunk is emitted at once; next to text, as some servers send it with each token, it waits for the end.
    if (this.#usageNews && out.length === from) this.#tellUsage(out);
  }

  #introduce(chunk: Json, out: Delta[]): void {
    const id = this.#id === "" ? asText(chunk.id) : undefined;
    const model = this.#model === "" ? asText(chunk.model) : undefined;
    if (id === undefined && model === undefined) return;
    if (id !== undefined) this.#id = id;
    if (model !== undefined) this.#model = model;
    out.push({ type: "response", ...(id !== undefined && { id }), ...(model !== undefined && { model }) });
  }

  #count(usage: unknown): void {
    if (typeof usage !== "object" || usage === null) return;
    this.#usage = mergeUsage(this.#usage, usageOf(usage));
    this.#figures = { ...this.#figures, ...usage };
    this.#usageNews = true;
  }

  #tellUsage(out: Delta[]): void {
    if (!this.#usageNews || this.#usage === undefined) return;
    this.#usageNews = false;
    out.push({ type: "usage", usage: this.#usage, ...answerOf(wireName, this.#figures) });
  }

  #pushChoice(choice: Json | null, at: number, out: Delta[]): void {
    if (this.#ended || typeof choice !== "object" || choice === null) return;
    this.#position = at;
    if (choice.error !== undefined && choice.error !== null) return this.#fail(out, errorIn(choice));
    const index = typeof choice.index === "number" ? choice.index : (asIndex(choice.index) ?? 0);
    this.#choice ??= index;
    if (!this.#choices.has(index)) this.#choices.set(index, undefined);
    if (choice.usage !== undefined) {
      this.quirks.count("usage_in_choice");
      this.#count(choice.usage);
    }
    if (index === this.#choice) this.#pushDelta(choice, out);
    else this.quirks.count("other_choice");
    if (this.#others.extras !== undefined) {
      out.push({ type: "activity", kind: "fields", wire: wireName, data: this.#others.take().native?.fields });
    }
    const finish = choice.finish_reason;
    if (finish !== null && finish !== undefined) this.#note(index, finish, out);
  }

  #note(index: number, finish: unknown, out: Delta[]): void {
    if (typeof finish !== "string" || finish === "") return this.quirks.count("finish_empty");
    if (finish === "error") return this.#fail(out, errorIn({ error: "the generation ended with finish_reason error" }));
    const earlier = this.#choices.get(index);
    if (earlier !== undefined) this.quirks.count("finish_repeated");
    this.#choices.set(index, strongerFinish(earlier, finish));
  }

  #pushDelta(choice: Json, out: Delta[]): void {
    const delta = choice.delta;
    if (typeof delta !== "object" || delta === null) return this.#withoutDelta(choice, out);
    const content = (delta as Json).content; // Missing keys read as undefined.
    if (typeof content === "string") {
      if (content !== "") this.#say(content, out);
    } else if (typeof content === "object" && content !== null) {
      this.quirks.count("content_array");
      if (contentParts(Array.isArray(content) ? content : [content], out)) this.#hasText = true;
    }
    this.#pushRest(delta as Json, out);
    if (choice.message !== undefined) this.quirks.count("message_beside_delta");
  }

  #say(text: string, out: Delta[]): void {
    this.#hasText = true;
    this.#text.length += text.length;
    if (this.#text.head.length < longestHead) this.#text.head += text;
    if (this.#others.extras === undefined) out.push({ type: "text", text });
    else out.push({ type: "text", text, ...this.#others.take() });
  }

  #pushRest(delta: Json, out: Delta[]): void {
    const { refusal, tool_calls, function_call } = delta;
    this.#reasoning(delta, out);
    if (typeof refusal === "string" && refusal !== "") {
      this.#hasRefusal = true;
      out.push({ type: "refusal", text: refusal, ...this.#others.take() });
    }
    if (Array.isArray(tool_calls)) this.#calls.push(tool_calls, out, this.#place);
    if (typeof function_call === "object" && function_call !== null) {
      this.#calls.pushFunctionCall(function_call, out, this.#place);
    }
    if (delta.executed_tools !== undefined) pushActivities("server_tool", delta.executed_tools, out);
    if (delta.annotations !== undefined) pushActivities("citation", delta.annotations, out);
    if (delta.images !== undefined) pushActivities("part", delta.images, out);
    if (typeof delta.audio === "object" && delta.audio !== null) {
      out.push({ type: "activity", kind: "part", wire: wireName, data: { audio: delta.audio } });
    }
  }

  /** Vendors call it `reasoning_content`, `reasoning` or `reasoning_text`, and some send two of them with the same text. */
  #reasoning(delta: Json, out: Delta[]): void {
    const details = delta.reasoning_details === undefined ? "" : this.#details.push(delta.reasoning_details);
    if (typeof delta.reasoning_opaque === "string") this.#opaque = delta.reasoning_opaque;
    let field: string | undefined;
    let text = details;
    for (const name of reasoningFields) {
      const value = delta[name];
      if (typeof value !== "string" || value === "") continue;
      field = name;
      text = value;
      break;
    }
    if (text === "") return;
    // Remembers the field: a vendor that requires its reasoning back expects it there.
    if (this.#thoughts.length > 0 || field === undefined) out.push({ type: "reasoning", text });
    else out.push({ type: "reasoning", text, id: field });
    this.#thoughts.length += text.length;
    if (this.#thoughts.head.length < longestHead) this.#thoughts.head += text;
  }

  get #place(): Source {
    return { text: this.#source, place: ["choices", this.#position, this.#within] };
  }

  /** A complete message in place of a delta, as in non-streamed answers and after the deltas; repeated ones grow. */
  #withoutDelta(choice: Json, out: Delta[]): void {
    const message = choice.message;
    if (typeof message !== "object" || message === null) {
      if (typeof choice.text === "string" && choice.text !== "") return this.#say(choice.text, out);
      return this.quirks.count("delta_missing");
    }
    this.quirks.count("message_for_delta");
    const added = unsaid(message as Json, this.#text, this.#thoughts); // Missing keys read as undefined.
    this.#within = "message";
    this.#pushDelta({ delta: added }, out);
    this.#within = "delta";
  }

  #finish(out: Delta[]): void {
    const raw = this.#choice === undefined ? undefined : this.#choices.get(this.#choice);
    if (raw === undefined) return this.#fail(out, broken("the stream ended without a finish reason; it was truncated"));
    for (const finish of this.#choices.values()) {
      if (finish === undefined)
        return this.#fail(out, broken("the stream ended before all of its choices did; it was truncated"));
    }
    this.#ended = true;
    this.#calls.close(out);
    this.#keep(out);
    this.#tellUsage(out);
    out.push({ type: "done", finish: this.#normalised(raw), raw });
  }

  /** Data that must be sent back with the message, and the answer's sources. */
  #keep(out: Delta[]): void {
    const data: Record<string, unknown> = {};
    if (!this.#details.empty) data.reasoning_details = this.#details.whole();
    if (this.#opaque !== undefined) data.reasoning_opaque = this.#opaque;
    if (Object.keys(data).length > 0) out.push({ type: "activity", kind: "part", wire: wireName, data, keep: true });
    if (this.#sources !== undefined)
      out.push({ type: "activity", kind: "citation", wire: wireName, data: this.#sources });
  }

  #normalised(raw: string) {
    const finish = finishOf(raw);
    if (finish !== "stop") return finish;
    if (this.#calls.count > 0) {
      this.quirks.count("stop_with_tool_calls");
      return "tool_calls";
    }
    return this.#hasRefusal && !this.#hasText ? "refusal" : finish;
  }

  #fail(out: Delta[], error: ReturnType<typeof broken>): void {
    this.#ended = true;
    if (this.#usage !== undefined) out.push({ type: "usage", usage: { ...this.#usage, source: "partial" } });
    out.push({ type: "error", error });
  }
}

function pushActivities(kind: "server_tool" | "citation" | "part", values: unknown, out: Delta[]): void {
  for (const data of asList(values)) out.push({ type: "activity", kind, wire: wireName, data });
}

const pick = (chunk: Json, key: "citations" | "search_results"): Record<string, unknown> =>
  chunk[key] === undefined ? {} : { [key]: chunk[key] };
