import { definePlugin, type Wire } from "venturi/plugin";
import { collectWith, httpOptions, httpProvider } from "venturi/plugin/provider";
import { z } from "zod";
import { OllamaDecoder, wireName } from "./decoder.ts";
import { embeddingsBody, embeddingsOf } from "./embeddings.ts";
import { bodyOf } from "./request.ts";

const wire: Wire = { framing: "ndjson", decoder: () => new OllamaDecoder() };

const options = z.strictObject({
  ...httpOptions,
  baseUrl: httpOptions.baseUrl.default("http://127.0.0.1:11434"),
});

export default definePlugin({
  name: "ollama",
  kind: "provider",
  description: "Models that Ollama runs, over its own /api/chat",
  options,
  wires: { [wireName]: wire },
  create: (options) =>
    httpProvider({
      name: "ollama",
      capabilities: { streaming: true, tools: true, vision: true, reasoning: true },
      wire,
      options,
      // The model is loaded on first use.
      firstChunk: 300_000,
      request: (request, mode) => ({
        url: `${options.baseUrl.replace(/\/+$/, "")}/api/chat`,
        headers: options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` },
        body: { ...bodyOf(request), stream: mode === "stream" },
      }),
      embedding: {
        request: (request) => ({
          url: `${options.baseUrl.replace(/\/+$/, "")}/api/embed`,
          headers: options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` },
          body: embeddingsBody(request),
        }),
        read: embeddingsOf,
      },
      ignores: ({ toolChoice }) => (toolChoice === "required" ? ["tool_choice"] : []),
      collect: (json, text) => collectWith(new OllamaDecoder(), json, text),
    }),
});
