import type { PluginFiles } from "./files.ts";

export const providerFiles = (name: string): PluginFiles => ({
  "index.ts": `import { collectWith, httpOptions, httpProvider, textOf } from "venturi/plugin/provider";
import { definePlugin, type Wire } from "venturi/plugin";
import { z } from "zod";
import { LineDecoder } from "./decoder.ts";

const wire: Wire = { framing: "ndjson", decoder: () => new LineDecoder() };

export default definePlugin({
  name: "${name}",
  kind: "provider",
  description: "A model server that answers with lines of JSON",
  options: z.strictObject({
    ...httpOptions,
    baseUrl: httpOptions.baseUrl.default("http://127.0.0.1:8000"),
  }),
  // What \`venturi decode --wire\` and \`journal.keepWire\` call the format.
  wires: { "${name}": wire },
  create: (options) =>
    httpProvider({
      name: "${name}",
      capabilities: { streaming: true, tools: true, vision: false, reasoning: false },
      wire,
      options,
      request: (request, mode) => ({
        url: \`\${options.baseUrl}/generate\`,
        headers: options.apiKey === undefined ? {} : { authorization: \`Bearer \${options.apiKey}\` },
        body: {
          model: request.model,
          prompt: request.messages.map((message) => ({ role: message.role, text: textOf(message) })),
          tools: request.tools,
          stream: mode === "stream",
        },
      }),
      collect: (json) => collectWith(new LineDecoder(), json),
    }),
});
`,
  "decoder.ts": `import { type Decoder, type Delta, type Frame, VenturiError } from "venturi/plugin";
import { parseJson, Quirks, asRecord } from "venturi/plugin/provider";

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
`,
  "index.test.ts": `import { providerContract, testPluginContext } from "venturi/testing";
import plugin from "./index.ts";

const lines = (...values: unknown[]): string => values.map((value) => \`\${JSON.stringify(value)}\\n\`).join("");

// Bodies as the server sends them: record real ones as soon as you can.
providerContract("${name}", {
  create: ({ baseUrl, key }) => plugin.create(plugin.options.parse({ baseUrl, apiKey: key }), testPluginContext()),
  samples: {
    contentType: "application/x-ndjson",
    text: { body: lines({ text: "Hello " }, { text: "there" }, { done: true }), text: "Hello there" },
    toolCall: {
      body: lines({ call: { name: "tool", arguments: { city: "Rome" } } }, { done: true }),
      name: "tool",
      arguments: { city: "Rome" },
    },
    whole: { body: JSON.stringify({ text: "Hello", done: true }), text: "Hello" },
  },
});
`,
});
