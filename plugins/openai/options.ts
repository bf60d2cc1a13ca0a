import { httpOptions } from "venturi/plugin/provider";
import { z } from "zod";
import { dialectNames } from "./dialects.ts";

export const OpenAiOptions = z.strictObject({
  ...httpOptions,
  baseUrl: httpOptions.baseUrl.default("https://api.openai.com/v1"),
  organization: z.string().exactOptional().describe("OpenAI organization to bill"),
  project: z.string().exactOptional().describe("OpenAI project to bill"),
  query: z.record(z.string(), z.string()).exactOptional().describe("Query parameters, such as Azure's api-version"),
  dialect: z
    .enum(["auto", ...dialectNames])
    .default("auto")
    .describe("Server type, where servers differ; auto: by host, and `local` for a private address"),
  maxTokensKey: z
    .enum(["max_completion_tokens", "max_tokens"])
    .exactOptional()
    .describe("Name of the output token limit, if it differs from the dialect's"),
  includeUsage: z.boolean().default(true).describe("Ask for usage in streams (stream_options.include_usage)"),
  callIds: z
    .enum(["keep", "short"])
    .exactOptional()
    .describe("short: nine letters and digits, as Mistral requires (set automatically there)"),
  sendReasoning: z
    .enum(["toolCalls", "always", "never"])
    .default("toolCalls")
    .describe("When to send reasoning back in its original field; DeepSeek requires it on turns with tool calls"),
});
export type OpenAiOptions = z.output<typeof OpenAiOptions>;
