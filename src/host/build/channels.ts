import "reflect-metadata";
import { inject, injectable } from "tsyringe";
import type { Channel } from "../../core/ports/channel.ts";
import type { ChannelRegistry } from "../../core/ports/registries.ts";
import { Config } from "../config/load.ts";
import { Instances } from "./instances.ts";

/** The channels, in config order. They live as long as the server they are mounted on. */
@injectable()
export class Channels implements ChannelRegistry {
  readonly #channels = new Map<string, Channel>();
  readonly #config: Config;
  readonly #instances: Instances;

  constructor(@inject(Config) config: Config, @inject(Instances) instances: Instances) {
    this.#config = config;
    this.#instances = instances;
  }

  names(): readonly string[] {
    return [...this.#channels.keys()];
  }

  get(name: string): Channel | undefined {
    return this.#channels.get(name);
  }

  async open(): Promise<void> {
    for (const entry of Object.values(this.#config.channels)) {
      this.#channels.set(entry.name, await this.#instances.make("channel", entry));
    }
  }
}
