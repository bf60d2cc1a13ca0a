import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../../", import.meta.url));

/**
 * A fenced block of a page. What follows its language is for the tests and is not shown: `as PATH` says where the reader puts it,
 * `in FOLDER` where the reader is, `run` has code run and not only checked, `parsed: why` and `not run: why` ask for less.
 */
export interface Block {
  readonly page: string;
  /** Of its first line within the page. */
  readonly line: number;
  readonly language: string;
  readonly tag: string;
  readonly text: string;
}

const skipped = new Set([
  "node_modules",
  "dist",
  "data",
  "coverage",
  "fixtures",
  ".git",
  ".github",
  ".stryker",
  "test",
]);

/** Every Markdown page of the repository, by its path. */
export function pages(folder = "."): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "." ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : pages(path);
    return entry.name.endsWith(".md") ? [path] : [];
  });
}

export const textOf = (page: string): string => readFileSync(join(root, page), "utf8");

export function blocksOf(page: string): Block[] {
  const found: Block[] = [];
  let open: { fence: string; line: number; language: string; tag: string; lines: string[] } | undefined;
  for (const [index, line] of textOf(page).split("\n").entries()) {
    const fence = /^(`{3,})(\S*)\s*(.*)$/.exec(line);
    if (open === undefined && fence) {
      open = { fence: fence[1] ?? "", line: index + 2, language: fence[2] ?? "", tag: fence[3] ?? "", lines: [] };
    } else if (open !== undefined && line === open.fence) {
      found.push({ page, line: open.line, language: open.language, tag: open.tag, text: `${open.lines.join("\n")}\n` });
      open = undefined;
    } else open?.lines.push(line);
  }
  return found;
}

export const isRun = (block: Block): boolean => !block.tag.startsWith("not run");
/** Where the block belongs, so that blocks can use each other. */
export const placeOf = (block: Block): string | undefined => /\bas (\S+)$/.exec(block.tag)?.[1];
export const nameOf = (block: Block): string => `${block.page}:${block.line}`;
