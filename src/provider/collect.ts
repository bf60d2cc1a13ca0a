import { VenturiError } from "../core/errors/errors.ts";
import type { Delta, ReasoningDelta, ToolCallDelta } from "../core/model/deltas.ts";
import {
  type Part,
  type ReasoningPart,
  type TextPart,
  type ToolCallPart,
  textUnlessSame,
} from "../core/model/messages.ts";
import type { Generation } from "../core/model/provider.ts";
import { mergeUsage, type Usage } from "../core/model/usage.ts";
import type { Decoder } from "../core/ports/plugin.ts";
import { Accumulator, type OpenCall } from "./accumulate.ts";

const op = "provider.generate";

/** Decodes a complete answer with the stream's decoder, for wires whose events have the same shape. `text`: the answer as received. */
export function collectWith(decoder: Decoder, json: unknown, text = JSON.stringify(json) ?? ""): Generation {
  const deltas: Delta[] = [];
  decoder.push({ data: text, event: "" }, deltas);
  decoder.end(deltas);
  const generation = generationOf(deltas);
  decoded.set(generation, deltas);
  return generation;
}

const decoded = new WeakMap<Generation, readonly Delta[]>();

/** The deltas an answer was decoded from; clients of the same wire get more from them than from the parts. */
export const decodedFrom = (generation: Generation): readonly Delta[] | undefined => decoded.get(generation);

/** The generation that the deltas add up to, parts in order of appearance. Throws on an error delta. */
export function generationOf(deltas: readonly Delta[]): Generation {
  const collected = new Collected();
  for (const delta of deltas) collected.push(delta);
  return collected.generation();
}

class Collected {
  readonly #parts: (Part | OpenCall)[] = [];
  readonly #accumulator = new Accumulator();
  #thought: { readonly part: number | undefined; readonly to: ReasoningPart } | undefined;
  #text: TextPart | undefined;
  #usage: Usage = {};
  #facts: Pick<Generation, "id" | "model"> = {};
  #end: Pick<Generation, "finish" | "raw"> | undefined;

  push(delta: Delta): void {
    switch (delta.type) {
      case "text":
        return this.#addText(delta.text, delta.signature);
      case "reasoning":
        return this.#addThought(delta);
      case "tool_call":
        return this.#addCall(delta);
      case "activity":
        if (delta.keep) this.#add({ type: "opaque", wire: delta.wire, data: delta.data });
        return;
      case "usage":
        this.#usage = mergeUsage(this.#usage, delta.usage);
        return;
      case "response": {
        const { type: _, native: _native, ...facts } = delta;
        this.#facts = { ...this.#facts, ...facts };
        return;
      }
      case "done": {
        const { type: _, ...end } = delta;
        this.#end = end;
        this.#accumulator.finish(delta.finish);
        return;
      }
      case "error":
        throw delta.error;
      case "refusal":
        return this.#addText(delta.text, undefined);
    }
  }

  generation(): Generation {
    if (this.#end === undefined) throw new VenturiError(op, "stream_error", "the answer has no end; it is incomplete");
    return { ...this.#facts, ...this.#end, usage: this.#usage, parts: this.#parts.map(partOf) };
  }

  #addText(text: string, signature: string | undefined): void {
    if (signature !== undefined) return this.#add({ type: "text", text, signature });
    if (text === "") return;
    if (this.#text !== undefined) {
      this.#text.text += text;
      return;
    }
    const part: TextPart = { type: "text", text };
    this.#add(part);
    this.#text = part;
  }

  #addThought(delta: ReasoningDelta): void {
    const open = this.#thought;
    const { type: _, text, part, native: _native, ...proofs } = delta;
    if (open !== undefined && (part === undefined || part === open.part)) {
      Object.assign(open.to, proofs, { text: open.to.text + text });
      return;
    }
    const to: ReasoningPart = { type: "reasoning", text, ...proofs };
    this.#add(to);
    this.#thought = { part, to };
  }

  #addCall(delta: ToolCallDelta): void {
    const known = delta.index < this.#accumulator.open.length;
    const { call } = this.#accumulator.push(delta);
    if (!known) this.#add(call);
  }

  /** Starts a new part, so that later text is not appended to the one before it. */
  #add(part: Part | OpenCall): void {
    this.#text = undefined;
    this.#parts.push(part);
  }
}

function partOf(part: Part | OpenCall): Part {
  if ("type" in part) return part;
  const result = part.result();
  const signed = part.signature === undefined ? {} : { signature: part.signature };
  const call: ToolCallPart = {
    type: "tool_call",
    call: part.id,
    name: part.name,
    // The caller rejects the malformed call, as it would in a stream.
    ...(result.ok
      ? { arguments: result.arguments, ...textUnlessSame(part.text, result.arguments) }
      : { arguments: {}, raw: result.raw }),
    ...signed,
  };
  return call;
}
