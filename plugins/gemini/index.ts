import { hasLateSystem, notCounted } from "venturi/internal";
import { definePlugin, type Wire } from "venturi/plugin";
import { asCount, asRecord, collectWith, httpOptions, httpProvider } from "venturi/plugin/provider";
import { z } from "zod";
import { GeminiDecoder, wireName } from "./decoder.ts";
import { embeddingsBody, embeddingsOf } from "./embeddings.ts";
import { keyFailure } from "./errors.ts";
import { bodyOf, countUrlOf, embedUrlOf, urlOf } from "./request.ts";

const wire: Wire = { framing: "sse", decoder: () => new GeminiDecoder() };

const options = z.strictObject({
  ...httpOptions,
  baseUrl: httpOptions.baseUrl.default("https://generativelanguage.googleapis.com/v1beta"),
});

export default definePlugin({
  name: "gemini",
  kind: "provider",
  description: "Google's Gemini API, and Vertex AI by its base URL",
  options,
  wires: { [wireName]: wire },
  create: (options) =>
    httpProvider({
      name: "gemini",
      capabilities: {
        streaming: true,
        tools: true,
        vision: true,
        reasoning: true,
        files: ["application/pdf", "audio/*", "video/*", "text/*"],
      },
      wire,
      options,
      request: (request, mode) => ({
        url: urlOf(options.baseUrl, request.model, mode),
        headers: options.apiKey === undefined ? {} : { "x-goog-api-key": options.apiKey },
        body: bodyOf(request),
      }),
      counting: {
        request: (request) => ({
          url: countUrlOf(options.baseUrl, request.model),
          headers: options.apiKey === undefined ? {} : { "x-goog-api-key": options.apiKey },
          body: { generateContentRequest: { model: `models/${request.model}`, ...bodyOf(request) } },
        }),
        read: (json) => asCount(asRecord(json).totalTokens) ?? notCounted(),
      },
      collect: (json, text) => collectWith(new GeminiDecoder(), json, text),
      embedding: {
        request: (request) => ({
          url: embedUrlOf(options.baseUrl, request.model),
          headers: options.apiKey === undefined ? {} : { "x-goog-api-key": options.apiKey },
          body: embeddingsBody(request),
        }),
        read: embeddingsOf,
      },
      ignores: ({ messages }) => (hasLateSystem(messages) ? ["messages.role"] : []),
      failure: ({ body }) => keyFailure(body),
    }),
});
