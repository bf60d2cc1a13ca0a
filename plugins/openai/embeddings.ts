import { withFields } from "venturi/internal";
import { type Embeddings, type EmbedRequest, VenturiError } from "venturi/plugin";
import { asCount, asList, asRecord } from "venturi/plugin/provider";

/** Vectors as numbers: half the compatible servers support no other encoding. */
export function embeddingsBody({ model, input, dimensions, native }: EmbedRequest): Record<string, unknown> {
  const body = { model, input, ...(dimensions === undefined ? {} : { dimensions }) };
  return { ...withFields(body, native), encoding_format: "float" };
}

export function embeddingsOf(json: unknown): Embeddings {
  const { data, usage } = asRecord(json);
  const vectors = asList(data)
    .map(asRecord)
    .toSorted((left, right) => Number(left.index ?? 0) - Number(right.index ?? 0))
    .map(({ embedding }) => asList(embedding).map(Number));
  if (vectors.length === 0) {
    throw new VenturiError("provider.embed", "llm_error", "the provider's answer has no embeddings");
  }
  const tokens = asCount(asRecord(usage).prompt_tokens);
  return { vectors, usage: tokens === undefined ? {} : { inputTokens: tokens } };
}
