import { definePlugin, type Wire } from "venturi/plugin";
import { collectWith, httpOptions, httpProvider, textOf } from "venturi/plugin/provider";
import { z } from "zod";
import { LineDecoder } from "./decoder.ts";

const wire: Wire = { framing: "ndjson", decoder: () => new LineDecoder() };

export default definePlugin({
  name: "my-plugin",
  kind: "provider",
  description: "A model server that answers with lines of JSON",
  options: z.strictObject({
    ...httpOptions,
    baseUrl: httpOptions.baseUrl.default("http://127.0.0.1:8000"),
  }),
  // What `venturi decode --wire` and `journal.keepWire` call the format.
  wires: { "my-plugin": wire },
  create: (options) =>
    httpProvider({
      name: "my-plugin",
      capabilities: { streaming: true, tools: true, vision: false, reasoning: false },
      wire,
      options,
      request: (request, mode) => ({
        url: `${options.baseUrl}/generate`,
        headers: options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` },
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
