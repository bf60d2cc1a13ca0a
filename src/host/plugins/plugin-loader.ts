import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { messageOf, VenturiError } from "../../core/errors/errors.ts";
import { type AnyPlugin, pluginApi } from "../../core/ports/plugin.ts";
import { broughtBy, separate } from "./separate.ts";

const op = "plugin.load";

export interface LoadedPlugin {
  readonly plugin: AnyPlugin;
  /** `box` (built in), a path, or the name of an npm package. */
  readonly from: string;
  readonly version: string;
}

const boxFolder = fileURLToPath(new URL("../../../plugins/", import.meta.url));
const packageFile = fileURLToPath(new URL("../../../../package.json", import.meta.url));

/** Where packages for Venturi may be installed: the current folder, and next to Venturi itself. */
export const nearby = (): string[] => [process.cwd(), dirname(packageFile)];

/**
 * Finds plugins by name. Built-in ones, and those of `@venturi` packages, are imported on first use, so that startup pays only
 * for what the config uses; external ones when they are added, because only the module knows its name.
 */
export class PluginLoader {
  readonly #box: string;
  readonly #folders: readonly string[];
  readonly #loaded = new Map<string, Promise<LoadedPlugin>>();
  readonly #added = new Map<string, LoadedPlugin>();

  /** Packages are looked for from `folders` upwards, in their order. */
  constructor({ box = boxFolder, folders = nearby() }: { box?: string; folders?: readonly string[] } = {}) {
    this.#box = box;
    this.#folders = folders;
  }

  /** Names that `get` can find. */
  names(): string[] {
    const installed = Object.entries(separate).filter(([, specifier]) => this.#installed(specifier) !== undefined);
    const own = new Set([...boxNames(this.#box), ...this.#added.keys(), ...installed.map(([name]) => name)]);
    const brought = Object.keys(broughtBy).filter((name) => own.has(broughtBy[name] ?? ""));
    return [...own, ...brought].sort();
  }

  /** Also true for a plugin whose package is not installed; `get` then says what to install. */
  has(name: string): boolean {
    const isKnown = Object.hasOwn(separate, name) || Object.hasOwn(broughtBy, name);
    return this.#added.has(name) || isInBox(this.#box, name) || isKnown;
  }

  isInBox(name: string): boolean {
    return isInBox(this.#box, Object.hasOwn(broughtBy, name) ? (broughtBy[name] ?? name) : name);
  }

  get(name: string): Promise<LoadedPlugin> {
    const added = this.#added.get(name);
    if (added !== undefined) return Promise.resolve(added);
    const bringer = Object.hasOwn(broughtBy, name) ? broughtBy[name] : undefined;
    if (bringer !== undefined) return this.#brought(name, bringer);
    let loading = this.#loaded.get(name);
    if (loading === undefined) {
      const specifier = Object.hasOwn(separate, name) && !isInBox(this.#box, name) ? separate[name] : undefined;
      loading = specifier === undefined ? this.#fromBox(name) : this.#fromPackage(name, specifier);
      this.#loaded.set(name, loading);
    }
    return loading;
  }

  /** Adds a plugin from a path or an npm package; packages are resolved from `folder` upwards. */
  async add(specifier: string, folder: string): Promise<LoadedPlugin> {
    const inBox = Object.keys(separate).find((name) => separate[name] === specifier && isInBox(this.#box, name));
    if (inBox !== undefined) return this.get(inBox); // A repository checkout contains all of them.
    const found = locate(specifier, folder);
    const plugin = pluginIn(await importModule(specifier, found.entry), specifier);
    const holder = isInBox(this.#box, plugin.name) ? "the box" : this.#added.get(plugin.name)?.from;
    if (holder !== undefined && holder !== specifier) {
      throw failed(specifier, `its name "${plugin.name}" is already taken by ${holder}; rename one of the two`);
    }
    const loaded = { plugin, from: specifier, version: found.version };
    this.#added.set(plugin.name, loaded);
    return loaded;
  }

  /** Adds a plugin defined by the program. */
  provide(plugin: AnyPlugin): void {
    this.#added.set(plugin.name, { plugin, from: "the program", version: "-" });
  }

  async #brought(name: string, bringer: string): Promise<LoadedPlugin> {
    const loaded = await this.get(bringer);
    const plugin = loaded.plugin.also?.find((each) => each.name === name);
    if (plugin === undefined) throw failed(name, `${bringer} does not bring it; update that`);
    return { ...loaded, plugin };
  }

  async #fromBox(name: string): Promise<LoadedPlugin> {
    if (!isInBox(this.#box, name)) throw failed(name, "there is no such plugin");
    const plugin = pluginIn(await importModule(name, join(this.#box, name, "index.js")), name);
    if (plugin.name !== name) throw failed(name, `its folder and its name "${plugin.name}" differ`);
    return { plugin, from: "box", version: versionIn(packageFile) };
  }

  async #fromPackage(name: string, specifier: string): Promise<LoadedPlugin> {
    const found = this.#installed(specifier);
    if (found === undefined) throw failed(name, `it is a separate package; run \`npm install ${specifier}\``);
    const version = versionIn(packageFile);
    if (found.version !== version) {
      const both = `${specifier} is ${found.version} and venturi ${version}, but they have to be the same`;
      throw failed(name, `${both}; run \`npm install ${specifier}@${version}\``);
    }
    const plugin = pluginIn(await importModule(name, found.entry), name);
    return { plugin, from: specifier, version };
  }

  #installed(specifier: string): { entry: string; version: string } | undefined {
    const found = this.#folders.map((folder) => packageIn(specifier, folder)).find((each) => each !== undefined);
    return found === undefined ? undefined : entryOf(specifier, found);
  }
}

const isInBox = (box: string, name: string): boolean =>
  /^[a-z][a-z0-9-]*$/.test(name) && existsSync(join(box, name, "index.js"));

function boxNames(box: string): string[] {
  if (!existsSync(box)) return [];
  return readdirSync(box).filter((name) => isInBox(box, name));
}

async function importModule(name: string, entry: string): Promise<unknown> {
  try {
    return await import(pathToFileURL(entry).href);
  } catch (thrown) {
    throw failed(name, messageOf(thrown).split("\n")[0] ?? "it can't be imported", thrown);
  }
}

function pluginIn(module: unknown, name: string): AnyPlugin {
  const plugin = (module as { default?: Partial<AnyPlugin> }).default; // A module may export anything.
  const kinds = ["provider", "tool", "channel", "journal", "guard", "memory"];
  if (
    typeof plugin !== "object" ||
    plugin === null ||
    typeof plugin.name !== "string" ||
    typeof plugin.create !== "function" ||
    typeof plugin.options?.safeParse !== "function" ||
    !kinds.includes(String(plugin.kind))
  ) {
    throw failed(name, "its default export is not a plugin; write `export default definePlugin({ … })`");
  }
  checkApi(plugin, name);
  return plugin as AnyPlugin;
}

/** A plugin for another API version might load and then fail anywhere, so it is refused with both versions named. */
function checkApi({ api }: Partial<AnyPlugin>, name: string): void {
  if (api === undefined || api === pluginApi) return;
  const message = `plugin ${name} is written for plugin API ${api}, and this Venturi has ${pluginApi}`;
  const advice =
    typeof api === "number" && api > pluginApi ? "update venturi" : "install a newer version of the plugin";
  throw new VenturiError(op, "config_invalid", `${message}; ${advice}`, { details: { plugin: name } });
}

function locate(specifier: string, folder: string): { entry: string; version: string } {
  if (/^(?:\.{0,2}\/|[A-Za-z]:[\\/])/.test(specifier)) return entryOf(specifier, resolve(folder, specifier));
  const found = packageIn(specifier, folder);
  if (found !== undefined) return entryOf(specifier, found);
  throw failed(specifier, `the package is not installed; run \`npm install ${specifier}\``);
}

function packageIn(specifier: string, folder: string): string | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const candidate = join(at, "node_modules", specifier);
    if (existsSync(join(candidate, "package.json"))) return candidate;
    if (at === dirname(at)) return undefined;
  }
}

function entryOf(specifier: string, path: string): { entry: string; version: string } {
  if (!existsSync(path)) throw failed(specifier, `${path} does not exist`);
  if (/\.[cm]?[jt]s$/.test(path)) return { entry: path, version: versionIn(join(dirname(path), "package.json")) };
  const description = join(path, "package.json");
  const names = [...(existsSync(description) ? mainOf(specifier, description) : []), "index.js", "index.ts"];
  const name = names.find((each) => existsSync(join(path, each)));
  if (name === undefined) throw failed(specifier, `neither ${names.join(" nor ")} is in ${path}; build it first`);
  return { entry: join(path, name), version: versionIn(description) };
}

function mainOf(specifier: string, file: string): string[] {
  const { exports, main } = readPackage(specifier, file);
  return [target(exports), main].filter((each) => typeof each === "string");
}

/** The file `import "package"` resolves to, for any form of `exports`. */
function target(exports: unknown): string | undefined {
  if (typeof exports === "string") return exports;
  if (typeof exports !== "object" || exports === null) return undefined;
  const by = exports as Record<string, unknown>; // Parsed JSON.
  return target(by["."]) ?? target(by.node) ?? target(by.import) ?? target(by.default);
}

function readPackage(specifier: string, file: string): { exports?: unknown; main?: string; version?: string } {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as { exports?: unknown; main?: string; version?: string };
  } catch (thrown) {
    throw failed(specifier, `${file} can't be read: ${messageOf(thrown)}`, thrown);
  }
}

const versionIn = (file: string): string => (existsSync(file) ? (readPackage(file, file).version ?? "-") : "-");

const failed = (name: string, message: string, cause?: unknown): VenturiError =>
  new VenturiError(op, "plugin_failed", `plugin ${name}: ${message}`, { cause, details: { plugin: name } });
