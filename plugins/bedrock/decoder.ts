import { answerOf, otherFields, RepeatedJson, varying } from "venturi/internal";
import type { Decoder, Delta, FinishReason, Frame, VenturiError } from "venturi/plugin";
import { asList, asRecord, asText, Quirks } from "venturi/plugin/provider";
import { Blocks, type Wire, wireName } from "./blocks.ts";
import { broken, exceptionOf, malformed } from "./errors.ts";
import { usageOf } from "./usage.ts";

export { wireName } from "./blocks.ts";

/** `p` is padding of random length: it hides the length of a token from whoever sees the packets. */
const changing = varying([
  ["delta", "text"],
  ["delta", "toolUse", "input"],
  ["delta", "reasoningContent", "text"],
  ["p"],
]);

/**
 * Decodes Converse and ConverseStream. `messageStop` completes the answer; `metadata` with the figures is the last event, and a
 * stream that ends without it lacks only those.
 */
export class ConverseDecoder implements Decoder {
  readonly quirks = new Quirks();
  readonly #json = new RepeatedJson(changing);
  readonly #blocks = new Blocks(this.quirks);
  #begun = false;
  #stop: string | undefined;
  #ended = false;

  push(frame: Frame, out: Delta[]): void {
    if (this.#ended) return this.quirks.count("after_end");
    const parsed = this.#json.parse(frame.data);
    if (frame.event.startsWith("exception:")) return this.#fail(exceptionOf(frame.event.slice(10), parsed), out);
    if (typeof parsed !== "object" || parsed === null)
      return this.#fail(broken("an event is not valid JSON; the stream cannot be trusted further"), out);
    this.#event(frame, asRecord(parsed), out);
  }

  end(out: Delta[]): void {
    if (this.#ended) return;
    if (this.#stop === undefined)
      return this.#fail(broken("the stream ended before messageStop; what arrived is incomplete"), out);
    this.quirks.count("missing_metadata");
    this.#finish(out);
  }

  #event(frame: Frame, event: Wire, out: Delta[]): void {
    switch (frame.event) {
      case "contentBlockDelta":
        this.#begun = true;
        return this.#blocks.delta(event, out);
      case "contentBlockStart":
        this.#begun = true;
        return this.#blocks.start(event, out);
      case "contentBlockStop":
        return this.#blocks.stop(event.contentBlockIndex, out);
      case "messageStart":
        // A gateway that lost its upstream and retried has put two answers into one body.
        if (this.#begun) return this.#fail(broken("a second message began before the first had ended; try again"), out);
        return this.#tell(otherFields(event, known.start), out);
      case "messageStop":
        this.#stop = asText(event.stopReason) ?? "end_turn";
        return this.#tell(otherFields(event, known.stop), out);
      case "metadata":
        return this.#metadata(event, known.metadata, out);
      default:
        if (event.output !== undefined) return this.#whole(event, frame.data, out);
        this.quirks.count("unknown_event");
    }
  }

  /** The answer to a request that asked for no stream. */
  #whole(event: Wire, text: string, out: Delta[]): void {
    for (const [at, block] of asList(asRecord(asRecord(event.output).message).content).entries()) {
      this.#blocks.whole({ block: asRecord(block), text, place: ["output", "message", "content", at] }, out);
    }
    this.#stop = asText(event.stopReason) ?? "end_turn";
    this.#metadata(event, known.whole, out);
  }

  #metadata(event: Wire, read: ReadonlySet<string>, out: Delta[]): void {
    this.#tell(otherFields(event, read), out);
    if (event.usage !== undefined) {
      const native = answerOf(wireName, otherFields(asRecord(event.usage), new Set()));
      out.push({ type: "usage", usage: usageOf(event.usage), ...native });
    }
    if (this.#stop !== undefined) return this.#finish(out);
    this.quirks.count("unknown_event");
  }

  #tell(fields: Record<string, unknown> | undefined, out: Delta[]): void {
    if (fields !== undefined) out.push({ type: "response", ...answerOf(wireName, fields) });
  }

  #fail(error: VenturiError, out: Delta[]): void {
    this.#ended = true;
    out.push({ type: "error", error });
  }

  #finish(out: Delta[]): void {
    this.#ended = true;
    const raw = this.#stop ?? "end_turn";
    if (this.#blocks.stray)
      return this.#fail(broken("arguments arrived for a block that is not open; a call is incomplete"), out);
    if (failures.has(raw)) return this.#fail(malformed(raw), out);
    this.#blocks.end(out);
    const finish = finishes.get(raw) ?? "other";
    out.push({ type: "done", finish: finish === "stop" && this.#blocks.calls > 0 ? "tool_calls" : finish, raw });
  }
}

const known = {
  start: new Set(["role", "p"]),
  stop: new Set(["stopReason", "p"]),
  metadata: new Set(["usage", "p"]),
  whole: new Set(["output", "stopReason", "usage"]),
};

const failures: ReadonlySet<string> = new Set(["malformed_model_output", "malformed_tool_use"]);

const finishes: ReadonlyMap<string, FinishReason> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["tool_use", "tool_calls"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["guardrail_intervened", "content_filter"],
  ["content_filtered", "content_filter"],
]);
