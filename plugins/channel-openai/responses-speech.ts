import type { EventOf } from "venturi/plugin";
import type { Ended, Item } from "./responses-body.ts";
import type { ResponseOutput } from "./responses-output.ts";
import { type Proof, sealed } from "./responses-reasoning.ts";

interface OpenMessage {
  readonly kind: "text" | "refusal";
  readonly index: number;
  text: string;
  readonly annotations: unknown[];
}

interface OpenThought {
  readonly kind: "reasoning";
  readonly index: number;
  readonly part: number | undefined;
  text: string;
  proof: Proof;
}

/** Text and reasoning: one item is open at a time, and another kind closes it. */
export class Speech {
  readonly #output: ResponseOutput;
  #open: OpenMessage | OpenThought | undefined;
  /** The current provider, for data that only it accepts back. */
  provider: string | undefined;

  constructor(output: ResponseOutput) {
    this.#output = output;
  }

  say(kind: "text" | "refusal", delta: string): string {
    let frames = "";
    let open = this.#open;
    if (open?.kind !== kind) {
      frames = this.close();
      open = { kind, index: this.#output.items.length, text: "", annotations: [] };
      frames += this.#begin(open);
    }
    open.text += delta;
    const place = { ...this.#output.place(open.index), content_index: 0 };
    if (kind === "refusal") return frames + this.#output.frame("response.refusal.delta", { ...place, delta });
    return frames + this.#output.frame("response.output_text.delta", { ...place, delta, logprobs: [] });
  }

  think(event: EventOf<"reasoning.delta">): string {
    let frames = "";
    let open = this.#open;
    if (open?.kind !== "reasoning" || (event.part !== undefined && event.part !== open.part)) {
      frames = this.close();
      const index = this.#output.items.length;
      open = { kind: "reasoning", index, part: event.part, text: "", proof: { provider: this.provider } };
      this.#open = open;
      frames += this.#output.add({ id: this.#output.id("rs", index), type: "reasoning", summary: [] });
    }
    const { signature, encrypted, id } = event;
    const joined = signature === undefined ? {} : { signature: (open.proof.signature ?? "") + signature };
    open.proof = { ...open.proof, ...joined, ...(encrypted && { encrypted }), ...(id && { id }) };
    return event.text === "" ? frames : frames + this.#thought(open, event.text);
  }

  /** Adds a source to the open text. */
  cite(annotation: unknown): string {
    const open = this.#open;
    if (open === undefined || open.kind === "reasoning") return "";
    const annotation_index = open.annotations.push(annotation) - 1;
    const place = { ...this.#output.place(open.index), content_index: 0 };
    return this.#output.frame("response.output_text.annotation.added", { ...place, annotation_index, annotation });
  }

  /** `incomplete`: the stream was cut, or the model stopped at a limit. */
  close(status: Ended = "completed"): string {
    const open = this.#open;
    if (open === undefined) return "";
    this.#open = undefined;
    return open.kind === "reasoning" ? this.#endThought(open, status) : this.#endMessage(open, status);
  }

  /** Drops the open item. */
  drop(): void {
    this.#open = undefined;
  }

  #begin(open: OpenMessage): string {
    this.#open = open;
    const added = this.#output.add(message(this.#output.id("msg", open.index), "in_progress", []));
    const place = { ...this.#output.place(open.index), content_index: 0 };
    return added + this.#output.frame("response.content_part.added", { ...place, part: contentPart(open) });
  }

  #endMessage(open: OpenMessage, status: Ended): string {
    const place = { ...this.#output.place(open.index), content_index: 0 };
    const part = contentPart(open);
    const done =
      open.kind === "text"
        ? this.#output.frame("response.output_text.done", { ...place, text: open.text, logprobs: [] })
        : this.#output.frame("response.refusal.done", { ...place, refusal: open.text });
    return (
      done +
      this.#output.frame("response.content_part.done", { ...place, part }) +
      this.#output.done(open.index, message(this.#output.id("msg", open.index), status, [part]))
    );
  }

  #thought(open: OpenThought, delta: string): string {
    const place = { ...this.#output.place(open.index), summary_index: 0 };
    const part = { type: "summary_text", text: "" };
    const first = open.text === "";
    open.text += delta;
    const opening = first ? this.#output.frame("response.reasoning_summary_part.added", { ...place, part }) : "";
    return opening + this.#output.frame("response.reasoning_summary_text.delta", { ...place, delta });
  }

  #endThought({ index, text, proof }: OpenThought, status: Ended): string {
    const place = { ...this.#output.place(index), summary_index: 0 };
    const part = { type: "summary_text", text };
    const encrypted = sealed(proof);
    const item: Item = {
      id: this.#output.id("rs", index),
      type: "reasoning",
      ...(status === "completed" ? {} : { status }),
      summary: text === "" ? [] : [part],
      ...(encrypted === undefined ? {} : { encrypted_content: encrypted }),
    };
    if (text === "") return this.#output.done(index, item);
    return (
      this.#output.frame("response.reasoning_summary_text.done", { ...place, text }) +
      this.#output.frame("response.reasoning_summary_part.done", { ...place, part }) +
      this.#output.done(index, item)
    );
  }
}

const message = (id: string, status: string, content: readonly Item[]): Item => ({
  id,
  type: "message",
  status,
  role: "assistant",
  content,
});

const contentPart = ({ kind, text, annotations }: OpenMessage): Item =>
  kind === "text" ? { type: "output_text", text, annotations, logprobs: [] } : { type: "refusal", refusal: text };
