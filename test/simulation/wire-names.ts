/** Alone, without the product's code: that is loaded once faults are planted in it. */
export const wireNames = ["openai", "openai-responses", "anthropic", "gemini", "gemini, one array", "ollama"] as const;
export type WireName = (typeof wireNames)[number];
