import type { Place } from "./problem.ts";

/** The config before validation: values with their source locations. */
export type Node = ScalarNode | MapNode | ListNode;

export interface ScalarNode {
  readonly kind: "scalar";
  value: string | number | boolean | null;
  readonly place: Place;
  /** The `${…}` references whose values it contains; never shown. */
  from?: readonly string[];
  /** External text (a variable, a file, `--set`) that may stand for a number or boolean. */
  loose?: boolean;
}

export interface MapNode {
  readonly kind: "map";
  readonly place: Place;
  readonly entries: Map<string, MapEntry>;
}

export interface MapEntry {
  readonly key: Place;
  node: Node;
}

export interface ListNode {
  readonly kind: "list";
  readonly place: Place;
  readonly items: Node[];
}

export type Path = readonly (string | number)[];

/** As plain values, for validation. */
export function plain(node: Node): unknown {
  switch (node.kind) {
    case "scalar":
      return node.value;
    case "list":
      return node.items.map(plain);
    case "map":
      return Object.fromEntries([...node.entries].map(([key, entry]) => [key, plain(entry.node)]));
  }
}

export function find(node: Node, path: Path): Node | undefined {
  let found: Node | undefined = node;
  for (const segment of path) {
    if (found?.kind === "map") found = found.entries.get(String(segment))?.node;
    else if (found?.kind === "list") found = found.items[Number(segment)];
    else return undefined;
  }
  return found;
}

/** Keys of the map at a path; none if there is no map. */
export function keysOf(root: Node, path: Path): string[] {
  const node = find(root, path);
  return node?.kind === "map" ? [...node.entries.keys()] : [];
}

/** Location of a value, or of its nearest existing ancestor. */
export function placeOf(root: Node, path: Path): Place {
  for (let length = path.length; length > 0; length--) {
    const node = find(root, path.slice(0, length));
    if (node !== undefined) return length === path.length ? node.place : keyPlaceOf(root, path.slice(0, length));
  }
  return root.place;
}

/** Location of a key, or of a list item. */
export function keyPlaceOf(root: Node, path: Path): Place {
  const parent = find(root, path.slice(0, -1));
  const entry = parent?.kind === "map" ? parent.entries.get(String(path.at(-1))) : undefined;
  return entry?.key ?? placeOf(root, path);
}

/** Every scalar below, with its path. */
export function* scalars(node: Node, path: Path = []): Generator<[Path, ScalarNode]> {
  if (node.kind === "scalar") yield [path, node];
  else if (node.kind === "list") {
    for (const [index, item] of node.items.entries()) yield* scalars(item, [...path, index]);
  } else {
    for (const [key, entry] of node.entries) yield* scalars(entry.node, [...path, key]);
  }
}
