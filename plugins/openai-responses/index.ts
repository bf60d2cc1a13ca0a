import { notCounted } from "venturi/internal";
import { definePlugin, type Wire } from "venturi/plugin";
import { asCount, asRecord, collectWith, httpProvider } from "venturi/plugin/provider";
import { ResponsesDecoder, wireName } from "./decoder.ts";
import { nativeRules } from "./native.ts";
import { ResponsesOptions } from "./options.ts";
import { bodyOf, countedBody } from "./request.ts";

const wire: Wire = { framing: "sse", decoder: () => new ResponsesDecoder() };

export default definePlugin({
  name: "openai-responses",
  kind: "provider",
  description: "OpenAI Responses API and servers compatible with it",
  options: ResponsesOptions,
  wires: { [wireName]: wire },
  create(options) {
    const url = urlOf(options);
    const headers = headersOf(options);
    return httpProvider({
      name: "openai-responses",
      capabilities: {
        streaming: true,
        tools: true,
        vision: true,
        reasoning: true,
        files: ["application/*", "text/*", "audio/*"],
      },
      wire,
      wireName,
      nativeRules,
      options,
      request: (request, mode) => ({
        url,
        headers: { ...request.native?.headers, ...headers },
        body: bodyOf(request, options, mode),
      }),
      ignores: ({ options: { stop, seed } }) => [
        ...(stop?.length ? ["stop"] : []),
        ...(seed === undefined ? [] : ["seed"]),
      ],
      counting: {
        request: (request) => ({
          url: url.replace(/\/responses(?=\?|$)/, "/responses/input_tokens"),
          headers: { ...request.native?.headers, ...headers },
          body: countedBody(bodyOf(request, options, "whole")),
        }),
        read: (json) => asCount(asRecord(json).input_tokens) ?? notCounted(),
      },
      collect: (json, text) => collectWith(new ResponsesDecoder(), json, text),
    });
  },
});

function urlOf(options: ResponsesOptions): string {
  const url = new URL(`${options.baseUrl.replace(/\/+$/, "")}/responses`);
  for (const [key, value] of Object.entries(options.query ?? {})) url.searchParams.set(key, value);
  return url.href;
}

function headersOf({ apiKey, organization, project }: ResponsesOptions): Record<string, string> {
  return {
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    ...(organization !== undefined && { "openai-organization": organization }),
    ...(project !== undefined && { "openai-project": project }),
  };
}
