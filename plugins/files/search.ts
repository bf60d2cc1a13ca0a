import { defineTool, type Tool } from "venturi/plugin";
import { z } from "zod";
import { readContent, textOf } from "./content.ts";
import { clean } from "./list.ts";
import { matchesName } from "./match.ts";
import type { Root } from "./root.ts";
import { type Entry, walk } from "./walk.ts";

const parameters = z.strictObject({
  text: z.string().min(1).max(1_000).optional().describe("plain text to find in files"),
  name: z.string().min(1).max(200).optional().describe('file name pattern such as "*.ts"'),
  path: z.string().default(".").describe("folder to search below"),
  caseSensitive: z.boolean().default(false),
});

interface Match {
  readonly path: string;
  readonly line?: number;
  readonly text?: string;
}

const maxFiles = 20_000;
const maxBytes = 256 * 1_048_576;
const maxLine = 300;

export const searchTool = (root: Root, name: string): Tool =>
  defineTool({
    name: `${name}_search`,
    description: "Finds files below the root folder by name pattern, by plain text in them, or both.",
    input: parameters,
    effect: "pure",
    call: ({ path, name: pattern, text, caseSensitive }, context) =>
      root.folder(path, async (folder) => {
        const matches: Match[] = [];
        let files = 0;
        let bytes = 0;
        for await (const entry of walk(root, folder, { path: clean(path), depth: 100 })) {
          context.signal.throwIfAborted();
          if (entry.kind !== "file" || (pattern !== undefined && !matchesName(pattern, entry.name))) continue;
          if (++files > maxFiles || bytes > maxBytes) return { matches, truncated: true };
          if (text === undefined) matches.push({ path: entry.path });
          else bytes += await searchIn(entry, { root, text, caseSensitive, matches });
          if (matches.length >= root.options.maxEntries) {
            return { matches: matches.slice(0, root.options.maxEntries), truncated: true };
          }
        }
        return { matches, truncated: false };
      }),
  });

interface Search {
  readonly root: Root;
  readonly text: string;
  readonly caseSensitive: boolean;
  readonly matches: Match[];
}

/** Adds matching lines and returns the number of bytes read. Skips binary and oversized files. */
async function searchIn(entry: Entry, search: Search): Promise<number> {
  const content = await readContent(entry.folder, entry.name, search.root.options.maxFile).catch(() => undefined);
  const text = content === undefined ? undefined : textOf(content.bytes);
  if (content === undefined || text === undefined) return content?.bytes.length ?? 0;
  const fold = (value: string) => (search.caseSensitive ? value : value.toLowerCase());
  const wanted = fold(search.text);
  if (!fold(text).includes(wanted)) return content.bytes.length;
  for (const [index, line] of text.split("\n").entries()) {
    if (!fold(line).includes(wanted)) continue;
    search.matches.push({ path: entry.path, line: index + 1, text: line.slice(0, maxLine) });
    if (search.matches.length > search.root.options.maxEntries) break;
  }
  return content.bytes.length;
}
