import type { Item } from "./responses-body.ts";

/** A part of a message in progress. */
export interface OpenPart {
  readonly kind: "text" | "refusal";
  text: string;
  readonly annotations: unknown[];
  readonly logprobs: unknown[];
  /** Other fields that the vendor sent with it. */
  readonly fields: Item;
}

export interface OpenMessage {
  readonly kind: "message";
  readonly index: number;
  /** The vendor's other fields of the item. */
  readonly fields: Item;
  readonly parts: OpenPart[];
}

export const partOf = ({ kind, text, annotations, logprobs, fields }: OpenPart): Item =>
  kind === "text"
    ? { type: "output_text", text, annotations, logprobs, ...fields }
    : { type: "refusal", refusal: text, ...fields };
