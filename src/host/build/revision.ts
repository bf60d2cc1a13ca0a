import "reflect-metadata";
import { inject, injectable } from "tsyringe";
import type { AgentDefinition } from "../../agent/definition.ts";
import { Log } from "../../core/log.ts";
import { StreamPipelines } from "../../core/pipeline.ts";
import { ProviderRegistry, ToolRegistry } from "../../core/registries.ts";
import { Config } from "../config/load.ts";
import { buildAgents } from "./agents.ts";
import { Instances } from "./instances.ts";

/**
 * Everything that one reading of the config made: providers, tools and agents. A run holds the revision it started
 * with until it ends; a revision that has been replaced closes its plugins when the last run lets go.
 */
@injectable()
export class ConfigRevision {
  readonly config: Config;
  /** For the runs that hold it. */
  readonly pipelines: StreamPipelines;
  readonly #instances: Instances;
  readonly #providers: ProviderRegistry;
  readonly #tools: ToolRegistry;
  readonly #log: Log;
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
    @inject(StreamPipelines) pipelines: StreamPipelines,
    @inject(Log) log: Log,
  ) {
    this.config = config;
    this.#instances = instances;
    this.#providers = providers;
    this.#tools = tools;
    this.pipelines = pipelines;
    this.#log = log;
    // Whoever retires it waits for this; a failure to close must not end the process when nobody does.
    this.#closed.promise.catch(() => {});
  }

  /** Makes the plugins' instances; what was made is closed again when one of them fails. */
  async open(): Promise<this> {
    try {
      const { config } = this;
      await this.#providers.open?.();
      await this.#tools.open?.();
      const { hooks } = this.#instances;
      this.#agents = buildAgents({ config, providers: this.#providers, tools: this.#tools, hooks, log: this.#log });
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
}
