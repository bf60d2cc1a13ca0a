import { collectWith, definePlugin, httpOptions, httpProvider, type Wire } from "venturi/plugin";
import { z } from "zod";
import { ChatDecoder, wireName } from "./decoder.ts";
import { dialectNames, dialectOf } from "./dialects.ts";
import { embeddingsBody, embeddingsOf } from "./embeddings.ts";
import { failureOf } from "./errors.ts";
import { bodyOf } from "./request.ts";

const wire: Wire = { framing: "sse", decoder: () => new ChatDecoder() };

const options = z.strictObject({
  ...httpOptions,
  baseUrl: httpOptions.baseUrl.default("https://api.openai.com/v1"),
  organization: z.string().exactOptional().describe("OpenAI organization to bill"),
  project: z.string().exactOptional().describe("OpenAI project to bill"),
  query: z.record(z.string(), z.string()).exactOptional().describe("Query parameters, such as Azure's api-version"),
  dialect: z
    .enum(["auto", ...dialectNames])
    .default("auto")
    .describe("What the server is, where servers differ; auto: by the host, and local for one that is near"),
  maxTokensKey: z
    .enum(["max_completion_tokens", "max_tokens"])
    .exactOptional()
    .describe("How this server calls the limit of output tokens, if not as its dialect says"),
  includeUsage: z.boolean().default(true).describe("Ask for usage in streams (stream_options.include_usage)"),
  callIds: z
    .enum(["keep", "short"])
    .exactOptional()
    .describe("short: nine letters and digits, which Mistral wants (and gets without asking)"),
  sendReasoning: z
    .enum(["toolCalls", "always", "never"])
    .default("toolCalls")
    .describe("When reasoning goes back in the field it came in; DeepSeek wants it on turns with tool calls"),
});
export type OpenAiOptions = z.output<typeof options>;

export default definePlugin({
  name: "openai",
  kind: "provider",
  description: "OpenAI Chat Completions and every server compatible with it",
  options,
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
      options,
      ...(dialect.firstChunk === undefined ? {} : { firstChunk: dialect.firstChunk }),
      request: (request, mode) => ({
        url,
        headers: { ...headers, ...request.native?.headers },
        body: bodyOf(request, { options, dialect, mode }),
      }),
      collect: (json) => collectWith(new ChatDecoder(), json),
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
