import { answerOf, otherFields, RepeatedJson, varying } from "venturi/internal";
import type { Decoder, Delta, FinishReason, Frame, JsonPlace } from "venturi/plugin";
import { asList, asRecord, asText, Quirks } from "venturi/plugin/provider";
import { type Wire, wireName } from "./block-parts.ts";
import { Blocks } from "./blocks.ts";
import { broken, errorOf } from "./errors.ts";
import { UsageCounts } from "./usage.ts";

/** Values that vary between the deltas of a block. */
const changing = varying([
  ["delta", "text"],
  ["delta", "partial_json"],
  ["delta", "thinking"],
]);

/** Decodes Anthropic's Messages API. The terminator is `message_stop`; anything that ends earlier was cut. */
export class AnthropicDecoder implements Decoder {
  readonly quirks = new Quirks();
  readonly #json = new RepeatedJson(changing);
  readonly #blocks = new Blocks(this.quirks);
  readonly #usage = new UsageCounts();
  #message: { readonly id: unknown } | undefined;
  #begun = false;
  #stop: string | undefined;
  /** The current event as received. */
  #source = "";
  #ended = false;

  push(frame: Frame, out: Delta[]): void {
    if (this.#ended) return this.quirks.count("after_end");
    const parsed = this.#json.parse(frame.data);
    if (typeof parsed !== "object" || parsed === null) return this.#unreadable(frame, out);
    const event = asRecord(parsed);
    const type = event.type ?? frame.event;
    if (type === "content_block_delta") return this.#blocks.delta(event, out);
    if (type === "message_start" && frame.event === "") this.quirks.count("missing_event_name");
    this.#source = frame.data;
    this.#event(type, event, out);
  }

  end(out: Delta[]): void {
    if (this.#ended) return;
    this.#fail("the stream ended before message_stop; what arrived is incomplete", out);
  }

  #event(type: unknown, event: Wire, out: Delta[]): void {
    switch (type) {
      case "content_block_start":
        this.#begun = true;
        return this.#blocks.start(event.index, this.#block(event.content_block, ["content_block"]), out);
      case "content_block_stop":
        return this.#blocks.stop(event.index, out);
      case "message_start":
        return this.#start(asRecord(event.message), ["message"], out);
      case "message_delta":
        this.#reason(asRecord(event.delta), out);
        this.#tell(
          otherFields(asRecord(event.delta), known.end),
          otherFields(event, known.delta, "message_delta."),
          out,
        );
        if (event.usage !== undefined) this.#count(event.usage, "reported", out);
        return;
      case "message_stop":
        return this.#finish(out);
      case "ping":
        return;
      case "error":
        this.#ended = true;
        out.push({ type: "error", error: errorOf(event) });
        return;
      case "message":
        // The answer to a non-streaming request: the same message in one piece.
        this.#start(event, [], out);
        return this.#finish(out);
      default:
        if (typeof event.error === "object" && event.error !== null) return this.#event("error", event, out);
        this.quirks.count("unknown_event");
    }
  }

  /** `[DONE]` and comments come from gateways that speak another dialect; anything else is corruption. */
  #unreadable(frame: Frame, out: Delta[]): void {
    const data = frame.data.trim();
    if (data === "" || data.startsWith(":")) return this.quirks.count("comment_as_data");
    if (data === "[DONE]") {
      this.quirks.count("done_sentinel");
      // After the stop reason, it replaces the message_stop that such gateways omit.
      if (this.#stop !== undefined) this.#finish(out);
      return;
    }
    if (frame.event === "error") return this.#event("error", { error: data }, out);
    this.#fail("an event is not valid JSON; the stream cannot be trusted further", out, { malformed: true });
  }

  #fail(message: string, out: Delta[], details?: { readonly malformed: true }): void {
    this.#ended = true;
    out.push({ type: "error", error: broken(message, details) });
  }

  #block(block: unknown, place: JsonPlace) {
    return { block: asRecord(block), source: { text: this.#source, place } };
  }

  #start(message: Wire, place: JsonPlace, out: Delta[]): void {
    if (this.#message !== undefined) {
      if (this.#message.id === message.id && !this.#begun) return this.quirks.count("repeated_message_start");
      // A gateway that lost its upstream and retried has put two generations, or one twice, into one body. Signed thinking from both in one
      // turn could never be sent back (seen behind Vertex: github.com/vercel/ai/issues/18331).
      return this.#fail("a second message began before the first had ended; try again", out);
    }
    this.#message = { id: message.id };
    const id = asText(message.id);
    const model = asText(message.model);
    out.push({ type: "response", ...(id === undefined ? {} : { id }), ...(model === undefined ? {} : { model }) });
    // Includes the usage, which is all a client learns about the input until the end.
    this.#tell(otherFields(message, known.message), otherFields({ usage: message.usage }, new Set()), out);
    if (message.usage !== undefined) this.#count(message.usage, message.stop_reason ? "reported" : "partial", out);
    for (const [at, block] of asList(message.content).entries()) {
      this.#blocks.whole(this.#block(block, [...place, "content", at]), out, { mayFollow: place.length > 0 });
    }
    this.#reason(message, out);
  }

  /** Fields of the message; those next to `delta` in its last event go under the event's name. */
  #tell(fields: Fields, others: Fields, out: Delta[]): void {
    if (fields === undefined && others === undefined) return;
    out.push({ type: "response", ...answerOf(wireName, { ...fields, ...others }) });
  }

  #count(usage: unknown, source: "reported" | "partial", out: Delta[]): void {
    const native = answerOf(wireName, otherFields(asRecord(usage), new Set()));
    out.push({ type: "usage", usage: this.#usage.update(usage, source), ...native });
  }

  #reason(from: Wire, out: Delta[]): void {
    this.#stop = asText(from.stop_reason) ?? this.#stop;
    const explanation = asText(asRecord(from.stop_details).explanation);
    if (explanation !== undefined) out.push({ type: "refusal", text: explanation });
    const container = asText(asRecord(from.container).id);
    if (container === undefined) return;
    // A later request that answers a call from a container must name the container.
    const data = { type: "container", id: container };
    out.push({ type: "activity", kind: "part", wire: wireName, data, keep: true });
  }

  #finish(out: Delta[]): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#blocks.stray && this.#blocks.calls > 0)
      return this.#fail("arguments arrived for a block that is not open; a call is incomplete", out);
    this.#blocks.end(out);
    const raw = this.#stop;
    if (raw === undefined) this.quirks.count("missing_stop_reason");
    const finish = finishOf(raw, this.#blocks.calls);
    out.push(raw === undefined ? { type: "done", finish } : { type: "done", finish, raw });
  }
}

type Fields = Record<string, unknown> | undefined;

const known = {
  message: new Set(["id", "type", "role", "model", "content", "stop_reason", "usage"]),
  /** The fields of the last event, and of its `delta`. */
  delta: new Set(["type", "delta", "usage"]),
  end: new Set(["stop_reason"]),
};

function finishOf(raw: string | undefined, calls: number): FinishReason {
  const finish = raw === undefined ? "stop" : (finishes.get(raw) ?? "other");
  return finish === "stop" && calls > 0 ? "tool_calls" : finish;
}

const finishes: ReadonlyMap<string, FinishReason> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["tool_use", "tool_calls"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["pause_turn", "pause"],
  ["compaction", "pause"],
  ["refusal", "refusal"],
]);
