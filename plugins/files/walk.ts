import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { codeOf, explain, type Folder, openFolder, type Root } from "./root.ts";

export interface Entry {
  /** Path relative to the root. */
  readonly path: string;
  readonly name: string;
  readonly kind: "file" | "folder" | "link" | "other";
  readonly folder: Folder;
}

interface Where {
  /** Path of the folder, relative to the root. */
  readonly path: string;
  /** Levels to descend. */
  readonly depth: number;
}

/** Entries below a folder by name, parents first; links are listed, never followed. */
export async function* walk(root: Root, folder: Folder, { path, depth }: Where): AsyncGenerator<Entry> {
  for (const entry of await entriesOf(root, folder, path)) {
    const below = path === "" ? entry.name : `${path}/${entry.name}`;
    const kind = kindOf(entry);
    yield { path: below, name: entry.name, kind, folder };
    if (kind !== "folder" || depth <= 1) continue;
    const inner = await openFolder(folder, entry.name).catch(() => undefined); // Deleted or made inaccessible since it was listed.
    if (inner === undefined) continue;
    try {
      yield* walk(root, inner, { path: below, depth: depth - 1 });
    } finally {
      await inner.handle.close();
    }
  }
}

async function entriesOf(root: Root, folder: Folder, path: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder.at("."), { withFileTypes: true });
    return entries
      .filter((entry) => !root.isDenied(entry.name))
      .sort((left, right) => (left.name < right.name ? -1 : 1));
  } catch (thrown) {
    if (codeOf(thrown) === "ENOENT") return [];
    throw explain(thrown, path);
  }
}

const kindOf = (entry: Dirent): Entry["kind"] => {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
};
