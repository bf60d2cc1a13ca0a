import { objectIn, VendorAnswer } from "venturi/internal";
import type { EventOf, PendingCall, RunEvent } from "venturi/plugin";
import { Paragraphs } from "venturi/plugin/channel";
import { argumentsObject, asRecord } from "venturi/plugin/provider";
import { messagesWire } from "./blocks.ts";
import { type MessageRun, messageEnd, messageFields, messageStart, ownFields } from "./message.ts";

type Block = Record<string, unknown>;

/** Collects a message's blocks from a run's events, for a non-streamed answer. */
export class MessageBlocks {
  #blocks: Block[] = [];
  /** As it was before the round. */
  #before: { readonly blocks: readonly Block[]; readonly refusal: string } = { blocks: [], refusal: "" };
  /** The last round with text before this one. */
  #textRound = 0;
  #part: number | undefined;
  #refusal = "";
  readonly #paragraphs = new Paragraphs();
  #raw: string | undefined;
  #container: unknown = null;

  readonly #vendor = new VendorAnswer(messagesWire);

  readonly add = (event: RunEvent): void => {
    this.#vendor.add(event);
    switch (event.type) {
      case "round.started":
        // Copied, because the round's text may be added to the last block.
        this.#before = { blocks: this.#blocks.map((block) => ({ ...block })), refusal: this.#refusal };
        this.#textRound = this.#paragraphs.round;
        this.#part = undefined; // Counted anew in each round.
        return;
      case "round.retracted":
        this.#blocks = [...this.#before.blocks];
        this.#refusal = this.#before.refusal;
        this.#paragraphs.round = this.#textRound;
        return;
      case "text.delta":
        return this.#text(event);
      case "round.finished":
        return this.#paragraphs.note(event);
      case "refusal.delta":
        this.#refusal += event.text;
        return;
      case "reasoning.delta":
        return this.#reasoning(event);
      case "tool_call.started":
        if (event.client) {
          const call = { type: "tool_use", id: event.call, name: event.name, input: {} };
          this.#blocks.push({ ...call, ...ownFields(event.native) });
        }
        return;
      case "provider.activity":
        return this.#activity(event);
      case "generation.finished":
        this.#raw = event.raw;
        return;
      default:
    }
  };

  message(message: MessageRun, event: EventOf<"run.finished">): Block {
    const vendor = this.#vendor;
    const end = messageEnd(event, { raw: this.#raw, refusal: this.#refusal, vendor });
    const calls = new Map((event.calls ?? []).map((call) => [call.call, call]));
    const content = this.#blocks.flatMap((block): Block[] => {
      if (block.type !== "tool_use") return [block];
      const call = calls.get(String(block.id));
      calls.delete(String(block.id));
      return call === undefined ? [] : [{ ...block, input: inputOf(call) }];
    });
    for (const call of calls.values()) {
      content.push({ type: "tool_use", id: call.call, name: call.name, input: inputOf(call) });
    }
    if (end.said !== "") content.push(textBlock(end.said));
    const fields = { container: this.#container, ...end.delta, ...messageFields(vendor.fields) };
    return { ...messageStart(message, {}), content, ...fields, usage: end.usage };
  }

  #text(event: EventOf<"text.delta">): void {
    const { round } = event;
    const text = round === this.#paragraphs.round ? event.text : this.#paragraphs.begin(round) + event.text;
    if (text === "") return;
    const last = this.#blocks.at(-1);
    if (last?.type === "text") last.text = `${last.text}${text}`;
    else this.#blocks.push(textBlock(text));
  }

  #reasoning({ text, part, signature, encrypted, native }: EventOf<"reasoning.delta">): void {
    const fields = ownFields(native);
    if (encrypted !== undefined) this.#blocks.push({ type: "redacted_thinking", data: encrypted, ...fields });
    const thinks = text !== "" || signature !== undefined || (fields !== undefined && encrypted === undefined);
    if (!thinks) return;
    let last = this.#blocks.at(-1);
    if (last?.type !== "thinking" || (part !== undefined && part !== this.#part)) {
      last = { type: "thinking", thinking: "", signature: "", ...fields };
      this.#blocks.push(last);
    }
    this.#part = part;
    last.thinking = `${last.thinking}${text}`;
    if (signature !== undefined) last.signature = `${last.signature}${signature}`;
  }

  #activity({ wire, kind, data }: EventOf<"provider.activity">): void {
    if (wire !== messagesWire || kind === "response") return;
    if (kind === "fields") return void this.#blocks.push({ ...textBlock(""), ...asRecord(asRecord(data).text) });
    if (kind === "citation") return this.#cite(data);
    const block = asRecord(data);
    if (block.type === "container") this.#container = { expires_at: null, ...block, type: undefined };
    else this.#blocks.push({ ...block });
  }

  #cite(citation: unknown): void {
    const last = this.#blocks.findLast(({ type }) => type === "text");
    if (last !== undefined) last.citations = [...((last.citations as unknown[] | undefined) ?? []), citation]; // Created here.
  }
}

/** Truncated arguments are not valid input. */
const inputOf = ({ raw, ...call }: PendingCall): unknown =>
  raw === undefined || objectIn(raw) !== undefined ? argumentsObject({ ...call, ...(raw && { raw }) }) : call.arguments;

const textBlock = (text: string): Block => ({ type: "text", text });
