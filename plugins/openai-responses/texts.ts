import { type Delta, list, type Quirks, record } from "venturi/plugin";
import type { Output } from "./outputs.ts";

type Json = Readonly<Record<string, unknown>>;
export type TextKind = "text" | "refusal" | "summary" | "thought";

/** A text and its position within an item, as named by events. */
export interface Text {
  readonly kind: TextKind;
  readonly part: unknown;
  readonly text: unknown;
}

/** Text, refusals and reasoning: emitted as deltas, plus whatever is missing at the end, never twice. */
export class Texts {
  hasText = false;
  hasRefusal = false;
  readonly #quirks: Quirks;

  constructor(quirks: Quirks) {
    this.#quirks = quirks;
  }

  piece(output: Output, { kind, part, text }: Text, out: Delta[]): void {
    if (typeof text !== "string" || text === "") return;
    const key = `${kind} ${part ?? 0}`;
    const before = output.given.get(key);
    output.given.set(key, before === undefined ? text : before + text);
    if (kind === "text") {
      this.hasText = true;
      out.push({ type: "text", text });
    } else if (kind === "refusal") {
      this.hasRefusal = true;
      out.push({ type: "refusal", text });
    } else {
      // Several summaries of one item are paragraphs of one reasoning part.
      const gap = before === undefined && output.given.size > 1 ? "\n\n" : "";
      out.push({ type: "reasoning", text: gap + text, part: output.position });
    }
  }

  /** Emits what of the part's complete text was not streamed. */
  complete(output: Output, { kind, part, text }: Text, out: Delta[]): void {
    if (typeof text !== "string") return;
    const given = output.given.get(`${kind} ${part ?? 0}`) ?? "";
    this.piece(output, { kind, part, text: this.#rest(given, text, kind) }, out);
  }

  completeMessage(output: Output, item: Json, out: Delta[]): void {
    const parts = list(item.content).map(record);
    this.#completeAll(output, { kind: "text", texts: textsIn(parts, "text") }, out);
    this.#completeAll(output, { kind: "refusal", texts: textsIn(parts, "refusal") }, out);
  }

  completeReasoning(output: Output, item: Json, out: Delta[]): void {
    this.#completeAll(output, { kind: "summary", texts: textsIn(list(item.summary), "text") }, out);
    this.#completeAll(output, { kind: "thought", texts: textsIn(list(item.content), "text") }, out);
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
    const text = record(part)[key];
    return typeof text === "string" ? text : "";
  });
