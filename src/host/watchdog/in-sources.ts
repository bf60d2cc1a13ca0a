import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { SourceMap } from "./source-map.ts";

/** Matches address, query, line, column and closing parenthesis. */
const place = /^(file:[^?()]{1,1000})(\?[^():]{0,1000})?:(\d{1,9}):(\d{1,9})(\)?)$/;
const maps = new Map<string, SourceMap | undefined>();

/** Maps a stack frame to its source position when the program runs from a bundle or tsc output. */
export function inSources(frame: string): string {
  const start = frame.indexOf("file:");
  const [, url, query = "", line, column, after] = place.exec(start < 0 ? "" : frame.slice(start)) ?? [];
  if (url === undefined) return frame;
  const before = frame.slice(0, start);
  if (query !== "") return `${before}${url}:${line}:${column}${after}`; // A module that was loaded again.
  const found = mapOf(url)?.find(Number(line) - 1, Number(column) - 1);
  if (found === undefined) return frame;
  return `${before}${found.source.replaceAll("../", "")}:${found.line + 1}:${found.column + 1}${after}`;
}

function mapOf(url: string): SourceMap | undefined {
  if (!maps.has(url)) maps.set(url, readMap(`${fileURLToPath(url)}.map`));
  return maps.get(url);
}

const readMap = (path: string): SourceMap | undefined =>
  existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, "utf8"))) : undefined;
