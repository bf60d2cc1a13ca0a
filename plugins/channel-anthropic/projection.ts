import { callRetracted, VendorAnswer } from "venturi/internal";
import type { EventOf, RunEvent } from "venturi/plugin";
import { Paragraphs } from "venturi/plugin/channel";
import { argumentsText, asRecord } from "venturi/plugin/provider";
import { messagesWire } from "./blocks.ts";
import { errorFrame } from "./errors.ts";
import { endFields, type MessageRun, messageEnd, messageStart, ownFields } from "./message.ts";

/** A call of a client tool. Blocks are sequential, so a second call waits for the end of the first. */
interface Call {
  readonly call: string;
  readonly name: string;
  /** Other vendor fields. */
  readonly fields: Fields | undefined;
  /** Argument fragments not yet emitted. */
  waiting: string;
  done: boolean;
}

/**
 * A run as the events of one message: thinking, text and client tool arguments as they arrive, each in its own block. Tools
 * that run here are not shown, because clients execute every tool_use themselves.
 */
export class MessageProjection {
  readonly #message: MessageRun;
  #index = -1;
  #open: "text" | "thinking" | undefined;
  /** Started calls; the first one has the open block. */
  #calls: Call[] = [];
  readonly #sent = new Set<string>();
  /** How many were sent before this round. */
  #sentBefore = 0;
  /** Events held back while a call's block is open. */
  #said: RunEvent[] = [];
  /** The reasoning part whose block is open. */
  #part: number | undefined;
  #refusal = "";
  readonly #paragraphs = new Paragraphs();
  #raw: string | undefined;
  readonly #vendor = new VendorAnswer(messagesWire);
  /** The message's first event; undefined until it was sent. */
  #told: Readonly<Record<string, unknown>> | undefined;

  constructor(message: MessageRun) {
    this.#message = message;
  }

  readonly project = (event: RunEvent): string => {
    const frames = this.#frames(event);
    return this.#told !== undefined || frames === "" || event.type === "run.failed" ? frames : this.#start() + frames;
  };

  readonly heartbeat = (): string =>
    `${this.#told === undefined ? this.#start() : ""}event: ping\ndata: {"type":"ping"}\n\n`;

  /** The first event waits for what the vendor says about its message, such as input usage. */
  #start(): string {
    const message = messageStart(this.#message, this.#vendor.fields);
    this.#told = message;
    return frame("message_start", { message });
  }

  #frames(event: RunEvent): string {
    switch (event.type) {
      case "round.started":
        this.#vendor.add(event);
        this.#sentBefore = this.#sent.size;
        this.#part = undefined; // Counted anew in each round.
        return "";
      case "round.retracted":
        if (this.#sent.size > this.#sentBefore) throw callRetracted();
        return "";
      case "provider.activity":
        if (this.#vendor.add(event)) return "";
        if (this.#calls.length === 0) return this.#say(event);
        this.#said.push(event);
        return "";
      case "text.delta":
      case "reasoning.delta":
        if (this.#calls.length === 0) return this.#say(event);
        this.#said.push(event);
        return "";
      case "tool_call.started":
        return event.client ? this.#beginCall(callOf(event)) : "";
      case "tool_call.delta":
        return this.#extendCall(event.call, event.arguments);
      case "tool_call.ready":
      case "tool_call.rejected":
        return this.#endCall(event.call);
      case "refusal.delta":
        this.#refusal += event.text;
        return "";
      case "round.finished":
        this.#paragraphs.note(event);
        return "";
      case "generation.finished":
        this.#vendor.add(event);
        this.#raw = event.raw;
        return "";
      case "run.finished":
        return this.#finish(event);
      case "run.failed":
        return errorFrame(event.error);
      default:
        return "";
    }
  }

  #say(event: RunEvent): string {
    if (event.type === "text.delta") {
      const { round } = event;
      const text = round === this.#paragraphs.round ? event.text : this.#paragraphs.begin(round) + event.text;
      return this.#delta("text", { type: "text_delta", text });
    }
    if (event.type === "provider.activity") return this.#activity(event);
    return event.type === "reasoning.delta" ? this.#reasoning(event) : "";
  }

  #beginCall(call: Call): string {
    this.#sent.add(call.call);
    this.#calls.push(call);
    return this.#calls.length === 1 ? this.#openCall(call) : "";
  }

  #openCall({ call, name, fields }: Call): string {
    const block = { type: "tool_use", id: call, name, input: {}, ...fields };
    return this.#close() + frame("content_block_start", { index: ++this.#index, content_block: block });
  }

  #extendCall(id: string, piece: string): string {
    const call = this.#calls.find((each) => each.call === id);
    if (call === undefined) return "";
    call.waiting += piece;
    return call === this.#calls[0] ? this.#tell(call) : "";
  }

  #tell(call: Call): string {
    const partial_json = call.waiting;
    if (partial_json === "") return "";
    call.waiting = "";
    return frame("content_block_delta", { index: this.#index, delta: { type: "input_json_delta", partial_json } });
  }

  #endCall(id: string): string {
    const ended = this.#calls.find((each) => each.call === id);
    if (ended === undefined) return "";
    ended.done = true;
    return this.#advance();
  }

  /** Ends the blocks of complete calls, and says what waited for them. */
  #advance(): string {
    let frames = "";
    for (let first = this.#calls[0]; first?.done; ) {
      frames += this.#tell(first) + frame("content_block_stop", { index: this.#index });
      this.#calls.shift();
      first = this.#calls[0];
      if (first !== undefined) frames += this.#openCall(first) + this.#tell(first);
    }
    if (this.#calls.length > 0) return frames;
    const said = this.#said;
    this.#said = [];
    return frames + said.map((event) => this.#say(event)).join("");
  }

  #reasoning({ text, part, signature, encrypted, native }: EventOf<"reasoning.delta">): string {
    const fields = ownFields(native);
    const redacted = { type: "redacted_thinking", data: encrypted, ...fields };
    const sealed = encrypted === undefined ? "" : this.#whole(redacted);
    if (text === "" && signature === undefined && (fields === undefined || encrypted !== undefined)) return sealed;
    // Each reasoning part gets its own block, with its own signature.
    const before = this.#open === "thinking" && part !== undefined && part !== this.#part ? this.#close() : "";
    this.#part = part;
    if (fields !== undefined)
      return before + this.#close() + this.#begin("thinking", fields) + this.#thought(text, signature);
    return sealed + before + this.#thought(text, signature);
  }

  #thought(text: string, signature: string | undefined): string {
    const said = text === "" ? "" : this.#delta("thinking", { type: "thinking_delta", thinking: text });
    const signed = signature === undefined ? "" : this.#delta("thinking", { type: "signature_delta", signature });
    return said + signed;
  }

  /** Server-side activity in blocks of this wire; other wires' blocks cannot be expressed. */
  #activity({ wire, kind, data }: EventOf<"provider.activity">): string {
    if (wire !== messagesWire) return "";
    // Begins a text block as the vendor did.
    if (kind === "fields") return this.#close() + this.#begin("text", asRecord(asRecord(data).text));
    if (kind === "citation") return this.#delta("text", { type: "citations_delta", citation: data });
    const block = asRecord(data);
    return block.type === "container" ? "" : this.#whole(block);
  }

  /** Input is sent as a delta: clients assemble it as for their own tools. */
  #whole(block: Readonly<Record<string, unknown>>): string {
    const closed = this.#close();
    const index = ++this.#index;
    const { input } = block;
    const start = input === undefined ? block : { ...block, input: {} };
    const partial_json = JSON.stringify(input);
    const delta = { type: "input_json_delta", partial_json };
    return (
      closed +
      frame("content_block_start", { index, content_block: start }) +
      (input === undefined ? "" : frame("content_block_delta", { index, delta })) +
      frame("content_block_stop", { index })
    );
  }

  #delta(kind: "text" | "thinking", delta: Record<string, unknown>): string {
    const opening = this.#open === kind ? "" : this.#close() + this.#begin(kind);
    return opening + frame("content_block_delta", { index: this.#index, delta });
  }

  #begin(kind: "text" | "thinking", fields?: Fields): string {
    this.#open = kind;
    this.#index++;
    const block = kind === "text" ? { type: kind, text: "" } : { type: kind, thinking: "", signature: "" };
    return frame("content_block_start", { index: this.#index, content_block: { ...block, ...fields } });
  }

  #close(): string {
    if (this.#open === undefined) return "";
    this.#open = undefined;
    return frame("content_block_stop", { index: this.#index });
  }

  /** A limit of the run may have cut its calls: of those, only the one with the open block was shown. */
  #cut(): string {
    this.#calls.length = Math.min(this.#calls.length, 1);
    for (const call of this.#calls) call.done = true;
    return this.#advance();
  }

  #finish(event: EventOf<"run.finished">): string {
    let frames = this.#cut() + this.#close();
    for (const left of event.calls ?? []) {
      const { call, name } = left;
      if (this.#sent.has(call)) continue;
      frames += this.#beginCall({ call, name, fields: undefined, waiting: "", done: false });
      frames += this.#extendCall(call, argumentsText(left)) + this.#endCall(call);
    }
    const vendor = this.#vendor;
    const { delta, usage, said } = messageEnd(event, { raw: this.#raw, refusal: this.#refusal, vendor });
    const fields = endFields(vendor.fields, this.#told ?? {});
    if (said !== "") frames += this.#delta("text", { type: "text_delta", text: said }) + this.#close();
    return (
      frames +
      frame("message_delta", { delta: { ...delta, ...fields.delta }, usage, ...fields.event }) +
      frame("message_stop", {})
    );
  }
}

type Fields = Readonly<Record<string, unknown>>;

const callOf = ({ call, name, native }: EventOf<"tool_call.started">): Call => ({
  call,
  name,
  fields: ownFields(native),
  waiting: "",
  done: false,
});

const frame = (type: string, fields: Record<string, unknown>): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
