import type { Item } from "./responses-body.ts";

export interface OutputOptions {
  readonly run: string;
  /** The client has seen frames up to this sequence number. */
  readonly after: number;
  /** The client asked for the encrypted reasoning needed to send it back. */
  readonly proofs: boolean;
}

/** The items of a response in order, and their frames. */
export class ResponseOutput {
  /** By output index, including everything needed to continue from them. An index that was shown is never used again. */
  readonly items: Item[] = [];
  readonly #options: OutputOptions;
  #sequence = 0;

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  /** The items that count: neither retracted nor still without content. */
  get kept(): readonly Item[] {
    return this.items.filter((item) => item !== vacant);
  }

  /** The items as shown to the client. */
  get shown(): readonly Item[] {
    return this.kept.map((item) => this.#shown(item));
  }

  /** Takes the next index for an item that is emitted when complete. */
  reserve(): void {
    this.items.push(vacant);
  }

  /** Removes the items from this index on. The indexes that a client has seen stay taken; a gap after them would confuse its SDK. */
  retract(from: number): void {
    const seen = this.items.findLastIndex((item) => item !== vacant) + 1;
    this.items.length = Math.max(from, seen);
    this.items.fill(vacant, from);
  }

  /** An item id. Encodes run and position, so that the item can be found by id alone. */
  id(kind: string, index: number): string {
    return `${kind}_${this.#options.run}_${index}`;
  }

  place(index: number): Record<string, unknown> {
    return { item_id: this.items[index]?.id, output_index: index };
  }

  add(item: Item): string {
    const output_index = this.items.push(item) - 1;
    return this.frame("response.output_item.added", { output_index, item: this.#shown(item) });
  }

  done(output_index: number, item: Item): string {
    this.items[output_index] = item;
    return this.frame("response.output_item.done", { output_index, item: this.#shown(item) });
  }

  frame(type: string, fields: Record<string, unknown>): string {
    const sequence_number = this.#sequence++;
    if (sequence_number <= this.#options.after) return "";
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...fields })}\n\n`;
  }

  /** A frame outside the response: it repeats the previous sequence number. */
  repeat(type: string, fields: Record<string, unknown>): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#sequence - 1, ...fields })}\n\n`;
  }

  #shown(item: Item): Item {
    if (this.#options.proofs || item.type !== "reasoning" || item.encrypted_content === undefined) return item;
    const { encrypted_content: _, ...rest } = item;
    return rest;
  }
}

const vacant: Item = { id: "", type: "" };

const own = /^[a-z]+_((?:run_)?[0-9a-z-]{16,})_(\d+)$/;

/** Run and position encoded in an item id; undefined for ids of other services. */
export function placeOf(id: unknown): { run: string; index: number } | undefined {
  const match = typeof id === "string" ? own.exec(id) : null;
  return match === null ? undefined : { run: match[1] ?? "", index: Number(match[2]) };
}
