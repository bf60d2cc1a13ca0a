import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { lstat, open, rename, unlink } from "node:fs/promises";
import { VenturiError } from "venturi/plugin";
import { failure } from "./content.ts";
import { explain, type Folder, refusal } from "./root.ts";

const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Writes a temporary file and renames it: readers see the old or the new content, a crash leaves one of them, and neither a
 * symlink nor a hard link is written through.
 */
export async function replaceContent(
  folder: Folder,
  name: string,
  { content, maxFile, mode }: { content: string; maxFile: number; mode?: number },
): Promise<number> {
  const bytes = Buffer.from(content, "utf8");
  if (bytes.length > maxFile) {
    throw new VenturiError(
      "tool.call",
      "too_large",
      `the content has ${bytes.length} bytes; at most ${maxFile} are written`,
    );
  }
  const kept = mode ?? (await modeOf(folder, name));
  const beside = folder.at(`.venturi-${randomBytes(8).toString("hex")}`);
  try {
    const handle = await open(beside, createFlags, kept ?? 0o644);
    try {
      if (kept !== undefined) await handle.chmod(kept); // The umask may have taken bits that the old file had.
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, folder.at(name));
  } catch (thrown) {
    await unlink(beside).catch(() => {}); // It may not exist.
    throw explain(thrown, name);
  }
  return bytes.length;
}

/** Undefined for a new file. */
async function modeOf(folder: Folder, name: string): Promise<number | undefined> {
  const stats = await lstat(folder.at(name)).catch(() => undefined);
  if (stats === undefined) return undefined;
  if (stats.isSymbolicLink()) throw refusal(`"${name}" is a link; links are not followed`);
  if (!stats.isFile()) throw failure(`"${name}" is ${stats.isDirectory() ? "a folder" : "not a regular file"}`);
  return stats.mode & 0o777;
}
