import type { Attributes } from "@opentelemetry/api";
import type { ChunkKind } from "../core/provider.ts";
import type { Usage } from "../core/usage.ts";
import { chunkKinds } from "./columns.ts";
import type { AttributeSets, Instruments } from "./instruments.ts";
import { attributes, labels, providerName } from "./names.ts";
import type { Count, Distribution } from "./tally.ts";

const kindIndexes = Object.fromEntries(chunkKinds.map((kind, index) => [kind, index])) as Record<ChunkKind, number>; // the keys are the kinds

/** The figures of one provider, with the series of its chunks at hand. */
export class ProviderMetrics {
  /** As the conventions name it. */
  readonly name: string;
  /** As the config names it. */
  readonly key: string;
  readonly server: Attributes;
  readonly accumulated: Distribution;
  readonly #instruments: Instruments;
  readonly #sets: AttributeSets;
  readonly #chunks: Count[];
  readonly #bytes: Count[];
  readonly #between = new Map<string, Distribution>();

  constructor(
    instruments: Instruments,
    sets: AttributeSets,
    provider: { key: string; type: string; server: Attributes },
  ) {
    this.name = providerName(provider.type);
    this.key = provider.key;
    this.server = provider.server;
    this.#instruments = instruments;
    this.#sets = sets;
    const ofKind = (kind: string) => sets.of({ [attributes.provider]: this.name, [labels.kind]: kind });
    this.#chunks = chunkKinds.map((kind) => instruments.chunks(ofKind(kind)));
    this.#bytes = chunkKinds.map((kind) => instruments.chunkBytes(ofKind(kind)));
    this.accumulated = instruments.accumulateDuration(sets.of({}));
  }

  /** Counts a chunk; answers the kind's number. */
  chunk(kind: ChunkKind, bytes: number): number {
    const index = kindIndexes[kind];
    const chunks = this.#chunks[index];
    const size = this.#bytes[index];
    if (chunks !== undefined) chunks.value++;
    if (size !== undefined) size.value += bytes;
    return index;
  }

  between(model: string): Distribution {
    let series = this.#between.get(model);
    if (series === undefined) {
      series = this.#instruments.timePerOutputChunk(this.#setOf(model, undefined));
      this.#between.set(model, series);
    }
    return series;
  }

  quirk(name: string): void {
    this.#instruments.quirks.add(1, this.#sets.of({ [attributes.provider]: this.name, [labels.quirk]: name }));
  }

  generation(
    model: string,
    error: string | undefined,
    figures: { seconds: number; firstChunk: number | undefined; usage: Usage | undefined },
  ): void {
    const set = this.#setOf(model, error);
    this.#instruments.operationDuration.record(figures.seconds, set);
    if (figures.firstChunk !== undefined) this.#instruments.timeToFirstChunk.record(figures.firstChunk, set);
    this.#tokens(model, error, "input", figures.usage?.inputTokens);
    this.#tokens(model, error, "output", figures.usage?.outputTokens);
  }

  #tokens(model: string, error: string | undefined, type: string, tokens: number | undefined): void {
    if (tokens === undefined) return;
    const set = this.#sets.of({ ...this.#pairs(model, error), [attributes.tokenType]: type });
    this.#instruments.tokenUsage.record(tokens, set);
  }

  #setOf(model: string, error: string | undefined): Attributes {
    return this.#sets.of(this.#pairs(model, error));
  }

  #pairs(model: string, error: string | undefined) {
    return {
      [attributes.operation]: "chat",
      [attributes.provider]: this.name,
      [attributes.requestModel]: model,
      [attributes.errorType]: error,
    };
  }
}
