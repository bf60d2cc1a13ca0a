import "reflect-metadata";
import { inject, injectable } from "tsyringe";
import { Journal } from "../../core/journal/journal.ts";
import type { Provider } from "../../core/model/provider.ts";
import { Clock } from "../../core/ports/clock.ts";
import { Log } from "../../core/ports/log.ts";
import type { ProviderRegistry } from "../../core/ports/registries.ts";
import { Telemetry } from "../../core/ports/telemetry.ts";
import type { PluginEntry } from "../config/entries.ts";
import { Config } from "../config/load.ts";
import { keepWire } from "../recordings/keep-wire.ts";
import { Instances } from "./instances.ts";

@injectable()
export class Providers implements ProviderRegistry {
  readonly #providers = new Map<string, Provider>();
  readonly #config: Config;
  readonly #instances: Instances;
  readonly #telemetry: Telemetry;
  readonly #journal: Journal;
  readonly #log: Log;
  readonly #clock: Clock;

  constructor(
    @inject(Config) config: Config,
    @inject(Instances) instances: Instances,
    @inject(Telemetry) telemetry: Telemetry,
    @inject(Journal) journal: Journal,
    @inject(Log) log: Log,
    @inject(Clock) clock: Clock,
  ) {
    this.#config = config;
    this.#instances = instances;
    this.#telemetry = telemetry;
    this.#journal = journal;
    this.#log = log;
    this.#clock = clock;
  }

  names(): readonly string[] {
    return [...this.#providers.keys()];
  }

  get(name: string): Provider | undefined {
    return this.#providers.get(name);
  }

  async open(): Promise<void> {
    for (const entry of Object.values(this.#config.providers)) {
      const instance = await this.#instances.make("provider", entry);
      const measured = this.#telemetry.provider(entry.name, entry.type, instance);
      this.#providers.set(entry.name, this.#recorded(entry, measured));
    }
  }

  #recorded(entry: PluginEntry, provider: Provider): Provider {
    const { keepWire: which } = this.#config.journal;
    if (which === false) return provider;
    const wire = this.#instances.wireOf(entry);
    return keepWire(provider, { journal: this.#journal, wire, which, log: this.#log, clock: this.#clock });
  }
}
