import type { z } from "zod";
import { knownKeys } from "../../core/errors/complaints.ts";
import { messageOf } from "../../core/errors/errors.ts";
import type { PluginKind } from "../../core/ports/plugin.ts";
import { didYouMean } from "../../core/values/suggest.ts";
import type { LoadedPlugin, PluginLoader } from "../plugins/plugin-loader.ts";
import { type Problem, pathText } from "../yaml/problem.ts";
import { find, keyPlaceOf, type MapNode, type Node, type Path, placeOf, plain } from "../yaml/tree.ts";
import { check } from "./issues.ts";
import { entryKeys } from "./schema.ts";

/** A config entry instantiated by a plugin; `options` satisfy the plugin's schema. */
export interface PluginEntry {
  readonly name: string;
  readonly type: string;
  readonly options: unknown;
  readonly loaded: LoadedPlugin;
}
type Common<K extends PluginKind> = z.output<(typeof entryKeys)[K]>;
export type ToolEntry = PluginEntry & Pick<Common<"tool">, "approval" | "timeout" | "maxOutput" | "effect">;
export type GuardEntry = PluginEntry & Pick<Common<"guard">, "input" | "arguments" | "results" | "output">;
export type MemoryEntry = PluginEntry & Pick<Common<"memory">, "embed" | "near" | "longest" | "most" | "timeout">;
export type JournalEntry = PluginEntry & Pick<Common<"journal">, "keepWire" | "retention">;

export interface EntryRequest<K extends PluginKind> {
  readonly kind: K;
  readonly path: Path;
  readonly root: MapNode;
  readonly loader: PluginLoader;
  readonly problems: Problem[];
}

/** Validates an entry against its plugin's options; undefined when disabled or invalid. */
export async function readEntry<K extends PluginKind>(
  request: EntryRequest<K>,
): Promise<(PluginEntry & Common<K>) | undefined> {
  // Of this entry alone: others are read meanwhile, and their problems must not make this one invalid.
  const problems: Problem[] = [];
  const entry = await readOne({ ...request, problems });
  request.problems.push(...problems);
  return problems.length === 0 ? entry : undefined;
}

async function readOne<K extends PluginKind>(request: EntryRequest<K>): Promise<(PluginEntry & Common<K>) | undefined> {
  const { kind, path, root, problems } = request;
  if (find(root, path) === undefined) return undefined;
  const schema: z.ZodType = entryKeys[kind];
  const common = check({ schema, root, path, problems }) as Common<K> | undefined; // Parsed with the kind's schema.
  if (common === undefined || !common.enabled) return undefined;
  const loaded = await loadPlugin(request, typeOf(request, common.type));
  if (loaded === undefined) return undefined;
  const ownKeys = new Set(knownKeys(loaded.plugin.options, []));
  const commonKeys = Object.keys(entryKeys[kind].shape);
  const options = checkOptions(request, loaded, {
    value: (each) => withoutKeys(each, (key) => commonKeys.includes(key) && !ownKeys.has(key)),
    also: commonKeys,
  });
  return { ...common, name: String(path.at(-1)), type: loaded.plugin.name, options, loaded };
}

/** Channels and memories may omit the prefix that distinguishes their plugins from tools and journals of the same name. */
function typeOf({ kind, path, loader }: EntryRequest<PluginKind>, type: string | undefined): string {
  const name = type ?? String(path.at(-1));
  const prefix = prefixes[kind];
  if (prefix === undefined) return name;
  const isShort = loader.has(`${prefix}${name}`) || (type === undefined && !loader.has(name));
  return isShort ? `${prefix}${name}` : name;
}

const prefixes: Partial<Record<PluginKind, string>> = { channel: "channel-", memory: "recall-" };

async function loadPlugin(request: EntryRequest<PluginKind>, type: string): Promise<LoadedPlugin | undefined> {
  const { kind, path, root, loader, problems } = request;
  const place = find(root, [...path, "type"]) ? placeOf(root, [...path, "type"]) : keyPlaceOf(root, path);
  const complain = (message: string) => {
    problems.push({ place, path: pathText(path), message });
    return undefined;
  };
  if (!loader.has(type)) return complain(`there is no plugin "${type}"${didYouMean(type, loader.names())}`);
  try {
    const loaded = await loader.get(type);
    if (loaded.plugin.kind === kind) return loaded;
    return complain(`the plugin "${type}" is a ${loaded.plugin.kind}, not a ${kind}`);
  } catch (thrown) {
    return complain(messageOf(thrown));
  }
}

function checkOptions(
  { path, root, problems }: EntryRequest<PluginKind>,
  { plugin }: LoadedPlugin,
  keys: { value: (node: Node) => unknown; also: readonly string[] },
): unknown {
  try {
    return check({ schema: plugin.options, root, path, problems, ...keys });
  } catch (thrown) {
    const message = `the plugin "${plugin.name}" can't check its options: ${messageOf(thrown)}`;
    problems.push({ place: placeOf(root, path), path: pathText(path), message });
    return undefined;
  }
}

function withoutKeys(node: Node, leaveOut: (key: string) => boolean): unknown {
  if (node.kind !== "map") return plain(node);
  const kept = [...node.entries].filter(([key]) => !leaveOut(key));
  return plain({ ...node, entries: new Map(kept) });
}
