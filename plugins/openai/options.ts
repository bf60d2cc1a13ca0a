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
export type OpenAiOptions = z.output<typeof OpenAiOptions>;
