import { definePlugin, type Wire } from "venturi/plugin";
import { collectWith, httpProvider } from "venturi/plugin/provider";
import { ChatDecoder, wireName } from "./decoder.ts";
import { dialectOf } from "./dialects.ts";
import { embeddingsBody, embeddingsOf } from "./embeddings.ts";
import { failureOf } from "./errors.ts";
import { nativeRules } from "./native.ts";
import { OpenAiOptions } from "./options.ts";
import { bodyOf } from "./request.ts";

const wire: Wire = { framing: "sse", decoder: () => new ChatDecoder() };

export default definePlugin({
  name: "openai",
  kind: "provider",
  description: "OpenAI Chat Completions and every server compatible with it",
  options: OpenAiOptions,
  wires: { [wireName]: wire },
  create(options) {
    const url = urlOf(options, "chat/completions");
    const headers = headersOf(options);
    const dialect = dialectOf(options.dialect, options.baseUrl);
    return httpProvider({
      name: "openai",
      capabilities: {
        streaming: true,
        tools: true,
        vision: true,
        reasoning: true,
        files: ["application/pdf", "audio/*"],
      },
      wire,
      wireName,
      nativeRules,
      options,
      ...(dialect.firstChunk === undefined ? {} : { firstChunk: dialect.firstChunk }),
      request: (request, mode) => ({
        url,
        headers: { ...request.native?.headers, ...headers },
        body: bodyOf(request, { options, dialect, mode }),
      }),
      collect: (json, text) => collectWith(new ChatDecoder(), json, text),
      embedding: {
        request: (request) => ({ url: urlOf(options, "embeddings"), headers, body: embeddingsBody(request) }),
        read: embeddingsOf,
      },
      failure: failureOf,
    });
  },
});

function urlOf(options: OpenAiOptions, path: string): string {
  const url = new URL(`${options.baseUrl.replace(/\/+$/, "")}/${path}`);
  for (const [key, value] of Object.entries(options.query ?? {})) url.searchParams.set(key, value);
  return url.href;
}

function headersOf({ apiKey, organization, project }: OpenAiOptions): Record<string, string> {
  return {
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    ...(organization !== undefined && { "openai-organization": organization }),
    ...(project !== undefined && { "openai-project": project }),
  };
}
