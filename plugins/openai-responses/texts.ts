import { type Delta, list, type Quirks, record } from "venturi/plugin";
import type { Output } from "./outputs.ts";

type Json = Readonly<Record<string, unknown>>;
export type TextKind = "text" | "refusal" | "summary" | "thought";

/** Which part of an item a text is, as the events name it. */
export interface Place {
  readonly kind: TextKind;
  readonly part: unknown;
}

/** Text, refusals and reasoning: given piece by piece, and what is missing in the end once more, never twice. */
export class Texts {
  hasText = false;
  hasRefusal = false;
  readonly #quirks: Quirks;

  constructor(quirks: Quirks) {
    this.#quirks = quirks;
  }

  piece(output: Output, { kind, part }: Place, text: unknown, out: Delta[]): void {
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
      // Several summaries of one item are paragraphs of one reasoning.
      const gap = before === undefined && output.given.size > 1 ? "\n\n" : "";
      out.push({ type: "reasoning", text: gap + text, part: output.position });
    }
  }

  /** Gives what of the whole part was not given piece by piece. */
  whole(output: Output, place: Place, text: unknown, out: Delta[]): void {
    if (typeof text !== "string") return;
    const given = output.given.get(`${place.kind} ${place.part ?? 0}`) ?? "";
    this.piece(output, place, this.#rest(given, text, place.kind), out);
  }

  completeMessage(output: Output, item: Json, out: Delta[]): void {
    const parts = list(item.content).map(record);
    this.#complete(output, "text", textsIn(parts, "text"), out);
    this.#complete(output, "refusal", textsIn(parts, "refusal"), out);
  }

  completeReasoning(output: Output, item: Json, out: Delta[]): void {
    this.#complete(output, "summary", textsIn(list(item.summary), "text"), out);
    this.#complete(output, "thought", textsIn(list(item.content), "text"), out);
  }

  /**
   * Gives what of all the item's parts was not given yet. They are compared as one text: a part's place in the item is not
   * always its `content_index` (Bedrock counts on from the reasoning before).
   */
  #complete(output: Output, kind: TextKind, texts: readonly string[], out: Delta[]): void {
    let given = "";
    for (const [key, text] of output.given) if (key.startsWith(kind)) given += text;
    if (given === "") {
      for (const [part, text] of texts.entries()) this.whole(output, { kind, part }, text, out);
    } else {
      this.piece(output, { kind, part: "end" }, this.#rest(given, texts.join(""), kind), out);
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
