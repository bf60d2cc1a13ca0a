import type { z } from "zod";
import { VenturiError } from "../errors/errors.ts";
import type { Journal } from "../journal/journal.ts";
import type { Delta } from "../model/deltas.ts";
import type { Provider } from "../model/provider.ts";
import type { ProjectedRun, Projection } from "../run/projection.ts";
import type { Token } from "../values/token.ts";
import type { Channel } from "./channel.ts";
import type { Clock } from "./clock.ts";
import type { ContentGuard } from "./guard.ts";
import type { Hooks } from "./hooks.ts";
import type { Log } from "./log.ts";
import type { MemoryStore } from "./memory.ts";
import type { Runs } from "./runs.ts";
import type { Tool, ToolSource } from "./tool.ts";

export interface Ports<Server = unknown> {
  provider: Provider;
  tool: Tool | ToolSource;
  channel: Channel<Server>;
  journal: Journal;
  guard: ContentGuard;
  memory: MemoryStore;
}
export type PluginKind = keyof Ports;

export interface PluginContext {
  /** This instance's key in the config. */
  readonly name: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Folder of the config file; relative paths in options are relative to it. */
  readonly folder: string;
  /** The process ends after one command: a thread or a pool that pays off only in a longer life need not start. */
  readonly shortLived?: boolean;
  /** For tools that start runs. Not available before `create` has returned. */
  readonly runs: () => Runs;
  /**
   * Resolves from the container: `ProviderRegistry`, `ToolRegistry`, `ChannelRegistry`, `StreamPipelines`, `MemoryRegistry`, `Journal`, `Runs`,
   * `Telemetry`, `Clock`, `Log`. Registries fill while the config is built, so look entries up on use.
   */
  resolve<T>(token: Token<T>): T;
  /** Another built-in plugin, to build on. */
  plugin(name: string): Promise<AnyPlugin>;
}

/** What is known of the config during validation. */
export interface CheckContext {
  /** The instance's key in the config. */
  readonly name: string;
  readonly folder: string;
  readonly agents: readonly string[];
  /** Entries of `memories`. */
  readonly memories?: readonly string[];
  /** Number of processes the service runs in (`server.processes`). */
  readonly processes: number;
}

/** A problem with one of a plugin's options. */
export interface OptionProblem {
  /** Path within the options; empty for the entry as a whole. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export type Instance<Port> = Port & { close?(): Promise<void> | void; hooks?: Hooks };

/** One frame of a wire: the payload of an SSE event, an NDJSON line, a message of an AWS event stream. */
export interface Frame {
  readonly data: string;
  /** SSE `event:` name, or AWS's `:event-type`; "" when there is none. */
  readonly event: string;
}

/** Frames in, deltas out; no I/O, no clock. One instance per generation, since wires spread a call over many frames. */
export interface Decoder {
  push(frame: Frame, out: Delta[]): void;
  /** End of input: emits `done`, or an `error` delta when the format's terminator is missing. */
  end(out: Delta[]): void;
  /** Deviations tolerated so far, by name. */
  readonly quirks: ReadonlyMap<string, number>;
}

export interface Wire {
  readonly framing: "sse" | "ndjson" | "json-array" | "aws-event-stream";
  decoder(): Decoder;
}

/** Version of the plugin contract. Incremented when existing plugins would break. */
export const pluginApi = 1;

export interface Plugin<K extends PluginKind = PluginKind, Options = never, Server = unknown> {
  /** The `pluginApi` it was written for, set by `definePlugin`. */
  readonly api: number;
  readonly name: string;
  readonly kind: K;
  readonly description?: string;
  readonly options: z.ZodType<Options>;
  /** Further plugins in the same package, such as those sharing a dependency. */
  readonly also?: readonly AnyPlugin[];
  /** Wire formats offered by `venturi decode`, by name. */
  readonly wires?: Readonly<Record<string, Wire>>;
  /** For channels: projects a run to the channel's wire, for responses that a program sends itself. */
  readonly projection?: (run: ProjectedRun) => Projection;
  /** Validates options beyond the schema, as far as possible before the service starts. */
  check?(options: Options, context: CheckContext): Promise<readonly OptionProblem[]> | readonly OptionProblem[];
  create(options: Options, context: PluginContext): Promise<Instance<Ports<Server>[K]>> | Instance<Ports<Server>[K]>;
}

/** A plugin of unknown option type, as the loader holds it. */
export type AnyPlugin = Plugin<PluginKind, never>;

const pluginName = /^[a-z][a-z0-9-]*$/;

export function definePlugin<K extends PluginKind, Schema extends z.ZodType, Server = unknown>(definition: {
  readonly name: string;
  readonly kind: K;
  readonly description?: string;
  readonly options: Schema;
  readonly also?: readonly AnyPlugin[];
  readonly wires?: Readonly<Record<string, Wire>>;
  readonly projection?: (run: ProjectedRun) => Projection;
  check?(
    options: z.output<Schema>,
    context: CheckContext,
  ): Promise<readonly OptionProblem[]> | readonly OptionProblem[];
  create(
    options: z.output<Schema>,
    context: PluginContext,
  ): Promise<Instance<Ports<Server>[K]>> | Instance<Ports<Server>[K]>;
}): Plugin<K, z.output<Schema>, Server> {
  if (!pluginName.test(definition.name)) {
    throw new VenturiError(
      "plugin.define",
      "plugin_failed",
      `"${definition.name}" is not a valid plugin name; use a-z, 0-9 and -`,
    );
  }
  const plugin = { api: pluginApi, ...definition };
  return plugin as Plugin<K, z.output<Schema>, Server>; // By the signature above, the schema's output is what `create` takes.
}
