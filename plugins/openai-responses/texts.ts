import { answerOf } from "venturi/internal";
import type { Delta, Quirks } from "venturi/plugin";
import { asList, asRecord } from "venturi/plugin/provider";
import { tellFields } from "./other-fields.ts";
import type { Output } from "./outputs.ts";

type Json = Readonly<Record<string, unknown>>;
export type TextKind = "text" | "refusal" | "summary" | "thought";

/** A text and its position within an item, as named by events. */
export interface Text {
  readonly kind: TextKind;
  readonly part: unknown;
  readonly text: unknown;
  readonly logprobs?: unknown;
}

/** Text, refusals and reasoning: emitted as deltas, plus whatever is missing at the end, never twice. */
export class Texts {
  hasText = false;
  hasRefusal = false;
  readonly #quirks: Quirks;

  constructor(quirks: Quirks) {
    this.#quirks = quirks;
  }

  piece(output: Output, { kind, part, text, logprobs }: Text, out: Delta[]): void {
    if (typeof text !== "string") return;
    if (text === "") {
      // Log probabilities of a token without text, such as half of a character.
      if (Array.isArray(logprobs) && logprobs.length > 0 && output.given.size > 0) {
        tellFields("openai-responses", { parts: { [`${part ?? 0}`]: { logprobs } } }, out);
      }
      return;
    }
    const key = `${kind} ${part ?? 0}`;
    const before = output.given.get(key);
    const isFirst = output.given.size === 0;
    output.given.set(key, before === undefined ? text : before + text);
    const begins = before === undefined && part !== "end";
    if (kind === "text" || kind === "refusal") {
      if (kind === "text") this.hasText = true;
      else this.hasRefusal = true;
      if (begins && !isFirst) tellFields("openai-responses", { part: kind }, out);
      if (!Array.isArray(logprobs) || logprobs.length === 0) out.push({ type: kind, text });
      else {
        output.logprobs = true;
        out.push({ type: kind, text, native: { wire: "openai-responses", fields: { logprobs } } });
      }
    } else {
      // Several summaries of one item, and its full text, are paragraphs of one reasoning part.
      const gap = before === undefined && !isFirst ? "\n\n" : "";
      const isUsual = !begins || (isFirst && kind === "summary");
      const place = { [kind === "summary" ? "summary_index" : "content_index"]: part ?? 0 };
      const native = answerOf("openai-responses", isUsual ? undefined : place);
      out.push({ type: "reasoning", text: gap + text, part: output.position, ...native });
    }
  }

  /** A part of a message that arrived in one piece. */
  completePart(output: Output, part: Json, index: number, out: Delta[]): void {
    this.complete(output, { kind: "text", part: index, text: part.text, logprobs: part.logprobs }, out);
    this.complete(output, { kind: "refusal", part: index, text: part.refusal }, out);
  }

  /** Emits the rest of the part's text that was not streamed. */
  complete(output: Output, { kind, part, text, logprobs }: Text, out: Delta[]): void {
    if (typeof text !== "string") return;
    const given = output.given.get(`${kind} ${part ?? 0}`) ?? "";
    this.piece(output, { kind, part, text: this.#rest(given, text, kind), logprobs }, out);
  }

  completeMessage(output: Output, item: Json, out: Delta[]): void {
    const parts = asList(item.content).map(asRecord);
    this.#completeAll(output, { kind: "text", texts: textsIn(parts, "text") }, out);
    this.#completeAll(output, { kind: "refusal", texts: textsIn(parts, "refusal") }, out);
  }

  completeReasoning(output: Output, item: Json, out: Delta[]): void {
    this.#completeAll(output, { kind: "summary", texts: textsIn(asList(item.summary), "text") }, out);
    this.#completeAll(output, { kind: "thought", texts: textsIn(asList(item.content), "text") }, out);
  }

  /**
   * Emits the item's text that was not streamed. All parts are compared as one text: a part's position is not always its
   * `content_index` (Bedrock continues counting from the reasoning).
   */
  #completeAll(output: Output, { kind, texts }: { kind: TextKind; texts: readonly string[] }, out: Delta[]): void {
    let given = "";
    for (const [key, text] of output.given) if (key.startsWith(kind)) given += text;
    if (given === "") {
      for (const [part, text] of texts.entries()) this.complete(output, { kind, part, text }, out);
    } else {
      this.piece(output, { kind, part: "end", text: this.#rest(given, texts.join(""), kind) }, out);
    }
  }

  #rest(given: string, whole: string, kind: TextKind): string {
    if (given.length === whole.length || whole === "") return "";
    const goesOn = whole.startsWith(given);
    if (!goesOn) this.#quirks.count("text_differs");
    else if (given !== "" || kind === "text") this.#quirks.count("deltas_missing");
    return goesOn ? whole.slice(given.length) : "";
  }
}

const textsIn = (parts: readonly unknown[], key: "text" | "refusal"): string[] =>
  parts.map((part) => {
    const text = asRecord(part)[key];
    return typeof text === "string" ? text : "";
  });

/** The text that an event of this type has. */
export function textOf(type: string, event: Json, text: unknown): Text {
  if (type === "response.output_text.delta") {
    return { kind: "text", part: event.content_index, text, logprobs: event.logprobs };
  }
  if (type.startsWith("response.output_text")) return { kind: "text", part: event.content_index, text };
  if (type.startsWith("response.refusal")) return { kind: "refusal", part: event.content_index, text };
  if (type.startsWith("response.reasoning_summary")) return { kind: "summary", part: event.summary_index, text };
  return { kind: "thought", part: event.content_index, text };
}
