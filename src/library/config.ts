import { isDeepStrictEqual } from "node:util";
import { checkUsable, jsonSchemaOf } from "../agent/schema/standard.ts";
import { messageOf, VenturiError } from "../core/errors/errors.ts";
import type { Provider } from "../core/model/provider.ts";
import type { Hooks } from "../core/ports/hooks.ts";
import type { Tool } from "../core/ports/tool.ts";
import type { Schema } from "../core/values/schema.ts";
import { isSecretName } from "../host/config/secrets.ts";
import { type AgentCode, type CodeConfig, type CodeEntry, FromEnvironment } from "../host/plugins/code.ts";
import { type Place, placeText } from "../host/yaml/problem.ts";
import { type AgentCompaction, type CodeAgent, isCalledAgent, isCodeAgent } from "./agent.ts";
import { calledTool, codeTool } from "./code-tool.ts";
import { isContext } from "./context.ts";
import type { GuardEntry, ModelRef, PluginEntry, ProviderEntry } from "./plugins.ts";
import { isCodeTool } from "./tool.ts";
import type { App } from "./venturi.ts";

/** Providers that a model's name may use without an entry, and the environment variable of their key. */
const keyVariables: Readonly<Record<string, string | undefined>> = {
  anthropic: "ANTHROPIC_API_KEY",
  openai: "OPENAI_API_KEY",
  "openai-responses": "OPENAI_API_KEY",
  gemini: "GEMINI_API_KEY",
  bedrock: undefined,
  ollama: undefined,
  simulator: undefined,
};

/** Sections with named entries: the program's are added to the file's. */
const named = new Set(["providers", "models", "tools", "guards", "memories", "agents", "channels"]);

export interface Translated extends CodeConfig {
  /** To be logged. */
  readonly warnings: readonly string[];
}

/** Translates the arguments of `openVenturi` into configuration form. Throws `config_invalid`. */
export function translate(app: App): Translated {
  return new Translation(app).result();
}

class Translation {
  readonly #app: App;
  readonly #entries: CodeEntry[] = [];
  readonly #tools = new Map<string, CodeConfig["tools"] extends ReadonlyMap<string, infer T> ? T : never>();
  /** Keys of tools, by the value given. */
  readonly #keys = new Map<unknown, string>();
  readonly #providers = new Map<string, Provider>();
  readonly #providerEntries = new Map<string, ProviderEntry>();
  readonly #agents = new Map<string, { readonly code: AgentCode; readonly agent: CodeAgent }>();
  readonly #guards = new Map<string, GuardEntry>();
  readonly #warnings: string[] = [];

  constructor(app: App) {
    this.#app = app;
  }

  result(): Translated {
    const { agents = [], tools = [], providers = [], hooks = [] } = this.#app;
    this.#sections();
    for (const provider of providers) this.#provider(provider);
    for (const [index, tool] of tools.entries()) this.#tool(tool, at(`tools[${index}]`));
    for (const [index, agent] of agents.entries()) this.#agent(agent, at(`agents[${index}]`));
    return {
      entries: this.#entries,
      tools: this.#tools,
      providers: this.#providers,
      agents: new Map([...this.#agents].map(([name, { code }]) => [name, code])),
      hooks: hooks as readonly Hooks[], // A typed view of the same hooks.
      warnings: this.#warnings,
    };
  }

  #sections(): void {
    const { settings = {}, journal, configFile, telemetry, env = process.env } = this.#app;
    for (const [section, value] of Object.entries(settings)) {
      const place = at(`settings.${section}`);
      if (!named.has(section) || typeof value !== "object" || value === null) this.#add([section], value, place);
      else for (const [name, entry] of Object.entries(value)) this.#add([section, name], entry, place);
    }
    if (journal !== undefined) this.#add(["journal"], { type: journal.plugin, ...journal.options }, at("journal"));
    if (configFile !== undefined) return;
    const fallback = (path: string[], value: unknown) =>
      this.#entries.push({ path, value, place: at("the default"), fallback: true });
    fallback(["journal"], { type: "memory" });
    const exports = Object.keys(env).some((name) => name.startsWith("OTEL_"));
    if (telemetry === undefined && !exports) fallback(["telemetry"], "off");
  }

  #add(path: readonly string[], value: unknown, place: Place): void {
    this.#entries.push({ path, value, place });
  }

  #agent(given: unknown, where: Place): string {
    if (typeof given === "string") return given;
    if (!isCodeAgent(given)) throw invalid(where, "expected what agent({ … }) returns");
    const { name } = given;
    const { options, place = where } = given["~agent"];
    const known = this.#agents.get(name);
    if (known?.agent === given) return name;
    if (known !== undefined) {
      const other = placeText(known.agent["~agent"].place ?? where);
      throw invalid(place, `agents.${name}: this name is taken by ${other}; give one of the two another name`);
    }
    const code: AgentCode = this.#codeOf(given, place);
    this.#agents.set(name, { code, agent: given }); // Registered before its handoffs, which may lead back to it.
    const {
      model,
      tools = [],
      handoffs = [],
      instructions,
      inputs,
      output,
      context: _,
      hooks: __,
      guards = [],
      ...rest
    } = options;
    const { name: ___, revision: ____, compaction, ...plain } = rest;
    this.#add(
      ["agents", name],
      {
        ...plain,
        model: this.#model(model, place),
        ...(compaction === undefined ? {} : { compaction: this.#compaction(compaction, place) }),
        ...(typeof instructions === "string" ? { instructions } : {}),
        ...(inputs === undefined ? {} : { inputs: propertiesOf(inputs, place, name) }),
        ...(output === undefined ? {} : { output: jsonSchemaOf(output) }),
        tools: tools.map((tool) => this.#tool(tool, place)),
        handoffs: handoffs.map((agent) => this.#agent(agent, place)),
        guards: guards.map((guard) => this.#guard(guard, place)),
      },
      place,
    );
    return name;
  }

  #compaction({ model, ...rest }: AgentCompaction, place: Place): object {
    return model === undefined ? rest : { ...rest, model: this.#model(model, place) };
  }

  #codeOf({ name, "~agent": { options } }: CodeAgent, place: Place): AgentCode {
    const { context, instructions, inputs, output, hooks, revision } = options;
    const usable = (what: string, schema: Schema): Schema => {
      try {
        checkUsable(schema);
        return schema;
      } catch (thrown) {
        throw invalid(place, `agents.${name}.${what}: ${messageOf(thrown)}`);
      }
    };
    const source = isContext(context) ? context["~context"] : { stored: context, provide: undefined };
    const { stored, provide } = source;
    if (stored !== undefined) this.#warnOfSecrets(name, usable("context", stored));
    return {
      ...(stored === undefined ? {} : { context: { schema: stored, ...(provide === undefined ? {} : { provide }) } }),
      ...(typeof instructions === "function" ? { writeInstructions: instructions as never } : {}), // Takes what its schemas produce.
      ...(inputs === undefined ? {} : { inputsSchema: usable("inputs", inputs) }),
      ...(output === undefined ? {} : { outputSchema: usable("output", output) }),
      ...(hooks === undefined ? {} : { hooks: hooks as Hooks }), // A typed view of the same hooks.
      ...(revision === undefined ? {} : { revision }),
    };
  }

  #warnOfSecrets(agent: string, schema: Schema): void {
    const { properties } = jsonSchemaOf(schema);
    for (const key of Object.keys((properties as object | undefined) ?? {})) {
      if (!isSecretName(key)) continue;
      this.#warnings.push(
        `${agent}: "${key}" of its context is stored in the journal; fetch secrets in provide instead`,
      );
    }
  }

  #model(model: string | ModelRef, place: Place): string {
    if (typeof model === "string") {
      this.#providerOf(model, place);
      return model;
    }
    const chain = model.chain.map((target) => {
      if (typeof target !== "string") return `${this.#provider(target.provider)}/${target.model}`;
      this.#providerOf(target, place);
      return target;
    });
    const [first = ""] = chain;
    if (chain.length === 1 && Object.keys(model.settings).length === 0) return first;
    const name = `${nameIn(first)}-${this.#entries.filter(({ path }) => path[0] === "models").length + 1}`;
    this.#add(["models", name], { chain, ...model.settings }, place);
    return name;
  }

  /** A model's name may refer to a built-in provider without an entry. */
  #providerOf(model: string, place: Place): void {
    const [provider = "", ...rest] = model.split("/");
    if (rest.length === 0 || !Object.hasOwn(keyVariables, provider) || this.#providerEntries.has(provider)) return;
    const value = { type: provider, ...keyOf(provider, {}) };
    this.#entries.push({ path: ["providers", provider], value, place, fallback: true });
  }

  #provider(given: ProviderEntry | { readonly name: string; readonly provider: Provider }): string {
    if (typeof given !== "function") {
      const { name, provider } = given;
      this.#providers.set(name, provider);
      this.#add(["providers", name], { type: "code-provider" }, at(`providers: ${name}`));
      return name;
    }
    const { plugin, entry, options } = given;
    const known = this.#providerEntries.get(entry);
    if (known === undefined) {
      this.#providerEntries.set(entry, given);
      const value = { type: plugin, ...options, ...keyOf(plugin, options) };
      this.#add(["providers", entry], value, at(`providers: ${entry}`));
    } else if (known.plugin !== plugin || !isDeepStrictEqual(known.options, options)) {
      const message = `there are two providers "${entry}" with other options; give one of them a name: ${plugin}({ name: "…" })`;
      throw invalid(at("providers"), message);
    }
    return entry;
  }

  /** The tool's key under `tools`. */
  #tool(given: unknown, where: Place): string {
    if (typeof given === "string") return given;
    const known = this.#keys.get(given);
    if (known !== undefined) return known;
    if (isCodeTool(given)) {
      const { options, place = where } = given["~tool"];
      const { approval, timeout, maxOutput, effect } = options;
      const said = { timeout, maxOutput, effect, ...(typeof approval === "function" ? {} : { approval }) };
      return this.#code({ given, place, entry: { type: "code", ...said } }, () => codeTool(given));
    }
    if (isCalledAgent(given)) {
      const { agent, place = where } = given["~calls"];
      this.#agent(agent, place);
      return this.#code({ given, place, entry: { type: "code" } }, (context) => calledTool(given, context));
    }
    if (!isEntry(given)) throw invalid(where, "expected a tool({ … }), a plugin's tools such as mcp({ … }), or a name");
    this.#keys.set(given, given.name);
    this.#add(["tools", given.name], { type: given.plugin, ...given.options }, where);
    return given.name;
  }

  #guard(given: GuardEntry | string, where: Place): string {
    if (typeof given === "string") return given;
    const known = this.#guards.get(given.name);
    if (known !== undefined && known !== given) {
      throw invalid(
        where,
        `there are two guards "${given.name}"; give one of them another name: ${given.plugin}({ name: "…" })`,
      );
    }
    this.#guards.set(given.name, given);
    if (known === undefined) this.#add(["guards", given.name], { type: given.plugin, ...given.options }, where);
    return given.name;
  }

  /** Tools of the same name in different agents are different tools, so the second gets its own key. */
  #code(
    {
      given,
      place,
      entry,
    }: { readonly given: { readonly name: string }; readonly place: Place; readonly entry: object },
    make: (context: Parameters<typeof calledTool>[1]) => Tool | Promise<Tool>,
  ): string {
    let key = given.name;
    for (let copy = 2; this.#tools.has(key); copy++) key = `${given.name.slice(0, 58)}-${copy}`;
    this.#keys.set(given, key);
    this.#tools.set(key, make);
    this.#add(["tools", key], entry, place);
    return key;
  }
}

const at = (what: string): Place => ({ file: `openVenturi({ ${what} })`, line: 0, column: 0 });

const invalid = (place: Place, message: string): VenturiError =>
  new VenturiError("config.load", "config_invalid", `${placeText(place)} ${message}`);

const isEntry = (value: unknown): value is PluginEntry<"tool"> =>
  typeof value === "object" && value !== null && "plugin" in value && "kind" in value && value.kind === "tool";

/** The default API key of a provider; a server at another address may need none. */
function keyOf(plugin: string, options: Readonly<Record<string, unknown>>): { apiKey?: FromEnvironment } {
  const variable = keyVariables[plugin];
  if (variable === undefined || options.apiKey !== undefined) return {};
  const advice = `set it, or give the key: ${plugin}({ apiKey })`;
  return { apiKey: new FromEnvironment(variable, options.baseUrl === undefined ? advice : undefined) };
}

/** Makes a valid key under `models`. */
const nameIn = (model: string): string => model.replaceAll(/[^A-Za-z0-9_.-]/g, "-").replace(/^[^A-Za-z0-9]+/, "");

function propertiesOf(schema: Schema, place: Place, agent: string): unknown {
  const { type, properties } = jsonSchemaOf(schema);
  if (type === "object" && properties !== undefined) return properties;
  throw invalid(place, `agents.${agent}.inputs: expected a schema of an object with keys`);
}
