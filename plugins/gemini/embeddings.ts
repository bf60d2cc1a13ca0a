import { type Embeddings, type EmbedRequest, VenturiError } from "venturi/plugin";
import { asList, asRecord } from "venturi/plugin/provider";

const op = "provider.embed";

export function embeddingsBody({ model, input, dimensions }: EmbedRequest): Record<string, unknown> {
  const name = model.includes("/") ? model : `models/${model}`;
  const more = dimensions === undefined ? {} : { outputDimensionality: dimensions };
  return { requests: input.map((text) => ({ model: name, content: { parts: [{ text: textOf(text) }] }, ...more })) };
}

function textOf(input: string | readonly number[]): string {
  if (typeof input === "string") return input;
  throw new VenturiError(op, "invalid_input", "gemini embeds texts, not tokens; send the text itself");
}

export function embeddingsOf(json: unknown): Embeddings {
  const vectors = asList(asRecord(json).embeddings).map((each) => asList(asRecord(each).values).map(Number));
  if (vectors.length === 0) throw new VenturiError(op, "llm_error", "the provider's answer has no embeddings");
  return { vectors, usage: {} };
}
