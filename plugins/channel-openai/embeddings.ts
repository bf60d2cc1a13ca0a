import { warningsHeader, warningsText } from "venturi/internal";
import type { ChannelHost, ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { nativeOf } from "venturi/plugin/channel";
import { z } from "zod";
import { chatWire } from "./chat-content.ts";
import type { Options } from "./options.ts";

const Tokens = z.array(z.number().int());
const EmbeddingsRequest = z.looseObject({
  model: z.string().describe("the agent's name"),
  input: z.union([z.string(), z.array(z.string()).min(1), Tokens.min(1), z.array(Tokens).min(1)]),
  encoding_format: z.enum(["float", "base64"]).nullish(),
  dimensions: z.number().int().positive().nullish(),
});
type EmbeddingsRequest = z.output<typeof EmbeddingsRequest>;

const carried: ReadonlySet<string> = new Set(["model", "input", "encoding_format", "dimensions"]);

/** `POST /embeddings`: vectors from the agent's model. */
export function mountEmbeddings(host: ChannelHost<FastifyInstance>, { compat }: Options): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  const schema = { summary: "Embeddings by an agent's model", tags: ["openai"], body: EmbeddingsRequest };
  server.post("/embeddings", { schema }, async (request, reply) => {
    const { body } = request;
    const { vectors, usage, warnings, cost } = await host.runsFor(request).embed({
      agent: body.model,
      input: inputsOf(body.input),
      compat,
      ...(body.dimensions == null ? {} : { dimensions: body.dimensions }),
      ...nativeOf(chatWire, body, { carried }),
    });
    if (warnings.length > 0) reply.header(warningsHeader, warningsText(warnings));
    const encoded = body.encoding_format === "base64" ? base64 : (vector: readonly number[]) => vector;
    const tokens = usage.inputTokens ?? 0;
    return {
      object: "list",
      model: body.model,
      data: vectors.map((vector, index) => ({ object: "embedding", index, embedding: encoded(vector) })),
      usage: { prompt_tokens: tokens, total_tokens: tokens, ...(cost === undefined ? {} : { cost }) },
    };
  });
}

function inputsOf(input: EmbeddingsRequest["input"]): (string | number[])[] {
  if (typeof input === "string") return [input];
  return typeof input[0] === "number" ? [input as number[]] : (input as string[] | number[][]); // Homogeneous by the schema.
}

/** Little-endian 32-bit floats, as in the API. */
const base64 = (vector: readonly number[]): string => {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString("base64");
};
