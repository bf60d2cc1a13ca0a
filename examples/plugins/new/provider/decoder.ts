import { type Decoder, type Delta, type Frame, VenturiError } from "venturi/plugin";
import { asRecord, parseJson, Quirks } from "venturi/plugin/provider";

/**
 * Frames in, deltas out: no I/O and no clock, so that recorded bytes can be decoded again. The lines are
 * {"text"}, {"call": {"name", "arguments"}} and at the end {"done": true}; more than one of them may share a line.
 */
export class LineDecoder implements Decoder {
  readonly quirks = new Quirks();
  #calls = 0;
  #ended = false;

  push(frame: Frame, out: Delta[]): void {
    if (this.#ended) return this.quirks.count("after_end");
    const line = asRecord(parseJson(frame.data));
    const call = asRecord(line.call);
    if (typeof line.text === "string") out.push({ type: "text", text: line.text });
    if (typeof call.name === "string") {
      const given = JSON.stringify(call.arguments ?? {});
      out.push({ type: "tool_call", index: this.#calls++, name: call.name, arguments: given, sealed: true });
    }
    if (line.done === true) {
      this.#ended = true;
      out.push({ type: "done", finish: this.#calls > 0 ? "tool_calls" : "stop" });
    }
  }

  /** A stream that stops without its end is never taken for a whole answer. */
  end(out: Delta[]): void {
    if (this.#ended) return;
    const error = new VenturiError("provider.stream", "stream_error", "the stream ended before its last line");
    out.push({ type: "error", error });
  }
}
