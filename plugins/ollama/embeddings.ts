import { type Embeddings, type EmbedRequest, VenturiError } from "venturi/plugin";
import { asCount, asList, asRecord } from "venturi/plugin/provider";

const op = "provider.embed";

export function embeddingsBody({ model, input, dimensions }: EmbedRequest): Record<string, unknown> {
  if (input.some((text) => typeof text !== "string")) {
    throw new VenturiError(op, "invalid_input", "ollama embeds texts, not tokens; send the text itself");
  }
  return { model, input, ...(dimensions === undefined ? {} : { dimensions }) };
}

export function embeddingsOf(json: unknown): Embeddings {
  const { embeddings, prompt_eval_count } = asRecord(json);
  const tokens = asCount(prompt_eval_count);
  const vectors = asList(embeddings).map((each) => asList(each).map(Number));
  if (vectors.length === 0) throw new VenturiError(op, "llm_error", "the provider's answer has no embeddings");
  return { vectors, usage: tokens === undefined ? {} : { inputTokens: tokens } };
}
