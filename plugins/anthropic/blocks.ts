import { answerOf, asIndex, otherFields } from "venturi/internal";
import type { Delta, Quirks, ToolCallDelta } from "venturi/plugin";
import { asList, asRecord, asText } from "venturi/plugin/provider";
import {
  type Again,
  activity,
  type Block,
  type Call,
  known,
  knownBlock,
  origin,
  type Server,
  type Source,
  type Thinking,
  type Wire,
  wholeInput,
  wireName,
} from "./block-parts.ts";

/**
 * The content blocks of one message. Deltas are routed by type before index: gateways restart, overlap and skip indexes, and
 * text is text whatever index it has.
 */
export class Blocks {
  readonly #quirks: Quirks;
  readonly #open = new Map<number, Block>();
  readonly #ids = new Map<string, Call>();
  /** The index that the JSON of a block comes with. */
  readonly #from = new WeakMap<Block, number | undefined>();
  /** The latest block that takes JSON, open or not, and the latest thinking block. */
  #json: Call | Server | undefined;
  #thinking: Thinking | undefined;
  #calls = 0;
  #thoughts = 0;
  /** The last block was one of text. */
  #afterText = false;
  /** Arguments arrived that cannot be assigned to a call, so some call, also a later one, may be incomplete. */
  stray = false;

  constructor(quirks: Quirks) {
    this.#quirks = quirks;
  }

  get calls(): number {
    return this.#calls;
  }

  start(index: unknown, { block, source }: Source, out: Delta[]): void {
    const key = index === whole ? whole : (asIndex(index) ?? this.#free());
    const earlier = this.#ids.get(asText(block.id) ?? "");
    if (this.#open.has(key) && (earlier === undefined || this.#open.get(key) !== earlier)) {
      this.#quirks.count("overlapping_index");
      this.#close(key, out);
    }
    const opened = this.#begin(block, source, out);
    this.#afterText = block.type === "text";
    if (opened !== undefined) this.#open.set(key, opened);
  }

  stop(index: unknown, out: Delta[]): void {
    // Without an index, the only open block is meant.
    const key = asIndex(index) ?? (this.#open.size === 1 ? this.#open.keys().next().value : undefined);
    if (key !== undefined && this.#open.has(key)) this.#close(key, out);
    else this.#quirks.count("stop_without_block");
  }

  /** A place for a block without an index. */
  #free(): number {
    let key = this.#open.size;
    while (this.#open.has(key)) key++;
    return key;
  }

  #at(index: unknown): Block | undefined {
    return this.#open.get(asIndex(index) ?? nowhere);
  }

  /** A block that is complete from the start; a call without input in a `message_start` may still be streamed. */
  whole(block: Source, out: Delta[], { mayFollow }: { mayFollow: boolean }): void {
    this.start(whole, block, out);
    const opened = this.#open.get(whole);
    if (!mayFollow || opened?.kind !== "call" || opened.input !== undefined) return this.#close(whole, out);
    this.#open.delete(whole);
    this.#open.set(whole - 2 - opened.call, opened);
  }

  /** The message has ended, and with it all open blocks. */
  end(out: Delta[]): void {
    if (this.#open.size > 0) this.#quirks.count("block_without_stop");
    for (const key of [...this.#open.keys()]) this.#close(key, out);
  }

  delta(event: Wire, out: Delta[]): void {
    const delta = asRecord(event.delta);
    switch (delta.type) {
      case "text_delta":
        if (typeof delta.text === "string") out.push({ type: "text", text: delta.text });
        return;
      case "input_json_delta":
        // The first one is usually empty.
        if (delta.partial_json !== "") this.#write(event.index, this.#textOf(delta.partial_json), out);
        return;
      case "thinking_delta":
        if (typeof delta.thinking === "string") {
          out.push({ type: "reasoning", text: delta.thinking, part: this.#thought(event.index).part });
        }
        return;
      case "signature_delta":
        if (typeof delta.signature === "string") this.#sign(event.index, delta.signature, out);
        return;
      case "citations_delta":
        out.push({ type: "activity", kind: "citation", wire: wireName, data: delta.citation });
        return;
      case "compaction_delta":
        return this.#compact(event.index, delta);
      default:
        this.#quirks.count("unknown_delta");
    }
  }

  #begin(block: Wire, source: Source["source"], out: Delta[]): Block | undefined {
    switch (block.type) {
      case "text":
        this.#beginText(block, out);
        for (const data of asList(block.citations)) {
          out.push({ type: "activity", kind: "citation", wire: wireName, data });
        }
        return { kind: "ended" };
      case "thinking":
        return this.#beginThinking(block, out);
      case "redacted_thinking":
        out.push({
          type: "reasoning",
          text: "",
          part: this.#thoughts++,
          encrypted: asText(block.data) ?? "",
          ...answerOf(wireName, otherFields(block, known.redacted)),
        });
        return { kind: "ended" };
      case "tool_use":
        return this.#beginCall(block, wholeInput(block.input, source), out);
      default:
        if (!knownBlock.test(String(block.type))) this.#quirks.count("unknown_block");
        this.#json = { kind: "server", data: block, patch: new Map(), json: "", open: true };
        return this.#json;
    }
  }

  /** A text block after another starts a new part: each has its own citations. */
  #beginText(block: Wire, out: Delta[]): void {
    const text = typeof block.text === "string" ? block.text : "";
    const fields = otherFields(block, known.text) ?? (this.#afterText ? {} : undefined);
    if (fields !== undefined) out.push({ type: "activity", kind: "fields", wire: wireName, data: { text: fields } });
    if (text !== "") out.push({ type: "text", text });
  }

  #beginThinking(block: Wire, out: Delta[]): Block {
    this.#thinking = { kind: "thinking", part: this.#thoughts++, signature: asText(block.signature) ?? "", open: true };
    // Thinking without text still opens its part: its signature must be sent back.
    const native = answerOf(wireName, otherFields(block, known.thinking));
    out.push({ type: "reasoning", text: asText(block.thinking) ?? "", part: this.#thinking.part, ...native });
    return this.#thinking;
  }

  #beginCall(block: Wire, input: string | undefined, out: Delta[]): Block | undefined {
    const id = asText(block.id);
    const earlier = id === undefined ? undefined : this.#ids.get(id);
    if (earlier !== undefined) {
      // Some gateways include a block in message_start and then stream it as well.
      this.#quirks.count("repeated_call");
      if (!earlier.open) return { kind: "again", call: earlier.call, input, json: "" };
      for (const [key, open] of this.#open) if (open === earlier) this.#open.delete(key);
      earlier.input ??= input;
      return earlier;
    }
    const delta: { -readonly [K in keyof ToolCallDelta]: ToolCallDelta[K] } = {
      type: "tool_call",
      index: this.#calls++,
    };
    if (id !== undefined) delta.id = id;
    if (typeof block.name === "string") delta.name = block.name;
    const signature = origin(block);
    if (signature !== undefined) delta.signature = signature;
    out.push({ ...delta, ...answerOf(wireName, otherFields(block, known.call)) });
    const call: Call = { kind: "call", call: delta.index, input, written: false, open: true };
    if (id !== undefined) this.#ids.set(id, call);
    this.#json = call;
    return call;
  }

  #write(index: unknown, text: string, out: Delta[]): void {
    const block = this.#target(index);
    const from = asIndex(index);
    if (block !== undefined && !this.#from.has(block)) this.#from.set(block, from);
    // Pieces with another index than the block's first one belong to a block that got lost.
    if (block === undefined || this.#from.get(block) !== from) {
      this.#quirks.count("stray_json");
      this.stray = true;
      return;
    }
    if (block.kind !== "call") {
      block.json += text;
      return;
    }
    block.written = true;
    out.push({ type: "tool_call", index: block.call, arguments: text });
  }

  /** Anything but text is a gateway's mistake; kept as JSON, since dropping it would change the arguments. */
  #textOf(json: unknown): string {
    if (typeof json === "string") return json;
    this.#quirks.count("json_as_value");
    return JSON.stringify(json) ?? "";
  }

  /**
   * The block at the index. A wrong index from a gateway is tolerated if only one block can be meant: the only open one that takes JSON, or
   * the latest call if all are closed and it is still empty. Otherwise the arguments might end up in another call.
   */
  #target(index: unknown): Call | Again | Server | undefined {
    const block = this.#at(index);
    if (takesJson(block)) return block;
    this.#quirks.count("index_mismatch");
    const open = [...this.#open.values()].filter(takesJson);
    if (open.length > 0) return open.length === 1 ? open[0] : undefined;
    const latest = this.#json;
    return latest?.kind === "call" && !latest.written ? latest : undefined;
  }

  #thought(index: unknown): Thinking {
    const block = this.#at(index);
    if (block?.kind === "thinking") return block;
    this.#quirks.count("index_mismatch");
    if (this.#thinking !== undefined) return this.#thinking;
    this.#thinking = { kind: "thinking", part: this.#thoughts++, signature: "", open: true };
    this.#open.set(-2, this.#thinking);
    return this.#thinking;
  }

  /** A signature is emitted when its block closes, so that the last of several wins; a late one is emitted at once. */
  #sign(index: unknown, signature: string, out: Delta[]): void {
    const block = this.#thought(index);
    if (block.open) block.signature = signature;
    else if (block.signature === "") out.push({ type: "reasoning", text: "", part: block.part, signature });
  }

  #compact(index: unknown, delta: Wire): void {
    const block = this.#at(index);
    if (block?.kind !== "server") return this.#quirks.count("index_mismatch");
    for (const key of ["content", "encrypted_content"]) if (delta[key] !== undefined) block.patch.set(key, delta[key]);
  }

  #close(key: number, out: Delta[]): void {
    const block = this.#open.get(key);
    this.#open.delete(key);
    if (block !== undefined && "open" in block) block.open = false;
    if (block?.kind === "call") this.#seal(block, out);
    else if (block?.kind === "again") repeat(block, out);
    else if (block?.kind === "server") out.push(activity(block));
    else if (block?.kind === "thinking" && block.signature !== "") {
      out.push({ type: "reasoning", text: "", part: block.part, signature: block.signature });
    }
  }

  #seal(block: Call, out: Delta[]): void {
    const text = block.written ? undefined : block.input;
    if (text === undefined) return void out.push({ type: "tool_call", index: block.call, sealed: true });
    block.written = true;
    this.#quirks.count("input_in_block_start");
    out.push({ type: "tool_call", index: block.call, arguments: text, sealed: true });
  }
}

/** Place of a block that is complete from the start, and below it those of calls that may be streamed yet; -2 is taken, too. */
const whole = -1;
const nowhere = Number.NaN;

const takesJson = (block: Block | undefined): block is Call | Again | Server =>
  block?.kind === "call" || block?.kind === "again" || block?.kind === "server";

function repeat({ call, input, json }: Again, out: Delta[]): void {
  const text = json === "" ? input : json;
  if (text !== undefined) out.push({ type: "tool_call", index: call, arguments: text, replace: true, sealed: true });
}
