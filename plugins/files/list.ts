import { lstat } from "node:fs/promises";
import { defineTool, type Tool } from "venturi/plugin";
import { z } from "zod";
import type { Root } from "./root.ts";
import { type Entry, walk } from "./walk.ts";

const parameters = z.strictObject({
  path: z.string().default(".").describe("folder below the root; the root itself when absent"),
  depth: z.number().int().min(1).max(10).default(1).describe("how many levels down"),
});

export const listTool = (root: Root, name: string): Tool =>
  defineTool({
    name: `${name}_list`,
    description: "Lists files and folders below the root folder, with sizes.",
    input: parameters,
    effect: "pure",
    call: ({ path, depth }, context) =>
      root.folder(path, async (folder) => {
        const entries: { path: string; kind: string; size?: number }[] = [];
        for await (const entry of walk(root, folder, { path: clean(path), depth })) {
          context.signal.throwIfAborted();
          if (entries.length >= root.options.maxEntries) return { entries, truncated: true };
          entries.push({ path: entry.path, kind: entry.kind, ...(await sizeOf(entry)) });
        }
        return { entries, truncated: false };
      }),
  });

const sizeOf = async (entry: Entry): Promise<{ size?: number }> => {
  if (entry.kind !== "file") return {};
  const stats = await lstat(entry.folder.at(entry.name)).catch(() => undefined); // Deleted since it was listed.
  return stats === undefined ? {} : { size: stats.size };
};

export const clean = (path: string): string =>
  path
    .split("/")
    .filter((segment) => segment !== "" && segment !== ".")
    .join("/");
