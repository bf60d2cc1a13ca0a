import { VenturiError } from "../core/errors/errors.ts";
import type * as options from "./plugin-options.ts";

/** A plugin with its options. Nothing is loaded before `openVenturi`. */
export interface PluginEntry<Kind extends "provider" | "tool" | "journal" | "channel" | "guard"> {
  readonly kind: Kind;
  readonly plugin: string;
  /** The entry's name, as a key of the configuration. */
  readonly name: string;
  readonly options: Readonly<Record<string, unknown>>;
}
export type ToolEntry = PluginEntry<"tool">;
export type JournalEntry = PluginEntry<"journal">;
export type GuardEntry = PluginEntry<"guard">;

/** A provider: `const claude = anthropic(); agent({ model: claude("claude-sonnet-4-5") })`. */
export interface ProviderEntry extends Omit<PluginEntry<"provider">, "name"> {
  (model: string, options?: ModelOptions): ModelRef;
  readonly entry: string;
}

/** Generation options; keys not listed here go into the vendor's request unchanged. */
export interface ModelOptions {
  readonly temperature?: number;
  readonly topP?: number;
  readonly maxTokens?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  readonly [key: string]: unknown;
}

/** One model of a provider, or several with failover. */
export interface ModelRef {
  readonly kind: "model";
  /** In the order they are tried. */
  readonly chain: readonly (string | { readonly provider: ProviderEntry; readonly model: string })[];
  readonly settings: Readonly<Record<string, unknown>>;
}

export interface ChainOptions {
  readonly failover?: "beforeFirstEvent" | "retract" | "never";
  readonly retry?: { readonly max?: number };
  readonly timeout?: {
    readonly connect?: number | string;
    readonly firstChunk?: number | string;
    readonly idle?: number | string;
    readonly total?: number | string;
  };
  readonly options?: ModelOptions;
  readonly toolOptions?: ModelOptions;
  readonly cache?: "auto" | "off" | "5m" | "1h";
  readonly contextTokens?: number;
  readonly choose?: "order" | "weighted" | "fastest" | "cheapest" | "leastBusy";
  readonly sticky?: boolean;
  /** Settings per model, by `provider/model`. */
  readonly members?: Readonly<
    Record<
      string,
      {
        readonly weight?: number;
        readonly contextTokens?: number;
        readonly concurrency?: number;
        readonly tokensPerMinute?: number;
      }
    >
  >;
  readonly hedge?: { readonly after: number | string };
}

/** Models tried in order: `provider/model` names, or models of providers. Generation options apply to the whole chain. */
export function chain(models: readonly (ModelRef | string)[], settings: ChainOptions = {}): ModelRef {
  if (models.some((model) => typeof model !== "string" && Object.keys(model.settings).length > 0)) {
    const message = "a model of a chain has no options of its own; give them once: chain([…], { options })";
    throw new VenturiError("model.define", "config_invalid", message);
  }
  return {
    kind: "model",
    chain: models.flatMap((model) => (typeof model === "string" ? [model] : model.chain)),
    settings: { ...settings },
  };
}

type Entered<Options> = Options & { readonly name?: string };

const provider =
  <Options extends object>(plugin: string) =>
  (given: Entered<Options> = {} as Entered<Options>): ProviderEntry => {
    const { name = plugin, ...options } = given;
    const model = (model: string, options?: ModelOptions): ModelRef => ({
      kind: "model",
      chain: [{ provider: entry, model }],
      settings: options === undefined ? {} : { options },
    });
    const entry: ProviderEntry = Object.assign(model, { kind: "provider" as const, plugin, entry: name, options });
    return entry;
  };

const toolsOf =
  <Options extends object>(plugin: string) =>
  (given: Entered<Options>): ToolEntry => {
    const { name = plugin, ...options } = given;
    return { kind: "tool", plugin, name, options };
  };

const journalOf =
  <Options extends object>(plugin: string) =>
  (options: Options): JournalEntry => ({
    kind: "journal",
    plugin,
    name: "journal",
    options: Object.fromEntries(Object.entries(options)),
  });

const guardOf =
  <Options extends object>(plugin: string) =>
  (given: Entered<Options>): GuardEntry => {
    const { name = plugin, ...options } = given;
    return { kind: "guard", plugin, name, options };
  };

/** Finds personal data, keys, prompt injections and your own patterns, also in streams. */
export const rules = guardOf<options.Rules>("rules");
/** Lets an agent judge texts while the run continues. */
export const judge = guardOf<options.Judge>("judge");
/** An entry of any guard plugin, built in or not. */
export const guardPlugin = (plugin: string, given: Entered<Readonly<Record<string, unknown>>> = {}): GuardEntry =>
  guardOf<Readonly<Record<string, unknown>>>(plugin)(given);

/** Uses `ANTHROPIC_API_KEY` unless `apiKey` is given. */
export const anthropic = provider<options.Anthropic>("anthropic");
/** Chat Completions. Uses `OPENAI_API_KEY` unless `apiKey` is given; set `baseUrl` for any compatible server. */
export const openai = provider<options.Openai>("openai");
/** OpenAI's Responses API. Uses `OPENAI_API_KEY` unless `apiKey` is given. */
export const openaiResponses = provider<options.OpenaiResponses>("openai-responses");
/** Uses `GEMINI_API_KEY` unless `apiKey` is given. */
export const gemini = provider<options.Gemini>("gemini");
/** Signs with AWS's usual credentials unless `credentials` or `apiKey` is given. */
export const bedrock = provider<options.Bedrock>("bedrock");
export const ollama = provider<options.Ollama>("ollama");
/** The simulator: models that answer by rule, without a key. */
export const simulator = provider<options.Simulator>("simulator");

/** A SQLite file; relative to the configuration's folder, or the working directory. */
export const sqlite = (path: string | options.Sqlite = "./data/venturi.db"): JournalEntry =>
  journalOf<options.Sqlite>("sqlite")(typeof path === "string" ? { path } : path);
export const postgres = journalOf<options.Postgres>("postgres");
export const nats = journalOf<options.Nats>("nats");
/** Keeps nothing beyond the process. */
export const memory = (given: options.Memory = {}): JournalEntry => journalOf<options.Memory>("memory")(given);

/** The tools of an MCP server. */
export const mcp = toolsOf<options.Mcp>("mcp");
/** An agent of another service, over Agent2Agent. */
export const a2a = toolsOf<options.A2a>("a2a");
export const files = toolsOf<options.Files>("files");
export const shell = toolsOf<options.Shell>("shell");
export const http = toolsOf<options.Http>("http");
export const clock = (given: Entered<options.Clock> = {}): ToolEntry => toolsOf<options.Clock>("clock")(given);
export const calculator = (given: Entered<options.Calculator> = {}): ToolEntry =>
  toolsOf<options.Calculator>("calculator")(given);

/** An entry of any tool plugin, built in or not. */
export const toolPlugin = (plugin: string, given: Entered<Readonly<Record<string, unknown>>> = {}): ToolEntry =>
  toolsOf<Readonly<Record<string, unknown>>>(plugin)(given);
/** An entry of any provider plugin, built in or not. */
export const providerPlugin = (plugin: string, given: Entered<Readonly<Record<string, unknown>>> = {}): ProviderEntry =>
  provider<Readonly<Record<string, unknown>>>(plugin)(given);
