import { createHash } from "node:crypto";
import { dirname, resolve } from "node:path";
import type { Skill } from "../../agent/run/skills.ts";
import { messageOf } from "../../core/errors/errors.ts";
import type { PluginKind } from "../../core/ports/plugin.ts";
import { token } from "../../core/values/token.ts";
import { addCode, type CodeConfig } from "../plugins/code.ts";
import { codePlugins } from "../plugins/code-plugins.ts";
import { nearby, PluginLoader } from "../plugins/plugin-loader.ts";
import { configInvalid, type Problem, pathText } from "../yaml/problem.ts";
import { find, type MapNode, placeOf, plain } from "../yaml/tree.ts";
import { checkBudgets } from "./budgets.ts";
import {
  type GuardEntry,
  type JournalEntry,
  type MemoryEntry,
  type PluginEntry,
  readEntry,
  type ToolEntry,
} from "./entries.ts";
import { readWithIncludes } from "./include.ts";
import { checkInstructions } from "./instructions.ts";
import { check } from "./issues.ts";
import { override, setDefault } from "./override.ts";
import { checkEntries } from "./plugin-checks.ts";
import { checkConditions, checkSchemas } from "./plugin-schemas.ts";
import { checkReferences, splitModel } from "./references.ts";
import { Settings } from "./schema.ts";
import { readSkills } from "./skills.ts";
import { substitute } from "./substitute.ts";
import { asWritten, moveTimeSections } from "./time-sections.ts";

type PluginSections = "providers" | "tools" | "guards" | "memories" | "channels" | "journal";

/** The validated configuration, without disabled entries. */
export interface Config extends Omit<Settings, PluginSections> {
  readonly providers: Readonly<Record<string, PluginEntry>>;
  readonly tools: Readonly<Record<string, ToolEntry>>;
  readonly guards: Readonly<Record<string, GuardEntry>>;
  readonly memories: Readonly<Record<string, MemoryEntry>>;
  readonly channels: Readonly<Record<string, PluginEntry>>;
  readonly journal: JournalEntry;
  readonly file: string;
  /** Base of relative paths. */
  readonly folder: string;
  /** Changes with any effective value and any file of a skill. */
  readonly hash: string;
  /** Skills by agent, as read from disk. */
  readonly skills: ReadonlyMap<string, readonly Skill[]>;
  readonly loader: PluginLoader;
  /** The values as written, with their locations. */
  readonly tree: MapNode;
  /** Agents, tools and providers defined by the program. */
  readonly code: CodeConfig | undefined;
}
export const Config = token<Config>("Config");

export interface LoadOptions {
  /** Absent when the program defines everything. */
  readonly file?: string;
  readonly code?: CodeConfig;
  /** `a.b=c` overrides. */
  readonly set?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Loads and validates the configuration; rejects with one `config_invalid` listing every problem. */
export async function loadConfig({ file, code, set = [], env = process.env }: LoadOptions): Promise<Config> {
  const problems: Problem[] = [];
  const root = file === undefined ? emptyMap("openVenturi") : readWithIncludes(file, problems);
  if (root === undefined) throw configInvalid(problems);
  for (const assignment of set) override(root, assignment, problems);
  substitute(root, env, problems);
  dropEmpty(root);
  if (code !== undefined) addCode(root, { code, env, problems }); // After substitution: the program's texts are not templates.
  withDefaultEntries(root);
  moveTimeSections(root);
  const settings = check({ schema: Settings, root, path: [], problems });
  const folder = file === undefined ? process.cwd() : dirname(resolve(file));
  const loader = new PluginLoader({ folders: [folder, ...nearby()] });
  for (const plugin of code === undefined ? [] : codePlugins(code)) loader.provide(plugin);
  problems.push(...(await addPlugins(root, loader, folder)));
  const entries = await readEntries(root, loader, problems);
  await checkEntries(entries, { root, folder, problems, processes: settings?.server.processes ?? 1 });
  checkReferences(root, problems);
  checkBudgets(root, problems);
  checkInstructions(root, problems);
  await checkSchemas(root, problems);
  await checkConditions(root, problems);
  const skills = await readSkills(root, { folder, problems });
  if (settings === undefined || problems.length > 0 || entries.journal === undefined)
    throw configInvalid(unique(problems.map(asWritten)));
  const models = Object.entries(settings.models).map(([name, model]) => {
    const chain = model.chain.filter((each) => Object.hasOwn(entries.providers, splitModel(each).provider));
    return [name, { ...model, chain }];
  });
  return {
    ...settings,
    ...entries,
    journal: entries.journal,
    models: Object.fromEntries(models),
    file: file === undefined ? "openVenturi" : resolve(file),
    folder,
    hash: hashOf(root, skills),
    skills,
    loader,
    tree: root,
    code,
  };
}

function hashOf(root: MapNode, skills: Config["skills"]): string {
  const hash = createHash("sha256").update(JSON.stringify(plain(root)));
  for (const [agent, own] of skills) for (const skill of own) hash.update(`\n${agent} ${skill.name} ${skill.hash}`);
  return hash.digest("hex").slice(0, 16);
}

const emptyMap = (name: string): MapNode => ({
  kind: "map",
  place: { file: name, line: 0, column: 0 },
  entries: new Map(),
});

/** An empty section (`tools:` with nothing below) counts as absent; an empty channel has no options. */
function dropEmpty(root: MapNode): void {
  for (const [key, { node }] of root.entries) {
    if (node.kind === "scalar" && node.value === null) root.entries.delete(key);
  }
  const channels = root.entries.get("channels")?.node;
  if (channels?.kind !== "map") return;
  for (const entry of channels.entries.values()) {
    if (entry.node.kind !== "scalar" || entry.node.value !== null) continue;
    entry.node = { kind: "map", place: entry.key, entries: new Map() };
  }
}

/** Adds default entries to the tree, so that they are validated and shown like written ones. */
function withDefaultEntries(root: MapNode): void {
  const defaults = {
    journal: "{ type: sqlite, path: ./data/venturi.db }",
    channels: "{ http: {}, openai: {}, websocket: {} }",
  };
  for (const [key, value] of Object.entries(defaults)) {
    if (!root.entries.has(key)) setDefault(root, key, value);
  }
}

async function addPlugins(root: MapNode, loader: PluginLoader, folder: string): Promise<Problem[]> {
  const problems: Problem[] = [];
  const plugins = find(root, ["plugins"]);
  if (plugins?.kind !== "list") return problems;
  for (const [index, item] of plugins.items.entries()) {
    if (item.kind !== "scalar" || typeof item.value !== "string") continue;
    try {
      await loader.add(item.value, folder);
    } catch (thrown) {
      const path = ["plugins", index];
      problems.push({ place: placeOf(root, path), path: pathText(path), message: messageOf(thrown) });
    }
  }
  return problems;
}

async function readEntries(root: MapNode, loader: PluginLoader, problems: Problem[]) {
  const section = async <K extends PluginKind>(key: string, kind: K) => {
    const node = find(root, [key]);
    const names = node?.kind === "map" ? [...node.entries.keys()] : [];
    const read = names.map((name) => readEntry({ kind, path: [key, name], root, loader, problems }));
    const entries = (await Promise.all(read)).filter((entry) => entry !== undefined);
    return Object.fromEntries(entries.map((entry) => [entry.name, entry]));
  };
  const providers = await section("providers", "provider");
  const tools = await section("tools", "tool");
  const guards = await section("guards", "guard");
  const memories = await section("memories", "memory");
  const channels = await section("channels", "channel");
  const journal = await readEntry({ kind: "journal", path: ["journal"], root, loader, problems });
  if (journal === undefined && find(root, ["journal"])?.kind === "map" && problems.length === 0) {
    const place = placeOf(root, ["journal"]);
    problems.push({ place, path: "journal", message: "the journal can't be disabled; `type: memory` keeps nothing" });
  }
  return { providers, tools, guards, memories, channels, journal };
}

/** Only the first problem per key: an unset variable is also not a duration, but saying so does not help. */
function unique(problems: readonly Problem[]): Problem[] {
  const seen = new Set<string>();
  return problems.filter(({ place, path, message }) => {
    const key = path === "" ? JSON.stringify([place, message]) : `${place.file} ${path}`;
    return seen.has(key) ? false : seen.add(key);
  });
}
