import "reflect-metadata";
import { inject, injectable } from "tsyringe";
import { VenturiError } from "../../core/errors/errors.ts";
import { costOf } from "../../core/model/prices.ts";
import { checkedUsage } from "../../core/model/usage.ts";
import { Clock } from "../../core/ports/clock.ts";
import { Log } from "../../core/ports/log.ts";
import { type Embedder, type MemoryRegistry, Notes } from "../../core/ports/notes.ts";
import { ProviderRegistry } from "../../core/ports/registries.ts";
import { Telemetry } from "../../core/ports/telemetry.ts";
import { defaultModel } from "../config/agents.ts";
import type { MemoryEntry } from "../config/entries.ts";
import { Config } from "../config/load.ts";
import { splitModel } from "../config/references.ts";
import { priceBook } from "../money/price-book.ts";
import { Instances } from "./instances.ts";

/** The stores under `memories`, with the models that embed their notes. */
@injectable()
export class Memories implements MemoryRegistry {
  readonly #memories = new Map<string, Notes>();
  readonly #config: Config;
  readonly #instances: Instances;
  readonly #providers: ProviderRegistry;
  readonly #telemetry: Telemetry;
  readonly #log: Log;
  readonly #clock: Clock;

  constructor(
    @inject(Config) config: Config,
    @inject(Instances) instances: Instances,
    @inject(ProviderRegistry) providers: ProviderRegistry,
    @inject(Telemetry) telemetry: Telemetry,
    @inject(Log) log: Log,
    @inject(Clock) clock: Clock,
  ) {
    this.#config = config;
    this.#instances = instances;
    this.#providers = providers;
    this.#telemetry = telemetry;
    this.#log = log;
    this.#clock = clock;
  }

  names(): readonly string[] {
    return [...this.#memories.keys()];
  }

  get(name: string): Notes | undefined {
    return this.#memories.get(name);
  }

  async open(): Promise<void> {
    for (const entry of Object.values(this.#config.memories)) {
      const store = this.#telemetry.memory(entry.name, await this.#instances.make("memory", entry));
      const { name, longest, most, near, timeout } = entry;
      const bounds = { longest, most, near, timeout };
      this.#memories.set(name, new Notes(name, store, { bounds, clock: this.#clock, ...this.#embedderOf(entry) }));
    }
  }

  #embedderOf({ name, embed: model }: MemoryEntry): { embedder?: Embedder } {
    if (model === undefined) return {};
    const target = splitModel(model);
    const provider = this.#providers.get(target.provider);
    if (provider?.embed === undefined) {
      const message = `memories.${name}.embed: ${model} makes no embeddings; choose a provider that does: openai, gemini, ollama`;
      throw new VenturiError("memory.open", "config_invalid", message);
    }
    const { embed } = provider;
    const priceOf = priceBook(this.#config, this.#log);
    const { timeout } = defaultModel;
    const timeouts = { ...timeout, firstChunk: timeout.firstChunk ?? timeout.idle };
    return {
      embedder: {
        model,
        async embed(input, signal) {
          const context = { run: "", round: 0, attempt: 1, agent: "", signal, timeouts };
          const made = await embed.call(provider, { model: target.model, input }, context);
          if (!made.vectors.every((vector) => vector.every(Number.isFinite))) {
            const message = `${model} answered with a vector that is not made of numbers`;
            throw new VenturiError("provider.embed", "llm_error", message);
          }
          const usage = checkedUsage(made.usage);
          const cost = costOf(usage, priceOf(model));
          return { ...made, usage, ...(cost === undefined ? {} : { cost }) };
        },
      },
    };
  }
}
