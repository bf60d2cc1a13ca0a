import { type Embeddings, type EmbedRequest, list, record, VenturiError } from "venturi/plugin";

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
  const vectors = list(record(json).embeddings).map((each) => list(record(each).values).map(Number));
  if (vectors.length === 0) throw new VenturiError(op, "llm_error", "the provider's answer has no embeddings");
  return { vectors, usage: {} };
}
