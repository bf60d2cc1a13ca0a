import * as venturi from "venturi/plugin";
import * as provider from "venturi/plugin/provider";
import { z } from "zod";

/** Lines of JSON in, deltas out: {"text"}, {"call": {"name", "arguments"}}, {"done": true}. No I/O and no clock in here. */
class LineDecoder implements venturi.Decoder {
  readonly quirks = new provider.Quirks();
  #calls = 0;
  #ended = false;
  push(frame: venturi.Frame, out: venturi.Delta[]): void {
    if (this.#ended) return this.quirks.count("after_end");
    const line = provider.asRecord(provider.parseJson(frame.data));
    const { name, arguments: given = {} } = provider.asRecord(line.call);
    if (typeof line.text === "string") out.push({ type: "text", text: line.text });
    if (typeof name === "string")
      out.push({ type: "tool_call", index: this.#calls++, name, arguments: JSON.stringify(given), sealed: true });
    this.#ended = line.done === true;
    if (this.#ended) out.push({ type: "done", finish: this.#calls > 0 ? "tool_calls" : "stop" });
  }
  end(out: venturi.Delta[]): void {
    const cut = new venturi.VenturiError("provider.stream", "stream_error", "the stream was cut before its last line");
    if (!this.#ended) out.push({ type: "error", error: cut });
  }
}

export default venturi.definePlugin({
  name: "lines",
  kind: "provider",
  options: z.strictObject(provider.httpOptions), // apiKey, baseUrl, headers, proxy …
  create: (options) =>
    provider.httpProvider({
      name: "lines",
      capabilities: { streaming: true, tools: true, vision: false, reasoning: false },
      wire: { framing: "ndjson", decoder: () => new LineDecoder() },
      options, // sockets, time limits, cancelling and keys that stay out of errors are httpProvider's part
      request: (asked, mode) => ({ url: `${options.baseUrl}/generate`, headers: {}, body: { ...asked, mode } }),
      collect: (json) => provider.collectWith(new LineDecoder(), json),
    }),
});
