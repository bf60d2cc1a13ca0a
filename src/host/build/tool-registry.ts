import "reflect-metadata";
import { inject, injectable } from "tsyringe";
import { Log } from "../../core/ports/log.ts";
import type { ToolRegistry } from "../../core/ports/registries.ts";
import { Telemetry } from "../../core/ports/telemetry.ts";
import type { Tool } from "../../core/ports/tool.ts";
import { Config } from "../config/load.ts";
import { Instances } from "./instances.ts";
import { toolsOf } from "./tools.ts";

@injectable()
export class Tools implements ToolRegistry {
  readonly #tools = new Map<string, () => readonly Tool[]>();
  readonly #config: Config;
  readonly #instances: Instances;
  readonly #measured: { readonly telemetry: Telemetry; readonly log: Log };

  constructor(
    @inject(Config) config: Config,
    @inject(Instances) instances: Instances,
    @inject(Telemetry) telemetry: Telemetry,
    @inject(Log) log: Log,
  ) {
    this.#config = config;
    this.#instances = instances;
    this.#measured = { telemetry, log };
  }

  names(): readonly string[] {
    return [...this.#tools.keys()];
  }

  get(name: string): (() => readonly Tool[]) | undefined {
    return this.#tools.get(name);
  }

  async open(): Promise<void> {
    for (const entry of Object.values(this.#config.tools)) {
      this.#tools.set(entry.name, toolsOf(entry, await this.#instances.make("tool", entry), this.#measured));
    }
  }
}
