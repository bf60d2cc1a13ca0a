import type { Usage } from "venturi/plugin";
import { asCount, asRecord } from "venturi/plugin/provider";

/**
 * Anthropic counts cached input separately from `input_tokens`; Venturi's `inputTokens` is everything the model read, so the
 * three are added. Figures are totals: later ones overwrite, missing ones are kept.
 */
export class UsageCounts {
  #input: number | undefined;
  #read: number | undefined;
  #written: number | undefined;
  #written1h: number | undefined;

  update(wire: unknown, source: "reported" | "partial"): Usage {
    const from = asRecord(wire);
    this.#input = asCount(from.input_tokens) ?? this.#input;
    this.#read = asCount(from.cache_read_input_tokens) ?? this.#read;
    this.#written = asCount(from.cache_creation_input_tokens) ?? this.#written;
    this.#written1h = asCount(asRecord(from.cache_creation).ephemeral_1h_input_tokens) ?? this.#written1h;
    const output = asCount(from.output_tokens);
    const thinking = asCount(asRecord(from.output_tokens_details).thinking_tokens);
    const usage: Usage = { source };
    if (this.#input !== undefined) usage.inputTokens = this.#input + (this.#read ?? 0) + (this.#written ?? 0);
    if (this.#read !== undefined) usage.cacheReadTokens = this.#read;
    if (this.#written !== undefined) usage.cacheWriteTokens = this.#written;
    // Zero is left out: most prompts are cached for five minutes.
    if (this.#written1h) usage.cacheWrite1hTokens = this.#written1h;
    if (output !== undefined) usage.outputTokens = output;
    if (thinking !== undefined) usage.reasoningTokens = thinking;
    return usage;
  }
}
