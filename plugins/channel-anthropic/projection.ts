import { argumentsText, type EventOf, Paragraphs, type RunEvent, record } from "venturi/plugin";
import { messagesWire } from "./blocks.ts";
import { errorFrame } from "./errors.ts";
import { type MessageRun, messageBody, messageEnd, usageOf } from "./message.ts";

/** A call of a client tool. Blocks are sequential, so a second call waits for the end of the first. */
interface Call {
  readonly call: string;
  readonly name: string;
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
  /** Events that arrived while a call's block was open. */
  #said: RunEvent[] = [];
  /** The reasoning part whose block is open. */
  #part: number | undefined;
  #refusal = "";
  readonly #paragraphs = new Paragraphs();
  #raw: string | undefined;

  constructor(message: MessageRun) {
    this.#message = message;
  }

  readonly project = (event: RunEvent): string => {
    switch (event.type) {
      case "run.started":
        return frame("message_start", { message: { ...messageBody(this.#message), usage: usageOf({}) } });
      case "text.delta":
      case "reasoning.delta":
      case "provider.activity":
        if (this.#calls.length === 0) return this.#say(event);
        this.#said.push(event);
        return "";
      case "tool_call.started":
        return event.client ? this.#beginCall({ call: event.call, name: event.name, waiting: "", done: false }) : "";
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
        this.#raw = event.raw;
        return "";
      case "run.finished":
        return this.#finish(event);
      case "run.failed":
        return errorFrame(event.error);
      default:
        return "";
    }
  };

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

  #openCall({ call, name }: Call): string {
    const block = { type: "tool_use", id: call, name, input: {} };
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

  #reasoning({ text, part, signature, encrypted }: EventOf<"reasoning.delta">): string {
    const sealed = encrypted === undefined ? "" : this.#whole({ type: "redacted_thinking", data: encrypted });
    if (text === "" && signature === undefined) return sealed;
    // Each reasoning part gets its own block, with its own signature.
    const before = this.#open === "thinking" && part !== undefined && part !== this.#part ? this.#close() : "";
    this.#part = part;
    const said = text === "" ? "" : this.#delta("thinking", { type: "thinking_delta", thinking: text });
    const signed = signature === undefined ? "" : this.#delta("thinking", { type: "signature_delta", signature });
    return sealed + before + said + signed;
  }

  /** Server-side activity in blocks of this wire; other wires' blocks cannot be expressed. */
  #activity({ wire, kind, data }: EventOf<"provider.activity">): string {
    if (wire !== messagesWire) return "";
    if (kind === "citation") return this.#delta("text", { type: "citations_delta", citation: data });
    const block = record(data);
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

  #begin(kind: "text" | "thinking"): string {
    this.#open = kind;
    this.#index++;
    const block = kind === "text" ? { type: kind, text: "" } : { type: kind, thinking: "", signature: "" };
    return frame("content_block_start", { index: this.#index, content_block: block });
  }

  #close(): string {
    if (this.#open === undefined) return "";
    this.#open = undefined;
    return frame("content_block_stop", { index: this.#index });
  }

  #finish(event: EventOf<"run.finished">): string {
    let frames = this.#close();
    for (const left of event.calls ?? []) {
      const { call, name } = left;
      if (this.#sent.has(call)) continue;
      frames += this.#beginCall({ call, name, waiting: "", done: false });
      frames += this.#extendCall(call, argumentsText(left)) + this.#endCall(call);
    }
    const { delta, usage, said } = messageEnd(event, { raw: this.#raw, refusal: this.#refusal });
    if (said !== "") frames += this.#delta("text", { type: "text_delta", text: said }) + this.#close();
    return frames + frame("message_delta", { delta, usage }) + frame("message_stop", {});
  }
}

const frame = (type: string, fields: Record<string, unknown>): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
