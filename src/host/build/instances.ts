import "reflect-metadata";
import { inject, injectable } from "tsyringe";
import { messageOf, VenturiError } from "../../core/errors/errors.ts";
import { Clock } from "../../core/ports/clock.ts";
import { type Hooks, nameHooks } from "../../core/ports/hooks.ts";
import { Log } from "../../core/ports/log.ts";
import type { AnyPlugin, Instance, PluginContext, PluginKind, Ports } from "../../core/ports/plugin.ts";
import { Runs } from "../../core/ports/runs.ts";
import { token } from "../../core/values/token.ts";
import type { PluginEntry } from "../config/entries.ts";
import { Config } from "../config/load.ts";
import { forPlugins } from "./plugin-ports.ts";

/** A plugin that takes longer to start counts as hung. */
const patience = 60_000;
/** One that takes longer to close is left behind: the others are closed, and the process can end. */
const closePatience = 8_000;

/** Deferred access to `Runs`: plugins are created before it. */
export type RunsLater = () => Runs;
export const RunsLater = token<RunsLater>("RunsLater");

/** Resolves tokens from the container a plugin is created in. */
export type Resolve = PluginContext["resolve"];
export const Resolve = token<Resolve>("Resolve");

/** Whether this process ends after one command. */
export const ShortLived = token<boolean>("ShortLived");

/** Creates plugin instances in sequence and closes them in reverse order. */
@injectable()
export class Instances {
  readonly #open: { readonly entry: PluginEntry; readonly instance: Instance<object> }[] = [];
  /** Wire names of the plugins that entries delegate to. */
  readonly #borrowedWires = new Map<PluginEntry, string>();
  readonly #config: Config;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #runs: RunsLater;
  readonly #resolve: Resolve;
  readonly #shortLived: boolean;

  constructor(
    @inject(Config) config: Config,
    @inject(Log) log: Log,
    @inject(Clock) clock: Clock,
    @inject(RunsLater) runs: RunsLater,
    @inject(Resolve) resolve: Resolve,
    @inject(ShortLived) shortLived: boolean,
  ) {
    this.#config = config;
    this.#log = log;
    this.#clock = clock;
    this.#runs = runs;
    this.#resolve = resolve;
    this.#shortLived = shortLived;
  }

  /** Rejects with a `plugin_failed` that names the plugin and its key. */
  async make<K extends PluginKind>(_kind: K, entry: PluginEntry): Promise<Instance<Ports[K]>> {
    const { plugin } = entry.loaded;
    try {
      const making = Promise.resolve(plugin.create(entry.options as never, this.#context(entry))); // Checked by its schema.
      const late = { ms: patience, what: "ready", givenUp: () => void making.then(closeLate, () => {}) };
      const instance = (await this.#inTime(making, late)) as Instance<Ports[K]>; // The config checked the plugin's kind.
      if (typeof instance !== "object" || instance === null) throw new Error("create returned nothing");
      this.#open.push({ entry, instance });
      return instance;
    } catch (thrown) {
      throw failed("plugin.create", entry, thrown);
    }
  }

  /** The wire format of an entry's provider: its plugin's, or that of the plugin it builds on. */
  wireOf(entry: PluginEntry): string {
    return wireIn(entry.loaded.plugin) ?? this.#borrowedWires.get(entry) ?? entry.type;
  }

  get hooks(): Hooks[] {
    return this.#open.flatMap(({ entry, instance }) =>
      instance.hooks === undefined ? [] : [nameHooks(instance.hooks, `the plugin ${entry.name}`)],
    );
  }

  /** Closes every instance even if some fail; then throws the failures. */
  async close(): Promise<void> {
    const failures: VenturiError[] = [];
    for (const { entry, instance } of this.#open.splice(0).reverse()) {
      try {
        await this.#inTime(Promise.resolve(instance.close?.()), { ms: closePatience, what: "closed" });
      } catch (thrown) {
        failures.push(failed("plugin.close", entry, thrown));
      }
    }
    for (const failure of failures) this.#log.error("plugin.close", { code: failure.code, error: failure.message });
    if (failures[0] !== undefined) throw failures[0];
  }

  #context(entry: PluginEntry): PluginContext {
    const { loader, folder } = this.#config;
    return {
      name: entry.name,
      folder,
      log: this.#log,
      clock: this.#clock,
      shortLived: this.#shortLived,
      runs: () => forPlugins(Runs, this.#runs()),
      resolve: (token) => forPlugins(token, this.#resolve(token)),
      plugin: async (wanted) => {
        const { plugin } = await loader.get(wanted);
        const wire = wireIn(plugin);
        if (wire !== undefined) this.#borrowedWires.set(entry, wire);
        return plugin;
      },
    };
  }

  async #inTime<T>(work: Promise<T>, { ms, what, givenUp }: Late): Promise<T> {
    let stop = () => {};
    const late = new Promise<never>((_, reject) => {
      stop = this.#clock.after(ms, () => {
        reject(new Error(`not ${what} after ${ms / 1000} s`));
        givenUp?.();
      });
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      stop();
    }
  }
}

/** How long a plugin may take to be `what`, and what is done when it was not. */
interface Late {
  readonly ms: number;
  readonly what: string;
  readonly givenUp?: () => void;
}

/** Closes an instance that arrives after the timeout. */
const closeLate = async (instance: Instance<object>): Promise<void> => {
  await Promise.resolve(instance.close?.()).catch(() => {});
};

const wireIn = (plugin: AnyPlugin): string | undefined => Object.keys(plugin.wires ?? {})[0];

function failed(op: string, { name, type }: PluginEntry, thrown: unknown): VenturiError {
  const what = name === type ? `plugin ${type}` : `plugin ${type} (${name})`;
  const code = VenturiError.isInstance(thrown) ? thrown.code : "plugin_failed";
  const details = { plugin: type, name, ...(code === "plugin_failed" ? {} : { code }) };
  return new VenturiError(op, "plugin_failed", `${what}: ${messageOf(thrown)}`, { cause: thrown, details });
}
