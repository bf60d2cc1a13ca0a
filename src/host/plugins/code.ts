import type { ContextSource, InstructionsFunction } from "../../agent/run/definition.ts";
import type { Provider } from "../../core/model/provider.ts";
import type { Hooks } from "../../core/ports/hooks.ts";
import type { PluginContext } from "../../core/ports/plugin.ts";
import type { Tool } from "../../core/ports/tool.ts";
import type { Schema } from "../../core/values/schema.ts";
import { type Place, type Problem, pathText, placeText } from "../yaml/problem.ts";
import { find, keyPlaceOf, type MapNode, type Node } from "../yaml/tree.ts";

/** What a program defines: entries as in the file, and functions that a file cannot hold. */
export interface CodeConfig {
  readonly entries: readonly CodeEntry[];
  /** By key under `tools`; entries of the type `code`. */
  readonly tools: ReadonlyMap<string, (context: PluginContext) => Tool | Promise<Tool>>;
  /** By key under `providers`; entries of the type `code-provider`. */
  readonly providers: ReadonlyMap<string, Provider>;
  readonly agents: ReadonlyMap<string, AgentCode>;
  /** Hooks of all agents. */
  readonly hooks: readonly Hooks[];
}

export interface CodeEntry {
  readonly path: readonly string[];
  /** As in YAML, with `FromEnvironment` for environment variables. */
  readonly value: unknown;
  readonly place: Place;
  /** A default: ignored when the file sets the key. */
  readonly fallback?: boolean;
}

export interface AgentCode {
  readonly context?: ContextSource;
  readonly writeInstructions?: InstructionsFunction;
  readonly inputsSchema?: Schema;
  readonly outputSchema?: Schema;
  readonly hooks?: Hooks;
  readonly revision?: string;
}

/** A value from an environment variable; shown as a reference, never as its value. */
export class FromEnvironment {
  readonly variable: string;
  /** What to do when it is not set; undefined: omit the key. */
  readonly advice: string | undefined;

  constructor(variable: string, advice: string | undefined) {
    this.variable = variable;
    this.advice = advice;
  }
}

export interface CodeTree {
  readonly code: CodeConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly problems: Problem[];
}

/** Adds the program's entries to the tree, where they are validated and shown like written ones. */
export function addCode(root: MapNode, { code, env, problems }: CodeTree): void {
  for (const { path, value, place, fallback } of code.entries) {
    if (find(root, path) !== undefined) {
      if (fallback) continue;
      const other = placeText(keyPlaceOf(root, path));
      const message = `this name is taken by ${other}; give one of the two another name`;
      problems.push({ place, path: pathText(path), message });
      continue;
    }
    const node = nodeOf(value, { place, path, env, problems });
    if (node !== undefined) parentOf(root, path, place).entries.set(path.at(-1) ?? "", { key: place, node });
  }
}

function parentOf(root: MapNode, path: readonly string[], place: Place): MapNode {
  let map = root;
  for (const segment of path.slice(0, -1)) {
    const next = map.entries.get(segment)?.node;
    if (next?.kind === "map") {
      map = next;
      continue;
    }
    const made: MapNode = { kind: "map", place, entries: new Map() };
    map.entries.set(segment, { key: place, node: made });
    map = made;
  }
  return map;
}

interface Around extends Omit<CodeTree, "code"> {
  readonly place: Place;
  readonly path: readonly (string | number)[];
}

function nodeOf(value: unknown, around: Around): Node | undefined {
  const { place, path, problems } = around;
  const below = (key: string | number): Around => ({ ...around, path: [...path, key] });
  if (value === undefined) return undefined;
  if (value instanceof FromEnvironment) return fromEnvironment(value, around);
  if (Array.isArray(value)) {
    const items = value.map((item, index) => nodeOf(item, below(index)));
    return { kind: "list", place, items: items.filter((item) => item !== undefined) };
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).flatMap(([key, inner]) => {
      const node = nodeOf(inner, below(key));
      return node === undefined ? [] : [[key, { key: place, node }] as const];
    });
    return { kind: "map", place, entries: new Map(entries) };
  }
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
    return { kind: "scalar", place, value };
  }
  problems.push({ place, path: pathText(path), message: `a ${typeof value} can't be used here` });
  return undefined;
}

function fromEnvironment({ variable, advice }: FromEnvironment, { env, place, path, problems }: Around) {
  const value = env[variable];
  if (value !== undefined && value !== "") {
    return { kind: "scalar" as const, place, value, from: [`\${env:${variable}}`] };
  }
  if (advice !== undefined) {
    problems.push({ place, path: pathText(path), message: `the variable ${variable} is not set; ${advice}` });
  }
  return undefined;
}
