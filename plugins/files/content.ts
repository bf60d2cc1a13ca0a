import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { VenturiError } from "venturi/plugin";
import { explain, type Folder } from "./root.ts";

// O_NONBLOCK: opening a named pipe would otherwise block until there is a writer.
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export interface Content {
  readonly bytes: Buffer;
  readonly mode: number;
}

/** The bytes of a regular file; checks apply to the opened handle, so the path cannot be swapped in between. */
export async function readContent(folder: Folder, name: string, maxFile: number): Promise<Content> {
  const handle = await open(folder.at(name), readFlags).catch((thrown) => {
    throw explain(thrown, name);
  });
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw failure(`"${name}" is ${stats.isDirectory() ? "a folder" : "not a regular file"}`);
    if (stats.size > maxFile) throw tooLarge(name, stats.size, maxFile);
    return { bytes: await readUpTo(handle, name, maxFile), mode: stats.mode & 0o777 };
  } finally {
    await handle.close();
  }
}

/** The text without a byte order mark, or undefined when it is not UTF-8. */
export function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined; // Not UTF-8.
  }
}

/** `mark`: the byte order mark that the file begins with, which is not in the text and has to be written back. */
export async function readText(
  folder: Folder,
  name: string,
  maxFile: number,
): Promise<{ text: string; mark: string; mode: number }> {
  const { bytes, mode } = await readContent(folder, name, maxFile);
  const text = textOf(bytes);
  if (text === undefined) throw failure(`"${name}" is a binary file (${bytes.length} bytes)`);
  return { text, mark: bytes.subarray(0, 3).toString() === "\ufeff" ? "\ufeff" : "", mode };
}

/** A file may grow while it is read, so its size is not a bound. */
async function readUpTo(handle: FileHandle, name: string, maxFile: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(65_536), 0, 65_536, total);
    if (bytesRead === 0) return Buffer.concat(chunks);
    total += bytesRead;
    if (total > maxFile) throw tooLarge(name, total, maxFile);
    chunks.push(buffer.subarray(0, bytesRead));
  }
}

const tooLarge = (name: string, size: number, maxFile: number) =>
  new VenturiError("tool.call", "too_large", `"${name}" has ${size} bytes; at most ${maxFile} are read`);

export const failure = (message: string) => new VenturiError("tool.call", "tool_failed", message);
