import { answerOf, otherFields, textAt } from "venturi/internal";
import type { Delta, JsonPlace, Quirks } from "venturi/plugin";
import { asList, asRecord, asText, parseJson } from "venturi/plugin/provider";

export const wireName = "bedrock-converse";

export type Wire = Readonly<Record<string, unknown>>;

interface Call {
  readonly kind: "call";
  readonly call: number;
  readonly id: string | undefined;
}

interface Thought {
  readonly kind: "thought";
  readonly part: number;
  signature: string;
  readonly encrypted: Buffer[];
}

/** A tool of the vendor, its result, or a picture: kept as it is and sent back. */
interface Kept {
  readonly kind: "kept";
  readonly name: string;
  readonly data: Record<string, unknown>;
  json: string;
}

type Block = Call | Thought | Kept;

/** A block of a whole answer, and where it stands: encoded again, long numbers would be others. */
interface Whole {
  readonly block: Wire;
  readonly text: string;
  readonly place: JsonPlace;
}

/** The content blocks of one answer. Text has no start and no block here. */
export class Blocks {
  readonly #quirks: Quirks;
  readonly #open = new Map<unknown, Block>();
  #calls = 0;
  #thoughts = 0;
  /** Arguments arrived for an unknown call, so the arguments of some other call may be incomplete. */
  stray = false;

  constructor(quirks: Quirks) {
    this.#quirks = quirks;
  }

  get calls(): number {
    return this.#calls;
  }

  start(event: Wire, out: Delta[]): void {
    const key = event.contentBlockIndex;
    const open = this.#open.get(key);
    const [name, value] = Object.entries(asRecord(event.start))[0] ?? [];
    const start = asRecord(value);
    if (open?.kind === "call" && open.id !== undefined && open.id === start.toolUseId)
      return this.#quirks.count("repeated_call");
    if (open !== undefined) {
      this.#quirks.count("overlapping_index");
      this.stop(key, out);
    }
    if (name === undefined) return;
    if (name === "toolUse" && !isServed(start)) return this.#beginCall(key, start, out);
    if (!keptKinds.has(name)) this.#quirks.count("unknown_block");
    this.#open.set(key, { kind: "kept", name, data: { ...start }, json: "" });
  }

  delta(event: Wire, out: Delta[]): void {
    const delta = asRecord(event.delta);
    if (typeof delta.text === "string") {
      out.push({ type: "text", text: delta.text });
      return;
    }
    const key = event.contentBlockIndex;
    if (delta.toolUse !== undefined) return this.#write(key, asRecord(delta.toolUse).input, out);
    if (delta.reasoningContent !== undefined) return this.#think(key, asRecord(delta.reasoningContent), out);
    if (delta.citation !== undefined) {
      out.push({ type: "activity", kind: "citation", wire: wireName, data: delta.citation });
      return;
    }
    this.#add(key, delta);
  }

  stop(key: unknown, out: Delta[]): void {
    const block = this.#open.get(key);
    this.#open.delete(key);
    // A tool without parameters may be called without a piece of input, which only the end of the answer tells from one that was cut.
    if (block?.kind === "call") out.push({ type: "tool_call", index: block.call, sealed: true });
    else if (block?.kind === "thought") this.#endThought(block, out);
    else if (block?.kind === "kept") this.#endKept(block, out);
  }

  /** The answer has ended, and with it all open blocks. */
  end(out: Delta[]): void {
    if (this.#open.size > 0) this.#quirks.count("block_without_stop");
    for (const key of [...this.#open.keys()]) this.stop(key, out);
  }

  /** A block that is complete from the start. */
  whole({ block, text, place }: Whole, out: Delta[]): void {
    if (typeof block.text === "string") {
      out.push({ type: "text", text: block.text });
      return;
    }
    const call = asRecord(block.toolUse);
    if (block.toolUse !== undefined && !isServed(call)) {
      this.#beginCall(-1, call, out);
      const input = textAt(text, [...place, "toolUse", "input"]);
      if (!isNothing(call.input)) this.#write(-1, input, out);
      return this.stop(-1, out);
    }
    if (block.reasoningContent !== undefined) {
      const { reasoningText, redactedContent } = asRecord(block.reasoningContent);
      this.#think(-1, { ...asRecord(reasoningText), redactedContent }, out);
      return this.stop(-1, out);
    }
    const { content, citations } = asRecord(block.citationsContent);
    for (const each of asList(content)) out.push({ type: "text", text: asText(asRecord(each).text) ?? "" });
    for (const data of asList(citations)) out.push({ type: "activity", kind: "citation", wire: wireName, data });
    if (block.citationsContent !== undefined) return;
    const [name = ""] = Object.keys(block);
    if (!keptKinds.has(name)) this.#quirks.count("unknown_block");
    out.push({ type: "activity", kind: kindOf(name), wire: wireName, data: block, keep: true });
  }

  #beginCall(key: unknown, start: Wire, out: Delta[]): void {
    const id = asText(start.toolUseId);
    const name = asText(start.name);
    out.push({
      type: "tool_call",
      index: this.#calls,
      ...(id === undefined ? {} : { id }),
      ...(name === undefined ? {} : { name }),
      ...answerOf(wireName, otherFields(start, known.call)),
    });
    this.#open.set(key, { kind: "call", call: this.#calls++, id });
  }

  #write(key: unknown, input: unknown, out: Delta[]): void {
    const block = this.#open.get(key);
    const text = typeof input === "string" ? input : (JSON.stringify(input) ?? "");
    if (text === "") return;
    if (typeof input !== "string") this.#quirks.count("json_as_value");
    if (block?.kind === "kept") block.json += text;
    else if (block?.kind === "call") out.push({ type: "tool_call", index: block.call, arguments: text });
    else {
      this.#quirks.count("stray_json");
      this.stray = true;
    }
  }

  #think(key: unknown, delta: Wire, out: Delta[]): void {
    let block = this.#open.get(key);
    if (block?.kind !== "thought") {
      block = { kind: "thought", part: this.#thoughts++, signature: "", encrypted: [] };
      this.#open.set(key, block);
    }
    block.signature += asText(delta.signature) ?? "";
    if (typeof delta.redactedContent === "string") block.encrypted.push(Buffer.from(delta.redactedContent, "base64"));
    if (typeof delta.text === "string") out.push({ type: "reasoning", text: delta.text, part: block.part });
    const others = otherFields(delta, known.thought);
    if (others !== undefined) this.#quirks.count("unknown_delta");
  }

  #endThought({ part, signature, encrypted }: Thought, out: Delta[]): void {
    if (signature === "" && encrypted.length === 0) return;
    out.push({
      type: "reasoning",
      text: "",
      part,
      ...(signature === "" ? {} : { signature }),
      // Each piece is base64 of its own.
      ...(encrypted.length === 0 ? {} : { encrypted: Buffer.concat(encrypted).toString("base64") }),
    });
  }

  /** The pieces of a vendor's result or a picture. */
  #add(key: unknown, delta: Wire): void {
    const block = this.#open.get(key);
    if (block?.kind !== "kept") return this.#quirks.count("unknown_delta");
    for (const [name, value] of Object.entries(delta)) {
      if (name !== block.name) this.#quirks.count("unknown_delta");
      else if (Array.isArray(value)) block.data.content = [...asList(block.data.content), ...value];
      else Object.assign(block.data, value);
    }
  }

  #endKept({ name, data, json }: Kept, out: Delta[]): void {
    const whole = json === "" ? data : { ...data, input: parseJson(json) ?? json };
    out.push({ type: "activity", kind: kindOf(name), wire: wireName, data: { [name]: whole }, keep: true });
  }
}

const known = {
  call: new Set(["toolUseId", "name", "input"]),
  thought: new Set(["text", "signature", "redactedContent"]),
};

const keptKinds: ReadonlySet<string> = new Set(["toolUse", "toolResult", "image"]);

const kindOf = (name: string): "server_tool" | "part" =>
  name === "toolUse" || name === "toolResult" ? "server_tool" : "part";

/** A call that Bedrock executes itself, such as Nova's web grounding. */
const isServed = (call: Wire): boolean => call.type === "server_tool_use";

/** No input, or an empty object; a text or a list is one that the tool cannot take. */
const isNothing = (input: unknown): boolean =>
  !Array.isArray(input) && typeof (input ?? {}) === "object" && Object.keys(asRecord(input)).length === 0;
