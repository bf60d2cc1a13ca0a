import type { Attributes, SpanContext } from "@opentelemetry/api";
import type { ChunkKind } from "../../core/model/deltas.ts";
import type { Usage } from "../../core/model/usage.ts";
import { attributes, labels, providerName } from "../base/names.ts";
import type { Distribution } from "../metrics/distribution.ts";
import type { AttributeSets, Instruments } from "../metrics/instruments.ts";
import type { Count } from "../metrics/meter.ts";
import { chunkKinds } from "../otlp/rows.ts";

/** Callers name models and tenants, so the cache is bounded. */
const mostModels = 5_000;

interface ModelSets {
  readonly all: Attributes;
  readonly input: Attributes;
  readonly output: Attributes;
  readonly cacheRead: Attributes;
  readonly cacheWrite: Attributes;
}

/** Attributes of the caller that a generation is counted for. */
interface Caller {
  readonly model: string;
  readonly agent?: string;
  readonly tenant?: string | undefined;
}

interface Figures {
  readonly error: string | undefined;
  readonly seconds: number;
  readonly firstChunk: number | undefined;
  readonly usage: Usage | undefined;
  readonly within: SpanContext;
}

/** Metrics of one provider, with its chunk series cached. */
export class ProviderMetrics {
  /** The conventions' name. */
  readonly name: string;
  /** Name in the config. */
  readonly key: string;
  readonly server: Attributes;
  /** Attributes shared by its series. */
  readonly who: Readonly<Record<string, string | undefined>>;
  readonly accumulated: Distribution;
  readonly #instruments: Instruments;
  readonly #sets: AttributeSets;
  /** The series of each kind of chunk, and the kind's number. */
  readonly ofKind: Readonly<Record<ChunkKind, { index: number; chunks: Count; bytes: Count }>>;
  readonly #between = new Map<string, Distribution>();
  readonly #models = new Map<string, ModelSets>();

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
    // Many endpoints speak OpenAI's format; the key and the address distinguish them.
    const address = provider.server[attributes.serverAddress];
    this.who = {
      [attributes.provider]: this.name,
      [attributes.providerKey]: provider.key,
      [attributes.serverAddress]: address === undefined ? undefined : String(address),
    };
    const series = chunkKinds.map((kind, index) => {
      const set = sets.of({ ...this.who, [labels.kind]: kind });
      return [kind, { index, chunks: instruments.chunks(set), bytes: instruments.chunkBytes(set) }];
    });
    this.ofKind = Object.fromEntries(series); // Its keys are all kinds.
    this.accumulated = instruments.accumulateDuration;
  }

  between(model: string): Distribution {
    let series = this.#between.get(model);
    if (series === undefined) {
      series = this.#instruments.timePerOutputChunk(this.#setsOf({ model }, undefined).all);
      this.#between.set(model, series);
    }
    return series;
  }

  quirk(name: string): void {
    this.#instruments.quirks(this.#sets.of({ ...this.who, [labels.quirk]: name })).value++;
  }

  generation(caller: Caller, { error, seconds, firstChunk, usage, within }: Figures): void {
    const { operationDuration, timeToFirstChunk, tokenUsage } = this.#instruments;
    const { all, input, output, cacheRead, cacheWrite } = this.#setsOf(caller, error);
    operationDuration(all).record(seconds, within);
    if (firstChunk !== undefined) timeToFirstChunk(all).record(firstChunk, within);
    if (usage?.inputTokens !== undefined) tokenUsage(input).record(usage.inputTokens, within);
    if (usage?.outputTokens !== undefined) tokenUsage(output).record(usage.outputTokens, within);
    if (usage?.cacheReadTokens !== undefined) tokenUsage(cacheRead).record(usage.cacheReadTokens);
    if (usage?.cacheWriteTokens !== undefined) tokenUsage(cacheWrite).record(usage.cacheWriteTokens);
  }

  #setsOf({ model, agent, tenant }: Caller, error: string | undefined): ModelSets {
    const key = [error, agent, tenant, model].join(" ");
    let known = this.#models.get(key);
    if (known === undefined) {
      const pairs = {
        [attributes.operation]: "chat",
        ...this.who,
        [attributes.requestModel]: model,
        [attributes.agent]: agent,
        [attributes.tenant]: tenant,
        [attributes.errorType]: error,
      };
      known = {
        all: this.#sets.of(pairs),
        input: this.#sets.of({ ...pairs, [attributes.tokenType]: "input" }),
        output: this.#sets.of({ ...pairs, [attributes.tokenType]: "output" }),
        // Part of the input, not in addition to it.
        cacheRead: this.#sets.of({ ...pairs, [attributes.tokenType]: "cache_read" }),
        cacheWrite: this.#sets.of({ ...pairs, [attributes.tokenType]: "cache_write" }),
      };
      if (this.#models.size < mostModels) this.#models.set(key, known);
    }
    return known;
  }
}
