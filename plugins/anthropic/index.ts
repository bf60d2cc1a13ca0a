import { notCounted } from "venturi/internal";
import { definePlugin, type GenerationRequest, type Wire } from "venturi/plugin";
import { asCount, asRecord, collectWith, httpOptions, httpProvider } from "venturi/plugin/provider";
import { z } from "zod";
import { wireName } from "./block-parts.ts";
import { AnthropicDecoder } from "./decoder.ts";
import { nativeRules } from "./native.ts";
import { bodyOf, countedBody, headersOf, ignoredBy } from "./request.ts";

const wire: Wire = { framing: "sse", decoder: () => new AnthropicDecoder() };

const options = z.strictObject({
  ...httpOptions,
  baseUrl: httpOptions.baseUrl.default("https://api.anthropic.com"),
  version: z.iso
    .date()
    .default("2023-06-01")
    .describe("The anthropic-version header. From 2026-10-21 on, the API does not accept temperature and topP"),
  beta: z.array(z.string()).exactOptional().describe("Betas to enable with the anthropic-beta header"),
});

export default definePlugin({
  name: "anthropic",
  kind: "provider",
  description: "Anthropic's Messages API and what is compatible with it",
  options,
  wires: { [wireName]: wire },
  create(options) {
    const headers = (request: GenerationRequest) => ({
      "anthropic-version": options.version,
      ...(options.apiKey === undefined ? {} : { "x-api-key": options.apiKey }),
      ...headersOf(request, options.beta ?? []),
    });
    return httpProvider({
      name: "anthropic",
      capabilities: { streaming: true, tools: true, vision: true, reasoning: true, files: ["application/pdf"] },
      wire,
      wireName,
      nativeRules,
      options,
      request: (request, mode) => ({
        url: urlOf(options.baseUrl),
        headers: headers(request),
        body: { ...bodyOf(request, options), stream: mode === "stream" },
      }),
      collect: (json, text) => collectWith(new AnthropicDecoder(), json, text),
      counting: {
        request: (request) => ({
          url: `${urlOf(options.baseUrl)}/count_tokens`,
          headers: headers(request),
          body: countedBody(bodyOf(request, options)),
        }),
        read: (json) => asCount(asRecord(json).input_tokens) ?? notCounted(),
      },
      ignores: (request) => ignoredBy(request, options),
    });
  },
});

/** The base URL is often written with or without `/v1`. */
const urlOf = (baseUrl: string): string => `${baseUrl.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1/messages`;
