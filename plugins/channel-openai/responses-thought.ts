import type { Ended, Item } from "./responses-body.ts";
import { type Proof, sealed } from "./responses-reasoning.ts";

/** A paragraph of a summary, or of the reasoning itself. */
export interface Thought {
  readonly kind: "summary" | "content";
  text: string;
}

export interface OpenThought {
  readonly kind: "reasoning";
  readonly index: number;
  readonly part: number | undefined;
  /** The vendor's other fields of the item. */
  readonly fields: Item;
  readonly thoughts: Thought[];
  proof: Proof;
}

export const openThought = (index: number, part: number | undefined, provider: string | undefined): OpenThought => ({
  kind: "reasoning",
  index,
  part,
  fields: {},
  thoughts: [],
  proof: { provider },
});

export const thoughtPart = ({ kind, text }: Thought): Item => ({
  type: kind === "summary" ? "summary_text" : "reasoning_text",
  text,
});

export function thoughtItem(id: string, { thoughts, proof, fields }: OpenThought, status: Ended): Item {
  const encrypted = sealed(proof);
  const said = thoughts.filter(({ text }) => text !== "");
  const content = said.filter(({ kind }) => kind === "content").map(thoughtPart);
  return {
    id,
    type: "reasoning",
    ...(status === "completed" ? {} : { status }),
    summary: said.filter(({ kind }) => kind === "summary").map(thoughtPart),
    ...(content.length === 0 ? {} : { content }),
    ...(encrypted === undefined ? {} : { encrypted_content: encrypted }),
    ...fields,
  };
}
