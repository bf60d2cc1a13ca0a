import { emptyMap, withEntry } from "venturi/internal";
import { asList, asRecord } from "venturi/plugin/provider";

type Detail = Record<string, unknown>;

/**
 * OpenRouter's `reasoning_details`: fragments of reasoning, some signed or encrypted, that must be sent back as one list.
 * Fragments with the same index and type are merged: texts are joined, everything else is kept as it is.
 */
export class ReasoningDetails {
  #details = emptyMap<string, Detail>();

  get empty(): boolean {
    return this.#details.size === 0;
  }

  /** Returns the text added by the fragments. */
  push(pieces: unknown): string {
    let added = "";
    for (const [position, entry] of asList(pieces).entries()) {
      const piece = asRecord(entry);
      const key = `${piece.index ?? position} ${piece.type}`;
      const text = string(piece.text) + string(piece.summary);
      added += text;
      const known = this.#details.get(key);
      if (known === undefined) this.#details = withEntry(this.#details, key, { ...piece });
      else join(known, piece);
    }
    return added;
  }

  whole(): readonly Detail[] {
    return [...this.#details.values()];
  }
}

const joined: ReadonlySet<string> = new Set(["text", "summary", "data"]);

function join(detail: Detail, piece: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(piece)) {
    if (value === null || value === undefined) continue;
    detail[key] = joined.has(key) ? string(detail[key]) + string(value) : value;
  }
}

const string = (value: unknown): string => (typeof value === "string" ? value : "");
