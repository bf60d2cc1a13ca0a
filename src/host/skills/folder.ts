import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { SkillFile } from "../../agent/run/skills.ts";
import { hasControlCharacter } from "../../core/values/control-characters.ts";

// O_NONBLOCK: opening a named pipe would otherwise block until there is a writer.
const fileFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

const most = {
  files: 1_000,
  depth: 10,
  /** Total size of all files, which are hashed. */
  bytes: 64 * 1_048_576,
  /** Size of one readable file, and of all together. */
  text: 1_048_576,
  texts: 8 * 1_048_576,
};

/** Neither read nor hashed: the git history is not part of the skill. */
const skipped = new Set([".git"]);

/** The folder cannot be a skill; the message continues after its path. */
export class Unfit extends Error {}

export interface FolderContent {
  readonly files: ReadonlyMap<string, SkillFile>;
  readonly hash: string;
}

/**
 * Reads all files of a folder, each opened relative to its parent's handle without following links, so that nothing outside can be read
 * even if entries are swapped meanwhile. Throws `Unfit` for special files or too much data.
 */
export async function readFolder(path: string): Promise<FolderContent> {
  const handle = await opened(path, folderFlags, "");
  const reading = new Reading();
  try {
    await reading.folder(handle, path, "");
  } finally {
    await handle.close();
  }
  const sorted = [...reading.files].sort(([one], [other]) => (one < other ? -1 : 1));
  const hash = createHash("sha256");
  for (const [name, { digest, size }] of sorted) hash.update(`${name}\0${size}\0${digest}\n`);
  return { files: new Map(sorted.map(([name, { file }]) => [name, file])), hash: hash.digest("hex") };
}

class Reading {
  readonly files = new Map<string, { readonly file: SkillFile; readonly size: number; readonly digest: string }>();
  #bytes = 0;
  #texts = 0;

  async folder(handle: FileHandle, path: string, below: string, depth = 0): Promise<void> {
    if (depth > most.depth) throw new Unfit(`${below}: folders are nested more than ${most.depth} deep`);
    // Linux reaches an open folder through /proc/self/fd, which makes this equivalent to openat(2).
    const base = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : path;
    for (const entry of await readdir(base, { withFileTypes: true })) {
      const { name } = entry;
      if (skipped.has(name)) continue;
      const inside = below === "" ? name : `${below}/${name}`;
      if (hasControlCharacter(name))
        throw new Unfit(`${JSON.stringify(inside)}: the name has a control character in it`);
      if (entry.isSymbolicLink()) throw new Unfit(`${inside} is a link; links are not followed`);
      if (!entry.isDirectory() && !entry.isFile()) throw new Unfit(`${inside} is neither a file nor a folder`);
      const inner = await opened(join(base, name), entry.isDirectory() ? folderFlags : fileFlags, inside);
      try {
        if (entry.isDirectory()) await this.folder(inner, join(path, name), inside, depth + 1);
        else await this.#file(inner, inside, isDenied(name) || below.split("/").some(isDenied));
      } finally {
        await inner.close();
      }
    }
  }

  async #file(handle: FileHandle, path: string, denied: boolean): Promise<void> {
    if (!(await handle.stat()).isFile()) throw new Unfit(`${path} is not a regular file`);
    if (this.files.size >= most.files) throw new Unfit(`there are more than ${most.files} files`);
    const hash = createHash("sha256");
    const chunks: Buffer[] = [];
    let size = 0;
    // A file may grow while it is read, so its size is not a bound.
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(65_536), 0, 65_536, size);
      if (bytesRead === 0) break;
      size += bytesRead;
      this.#bytes += bytesRead;
      if (this.#bytes > most.bytes) throw new Unfit(`its files have more than ${most.bytes / 1_048_576} MiB`);
      hash.update(buffer.subarray(0, bytesRead));
      if (size <= most.text) chunks.push(buffer.subarray(0, bytesRead));
    }
    const file = denied ? ({ size, unread: "denied" } as const) : this.#read(chunks, size);
    this.files.set(path, { file, size, digest: hash.digest("hex") });
  }

  #read(chunks: readonly Buffer[], size: number): SkillFile {
    if (size > most.text || this.#texts + size > most.texts) return { size, unread: "large" };
    const text = textOf(Buffer.concat(chunks));
    if (text === undefined) return { size, unread: "binary" };
    this.#texts += size;
    return { size, text };
  }
}

function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined; // Not UTF-8.
  }
}

async function opened(path: string, flags: number, name: string): Promise<FileHandle> {
  try {
    return await open(path, flags);
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown reason";
    const what = name === "" ? "it" : name;
    if (code === "ELOOP" || code === "EMLINK" || code === "ENOTDIR")
      throw new Unfit(`${what} is a link or no folder; links are not followed`);
    if (code === "EACCES") throw new Unfit(`${what} may not be read by this user`);
    throw new Unfit(`${what} can't be read (${code})`);
  }
}

/** Names that usually hold secrets: part of the hash, but not shown to models. The `files` tools hide the same ones. */
function isDenied(name: string): boolean {
  const lower = name.toLowerCase();
  return (
    [".env", "id_rsa", "id_ed25519"].some((start) => lower.startsWith(start)) ||
    [".pem", ".key", ".p12"].some((end) => lower.endsWith(end)) ||
    [".ssh", ".npmrc", ".netrc"].includes(lower)
  );
}
