import { VenturiError } from "../../core/errors/errors.ts";
import type { Place, Problem } from "../yaml/problem.ts";
import { parseYaml } from "../yaml/read.ts";
import type { MapNode, Node } from "../yaml/tree.ts";

/** Applies `--set a.b=c`. The value is parsed as YAML, so it can be a list or map; a dot within a key is written `\.`. */
export function override(root: MapNode, assignment: string, problems: Problem[]): void {
  const at = assignment.indexOf("=");
  if (at <= 0) {
    throw new VenturiError("cli.run", "invalid_input", `--set needs path=value, such as --set limits.activeRuns=10`);
  }
  const path = assignment
    .slice(0, at)
    .split(/(?<!\\)\./)
    .map((segment) => segment.replaceAll("\\.", "."));
  const place: Place = { file: `--set ${path.join(".")}`, line: 0, column: 0 };
  const value = valueNode(assignment.slice(at + 1), place, problems);
  let map = root;
  for (const segment of path.slice(0, -1)) map = childMap(map, segment, place);
  const last = path.at(-1) ?? "";
  map.entries.set(last, { key: map.entries.get(last)?.key ?? place, node: value });
}

/** Adds a default as if it were written, so that it is validated and shown. */
export function setDefault(root: MapNode, key: string, yaml: string): void {
  const place: Place = { file: "the default", line: 0, column: 0 };
  root.entries.set(key, { key: place, node: valueNode(yaml, place, []) });
}

function childMap(map: MapNode, key: string, place: Place): MapNode {
  const existing = map.entries.get(key);
  if (existing?.node.kind === "map") return existing.node;
  const created: MapNode = { kind: "map", place, entries: new Map() };
  map.entries.set(key, { key: place, node: created });
  return created;
}

function valueNode(text: string, place: Place, problems: Problem[]): Node {
  if (/^\s*[[{]/.test(text)) {
    const parsed = parseYaml(place.file, `value: ${text}`, problems)?.entries.get("value");
    if (parsed !== undefined) return relocate(parsed.node, place);
  }
  return { kind: "scalar", value: text, place, loose: true };
}

function relocate(node: Node, place: Place): Node {
  switch (node.kind) {
    case "scalar":
      return { ...node, place };
    case "list":
      return { ...node, place, items: node.items.map((item) => relocate(item, place)) };
    case "map": {
      const entries = [...node.entries].map(([key, entry]) => [key, { key: place, node: relocate(entry.node, place) }]);
      return { kind: "map", place, entries: new Map(entries as [string, { key: Place; node: Node }][]) };
    }
  }
}
