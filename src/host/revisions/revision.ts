import "reflect-metadata";
import { inject, injectable } from "tsyringe";
import type { AgentDefinition } from "../../agent/run/definition.ts";
import { Journal } from "../../core/journal/journal.ts";
import type { PriceOf } from "../../core/model/prices.ts";
import { Clock } from "../../core/ports/clock.ts";
import type { ActiveGuard } from "../../core/ports/guard.ts";
import { Log } from "../../core/ports/log.ts";
import { MemoryRegistry } from "../../core/ports/notes.ts";
import { StreamPipelines } from "../../core/ports/pipeline.ts";
import { ProviderRegistry, ToolRegistry } from "../../core/ports/registries.ts";
import { Telemetry } from "../../core/ports/telemetry.ts";
import { buildAgents } from "../build/agents.ts";
import { Instances } from "../build/instances.ts";
import { Config } from "../config/load.ts";
import { Budgets } from "../money/budgets.ts";
import { priceBook } from "../money/price-book.ts";

/**
 * Everything built from one load of the config: providers, tools and agents. A run holds its revision until it ends; a replaced
 * revision closes its plugins when the last run releases it.
 */
@injectable()
export class ConfigRevision {
  readonly config: Config;
  /** Price of each model. */
  readonly priceOf: PriceOf;
  readonly budgets: Budgets;
  /** Pipelines of the runs that hold this revision. */
  readonly pipelines: StreamPipelines;
  readonly #instances: Instances;
  readonly #providers: ProviderRegistry;
  readonly #tools: ToolRegistry;
  readonly memories: MemoryRegistry;
  readonly #telemetry: Telemetry;
  readonly #log: Log;
  readonly #journal: Journal;
  readonly #clock: Clock;
  #agents: ReadonlyMap<string, AgentDefinition> = new Map();
  #held = 0;
  #retired = false;
  #closing = false;
  readonly #closed = Promise.withResolvers<void>();

  constructor(
    @inject(Config) config: Config,
    @inject(Instances) instances: Instances,
    @inject(ProviderRegistry) providers: ProviderRegistry,
    @inject(ToolRegistry) tools: ToolRegistry,
    @inject(MemoryRegistry) memories: MemoryRegistry,
    @inject(StreamPipelines) pipelines: StreamPipelines,
    @inject(Telemetry) telemetry: Telemetry,
    @inject(Log) log: Log,
    @inject(Journal) journal: Journal,
    @inject(Clock) clock: Clock,
  ) {
    this.config = config;
    this.priceOf = priceBook(config, log);
    this.budgets = new Budgets({
      budgets: config.budgets,
      models: config.models,
      priceOf: this.priceOf,
      telemetry,
      log,
    });
    this.#instances = instances;
    this.#providers = providers;
    this.#tools = tools;
    this.memories = memories;
    this.pipelines = pipelines;
    this.#telemetry = telemetry;
    this.#log = log;
    this.#journal = journal;
    this.#clock = clock;
    // Avoids an unhandledRejection; whoever retires the revision awaits this promise.
    this.#closed.promise.catch(() => {});
  }

  /** Creates the plugin instances; if one fails, closes those already created. */
  async open(): Promise<this> {
    try {
      const { config } = this;
      await this.#providers.open?.();
      await this.memories.open?.();
      await this.#tools.open?.();
      const { hooks } = this.#instances;
      this.#agents = buildAgents({
        config,
        providers: this.#providers,
        tools: this.#tools,
        memories: this.memories,
        hooks,
        guards: await this.#guards(),
        telemetry: this.#telemetry,
        log: this.#log,
        journal: this.#journal,
        clock: this.#clock,
      });
      return this;
    } catch (thrown) {
      await this.#instances.close().catch(() => {}); // Report the first failure; closing has logged its own.
      throw thrown;
    }
  }

  async #guards(): Promise<ReadonlyMap<string, ActiveGuard>> {
    const guards = new Map<string, ActiveGuard>();
    for (const entry of Object.values(this.config.guards)) {
      const { name, input, arguments: ofArguments, results, output } = entry;
      const guard = await this.#instances.make("guard", entry);
      guards.set(name, { name, guard, actions: { input, arguments: ofArguments, results, output } });
    }
    return guards;
  }

  get agents(): ReadonlyMap<string, AgentDefinition> {
    return this.#agents;
  }

  /** Number of runs holding it. */
  get held(): number {
    return this.#held;
  }

  /** Holds the revision; the returned function releases it and may be called repeatedly. */
  acquire(): () => void {
    this.#held++;
    let holding = true;
    return () => {
      if (!holding) return;
      holding = false;
      this.#held--;
      this.#closeWhenFree();
    };
  }

  /** Resolves when the last run has released it and the plugins are closed. */
  retire(): Promise<void> {
    if (!this.#retired) {
      this.#retired = true;
      this.#closeWhenFree();
    }
    return this.#closed.promise;
  }

  /** Closes the plugins even if runs hold them: the process is exiting. */
  close(): Promise<void> {
    this.#retired = true;
    this.#close();
    return this.#closed.promise;
  }

  #closeWhenFree(): void {
    if (this.#retired && this.#held === 0) this.#close();
  }

  #close(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#instances.close().then(this.#closed.resolve, this.#closed.reject);
  }
}
