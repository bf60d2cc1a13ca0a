import { httpOptions } from "venturi/plugin/provider";
import { z } from "zod";

export const ResponsesOptions = z.strictObject({
  ...httpOptions,
  baseUrl: httpOptions.baseUrl.default("https://api.openai.com/v1"),
  organization: z.string().exactOptional().describe("OpenAI organization to bill"),
  project: z.string().exactOptional().describe("OpenAI project to bill"),
  query: z.record(z.string(), z.string()).exactOptional().describe("Query parameters, such as Azure's api-version"),
  store: z
    .boolean()
    .default(false)
    .describe("Let the server store responses; otherwise reasoning is sent back encrypted"),
  reasoningSummary: z
    .enum(["auto", "concise", "detailed"])
    .exactOptional()
    .describe("Ask for summaries of the model's reasoning"),
});
export type ResponsesOptions = z.output<typeof ResponsesOptions>;
