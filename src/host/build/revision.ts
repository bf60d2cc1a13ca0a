import "reflect-metadata";
import { inject, injectable } from "tsyringe";
import type { AgentDefinition } from "../../agent/definition.ts";
import { Clock } from "../../core/clock.ts";
import { Journal } from "../../core/journal.ts";
import { Log } from "../../core/log.ts";
import type { Provider } from "../../core/provider.ts";
import { Telemetry } from "../../core/telemetry.ts";
import type { Tool } from "../../core/tool.ts";
import type { PluginEntry } from "../config/entries.ts";
import { Config } from "../config/load.ts";
import { keepWire } from "../recordings/keep-wire.ts";
import { buildAgents } from "./agents.ts";
import { Instances } from "./instances.ts";
import { toolsOf } from "./tools.ts";

/**
 * Everything that one reading of the config made: providers, tools and agents. A run holds the revision it started
 * with until it ends; a revision that has been replaced closes its plugins when the last run lets go.
 */
@injectable()
export class ConfigRevision {
  readonly config: Config;
  readonly #instances: Instances;
  readonly #telemetry: Telemetry;
  readonly #journal: Journal;
  readonly #log: Log;
  readonly #clock: Clock;
  #agents: ReadonlyMap<string, AgentDefinition> = new Map();
  #held = 0;
  #retired = false;
  #closing = false;
  readonly #closed = Promise.withResolvers<void>();

  constructor(
    @inject(Config) config: Config,
    @inject(Instances) instances: Instances,
    @inject(Telemetry) telemetry: Telemetry,
    @inject(Journal) journal: Journal,
    @inject(Log) log: Log,
    @inject(Clock) clock: Clock,
  ) {
    this.config = config;
    this.#instances = instances;
    this.#telemetry = telemetry;
    this.#journal = journal;
    this.#log = log;
    this.#clock = clock;
    // Whoever retires it waits for this; a failure to close must not end the process when nobody does.
    this.#closed.promise.catch(() => {});
  }

  /** Makes the plugins' instances; what was made is closed again when one of them fails. */
  async open(): Promise<this> {
    try {
      const providers = await this.#providers();
      const tools = await this.#tools();
      this.#agents = buildAgents({
        config: this.config,
        providers,
        tools,
        hooks: this.#instances.hooks,
        log: this.#log,
      });
      return this;
    } catch (thrown) {
      await this.#instances.close().catch(() => {}); // the first failure is the one to tell; closing has logged its own
      throw thrown;
    }
  }

  get agents(): ReadonlyMap<string, AgentDefinition> {
    return this.#agents;
  }

  /** How many runs hold it. */
  get held(): number {
    return this.#held;
  }

  /** Holds the revision; the result, called once or more, lets go. */
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

  /** Resolves when the last run has let go and the plugins are closed. */
  retire(): Promise<void> {
    if (!this.#retired) {
      this.#retired = true;
      this.#closeWhenFree();
    }
    return this.#closed.promise;
  }

  /** Closes the plugins whoever still holds them: the process is ending. */
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

  async #providers(): Promise<Map<string, Provider>> {
    const providers = new Map<string, Provider>();
    for (const entry of Object.values(this.config.providers)) {
      const instance = await this.#instances.make("provider", entry);
      providers.set(entry.name, this.#recorded(entry, this.#telemetry.provider(entry.name, entry.type, instance)));
    }
    return providers;
  }

  #recorded(entry: PluginEntry, provider: Provider): Provider {
    if (!this.config.journal.keepWire) return provider;
    return keepWire(provider, {
      journal: this.#journal,
      wire: this.#instances.wireOf(entry),
      log: this.#log,
      clock: this.#clock,
    });
  }

  async #tools(): Promise<Map<string, () => readonly Tool[]>> {
    const tools = new Map<string, () => readonly Tool[]>();
    for (const entry of Object.values(this.config.tools)) {
      tools.set(
        entry.name,
        toolsOf(entry, await this.#instances.make("tool", entry), { telemetry: this.#telemetry, log: this.#log }),
      );
    }
    return tools;
  }
}
