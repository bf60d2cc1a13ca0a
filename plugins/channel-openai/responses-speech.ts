import type { EventOf, NativeAnswer } from "venturi/plugin";
import { asList, asRecord } from "venturi/plugin/provider";
import { chatWire } from "./chat-content.ts";
import type { Ended, Item } from "./responses-body.ts";
import { responsesWire } from "./responses-content.ts";
import { type OpenMessage, type OpenPart, partOf } from "./responses-message.ts";
import type { ResponseOutput } from "./responses-output.ts";
import { type OpenThought, openThought, type Thought, thoughtItem, thoughtPart } from "./responses-thought.ts";

/** Text and reasoning: one item is open at a time, and another kind closes it. */
export class Speech {
  readonly #output: ResponseOutput;
  #open: OpenMessage | OpenThought | undefined;
  /** The current provider, for data that only it accepts back. */
  provider: string | undefined;

  constructor(output: ResponseOutput) {
    this.#output = output;
  }

  say(event: EventOf<"text.delta" | "refusal.delta">): string {
    const kind = event.type === "text.delta" ? "text" : "refusal";
    const { text: delta, native } = event;
    if (delta === "") return "";
    let frames = "";
    if (this.#open?.kind !== "message") frames = this.close() + this.#beginMessage({});
    const open = this.#open as OpenMessage; // Begun above if necessary.
    let part = open.parts.at(-1);
    if (part?.kind !== kind) frames += this.#beginPart(kind);
    part = open.parts.at(-1) as OpenPart; // Begun above if necessary.
    part.text += delta;
    const place = this.#partPlace(open);
    if (kind === "refusal") return frames + this.#output.frame("response.refusal.delta", { ...place, delta });
    const logprobs = native === undefined ? none : logprobsOf(native);
    if (logprobs.length > 0) part.logprobs.push(...logprobs);
    return frames + this.#output.frame("response.output_text.delta", { ...place, delta, logprobs });
  }

  think(event: EventOf<"reasoning.delta">): string {
    let frames = "";
    let open = this.#open;
    if (open?.kind !== "reasoning" || (event.part !== undefined && event.part !== open.part)) {
      frames = this.close();
      const index = this.#output.items.length;
      open = openThought(index, event.part, this.provider);
      this.#open = open;
      frames += this.#output.add({ id: this.#output.id("rs", index), type: "reasoning", summary: [] });
    }
    const { signature, encrypted, id } = event;
    const joined = signature === undefined ? {} : { signature: (open.proof.signature ?? "") + signature };
    open.proof = { ...open.proof, ...joined, ...(encrypted && { encrypted }), ...(id && { id }) };
    const own = event.native?.wire === responsesWire ? event.native.fields : {};
    const named = own.content_index !== undefined ? "content" : own.summary_index !== undefined ? "summary" : undefined;
    if (named !== undefined) {
      frames += this.#endPart(open);
      open.thoughts.push({ kind: named, text: "" });
    }
    // The paragraph gap is only for wires with a single reasoning text.
    const text = named === undefined ? event.text : event.text.replace(/^\n\n/, "");
    return text === "" ? frames : frames + this.#thought(open, text);
  }

  /** Handles vendor fields of items and parts; see the provider's decoder. */
  fields(data: unknown): string {
    const { message, part, item, parts } = asRecord(data);
    if (message !== undefined) return this.close() + this.#beginMessage(asRecord(message));
    const open = this.#open;
    if (open === undefined) return "";
    if (part === "text" || part === "refusal") return open.kind === "message" ? this.#beginPart(part) : "";
    Object.assign(open.fields, item);
    if (open.kind !== "message") return "";
    for (const [index, each] of Object.entries(asRecord(parts))) {
      const { logprobs, ...fields } = asRecord(each);
      const said = open.parts[Number(index)];
      if (said === undefined) continue;
      Object.assign(said.fields, fields);
      if (Array.isArray(logprobs)) said.logprobs.push(...logprobs);
    }
    return "";
  }

  /** Adds a source to the open text. */
  cite(annotation: unknown): string {
    const open = this.#open;
    const part = open?.kind === "message" ? open.parts.at(-1) : undefined;
    if (open?.kind !== "message" || part === undefined) return "";
    const annotation_index = part.annotations.push(annotation) - 1;
    const place = this.#partPlace(open);
    return this.#output.frame("response.output_text.annotation.added", { ...place, annotation_index, annotation });
  }

  /** `incomplete`: the stream was cut, or the model stopped at a limit. */
  close(status: Ended = "completed"): string {
    const open = this.#open;
    if (open === undefined) return "";
    this.#open = undefined;
    const frames = this.#endPart(open);
    if (open.kind === "message") return frames + this.#output.done(open.index, this.#message(open, status));
    return frames + this.#output.done(open.index, thoughtItem(this.#output.id("rs", open.index), open, status));
  }

  #beginMessage(fields: Item): string {
    const open: OpenMessage = { kind: "message", index: this.#output.items.length, fields: { ...fields }, parts: [] };
    this.#open = open;
    return this.#output.add(this.#message(open, "in_progress"));
  }

  /** Begins the next part of the open message. */
  #beginPart(kind: "text" | "refusal"): string {
    const open = this.#open;
    if (open?.kind !== "message") return "";
    const ended = this.#endPart(open);
    const part: OpenPart = { kind, text: "", annotations: [], logprobs: [], fields: {} };
    open.parts.push(part);
    return ended + this.#output.frame("response.content_part.added", { ...this.#partPlace(open), part: partOf(part) });
  }

  /** Ends the last part of the open item. */
  #endPart(open: OpenMessage | OpenThought): string {
    if (open.kind === "reasoning") return this.#endThought(open);
    const part = open.parts.at(-1);
    if (part === undefined) return "";
    const place = this.#partPlace(open);
    const { text, logprobs } = part;
    const done =
      part.kind === "text"
        ? this.#output.frame("response.output_text.done", { ...place, text, logprobs })
        : this.#output.frame("response.refusal.done", { ...place, refusal: text });
    return done + this.#output.frame("response.content_part.done", { ...place, part: partOf(part) });
  }

  #partPlace(open: OpenMessage): Item {
    return { ...this.#output.place(open.index), content_index: Math.max(0, open.parts.length - 1) };
  }

  #message({ index, fields, parts }: OpenMessage, status: string): Item {
    const content = status === "in_progress" ? [] : parts.map(partOf);
    return { id: this.#output.id("msg", index), type: "message", status, role: "assistant", content, ...fields };
  }

  #thought(open: OpenThought, delta: string): string {
    if (open.thoughts.length === 0) open.thoughts.push({ kind: "summary", text: "" });
    const thought = open.thoughts.at(-1) as Thought; // Pushed above if there was none.
    const place = this.#thoughtPlace(open, thought);
    const isSummary = thought.kind === "summary";
    const added = isSummary ? "response.reasoning_summary_part.added" : "response.content_part.added";
    const opening = thought.text === "" ? this.#output.frame(added, { ...place, part: thoughtPart(thought) }) : "";
    thought.text += delta;
    const type = isSummary ? "response.reasoning_summary_text.delta" : "response.reasoning_text.delta";
    return opening + this.#output.frame(type, { ...place, delta });
  }

  #endThought(open: OpenThought): string {
    const thought = open.thoughts.at(-1);
    if (thought === undefined || thought.text === "") return "";
    const place = this.#thoughtPlace(open, thought);
    const isSummary = thought.kind === "summary";
    const done = isSummary ? "response.reasoning_summary_text.done" : "response.reasoning_text.done";
    const partDone = isSummary ? "response.reasoning_summary_part.done" : "response.content_part.done";
    return (
      this.#output.frame(done, { ...place, text: thought.text }) +
      this.#output.frame(partDone, { ...place, part: thoughtPart(thought) })
    );
  }

  #thoughtPlace(open: OpenThought, { kind }: Thought): Item {
    const index = open.thoughts.filter((each) => each.kind === kind).length - 1;
    const place = this.#output.place(open.index);
    return kind === "summary" ? { ...place, summary_index: index } : { ...place, content_index: index };
  }
}

const none: readonly unknown[] = [];

/** Chat Completions has them in the same form, one level deeper. */
function logprobsOf({ wire, fields: { logprobs } }: NativeAnswer): readonly unknown[] {
  if (wire === responsesWire) return asList(logprobs);
  return wire === chatWire ? asList(asRecord(logprobs).content) : none;
}
