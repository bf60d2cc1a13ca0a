import fs from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { type Place, type Problem, pathText, placeText, shortPath } from "../yaml/problem.ts";
import { readYaml } from "../yaml/read.ts";
import { type MapNode, type Node, type Path, scalars } from "../yaml/tree.ts";

/** A file and everything it includes, merged into one tree. A key set in two files is an error that names both. */
export function readWithIncludes(file: string, problems: Problem[]): MapNode | undefined {
  return readInto({ file: resolve(file), chain: [], problems });
}

interface Reading {
  readonly file: string;
  readonly chain: readonly string[];
  readonly problems: Problem[];
  readonly named?: Place;
}

function readInto({ file, chain, problems, named }: Reading): MapNode | undefined {
  const root = readYaml(file, problems, named);
  if (root === undefined) return undefined;
  anchorPlugins(root, dirname(file));
  const include = root.entries.get("include");
  root.entries.delete("include");
  if (include === undefined) return root;
  for (const { pattern, place } of patterns(include.node, problems)) {
    for (const found of matches(pattern, dirname(file))) {
      const cycle = [...chain, file];
      if (cycle.includes(found)) {
        const circle = [...cycle.slice(cycle.indexOf(found)), found].map(shortPath).join(" → ");
        problems.push({ place, path: "include", message: `the includes form a circle: ${circle}` });
        continue;
      }
      const fragment = readInto({ file: found, chain: cycle, problems, named: place });
      if (fragment !== undefined) problems.push(...merge(root, fragment));
    }
  }
  return root;
}

function* patterns(node: Node, problems: Problem[]): Generator<{ pattern: string; place: Place }> {
  for (const item of node.kind === "list" ? node.items : [node]) {
    if (item.kind === "scalar" && typeof item.value === "string") yield { pattern: item.value, place: item.place };
    else problems.push({ place: item.place, path: "include", message: "expected a list of file names or patterns" });
  }
}

/** A plain name must exist; a glob may match nothing. */
function matches(pattern: string, folder: string): string[] {
  if (!/[*?[\]{}]/.test(pattern)) return [resolve(folder, pattern)];
  const found = fs.globSync(pattern, { cwd: folder });
  return found.map((name) => (isAbsolute(name) ? name : join(folder, name))).sort();
}

/** Adds what `from` sets; returns the keys that both set. */
function merge(into: MapNode, from: MapNode, path: Path = []): Problem[] {
  const problems: Problem[] = [];
  for (const [key, entry] of from.entries) {
    const existing = into.entries.get(key);
    const here = [...path, key];
    if (existing === undefined) into.entries.set(key, entry);
    else if (existing.node.kind === "map" && entry.node.kind === "map") {
      problems.push(...merge(existing.node, entry.node, here));
    } else if (path.length === 0 && key === "plugins" && existing.node.kind === "list" && entry.node.kind === "list") {
      existing.node.items.push(...entry.node.items);
    } else if (path.length === 0 && key === "version") {
      // Every fragment may state the version it was written for; the schema checks the first.
    } else {
      problems.push({
        place: entry.key,
        path: pathText(here),
        message: `this key is already set at ${placeText(existing.key)}`,
      });
    }
  }
  return problems;
}

/** Paths under `plugins:` are relative to the file that names them, included files too. */
function anchorPlugins(root: MapNode, folder: string): void {
  const plugins = root.entries.get("plugins");
  if (plugins === undefined) return;
  for (const [, scalar] of scalars(plugins.node)) {
    if (typeof scalar.value === "string" && scalar.value.startsWith(".")) scalar.value = resolve(folder, scalar.value);
  }
}
