import { constants } from "node:fs";
import { type FileHandle, mkdir, open, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { messageOf, VenturiError } from "venturi/plugin";
import { matchesName } from "./match.ts";
import type { FilesOptions } from "./options.ts";

const directoryFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const longestPath = 4_096;

/** An open folder below the root. Entries are opened relative to its handle, whatever happens to its path. */
export interface Folder {
  readonly handle: FileHandle;
  /** Path of `name` in this folder, for a single system call that must not follow links. */
  at(name: string): string;
}

export interface Root {
  readonly options: FilesOptions;
  /** Opens the folder that contains the path's last component, and passes it on with that component. */
  inside<Result>(path: string, use: (folder: Folder, name: string) => Promise<Result>): Promise<Result>;
  /** The same, creating missing folders. */
  making<Result>(path: string, use: (folder: Folder, name: string) => Promise<Result>): Promise<Result>;
  /** Opens the folder itself. */
  folder<Result>(path: string, use: (folder: Folder) => Promise<Result>): Promise<Result>;
  /** Makes changes one after the other: concurrent ones of a file would overwrite each other. */
  inTurn<Result>(change: () => Promise<Result>): Promise<Result>;
  isDenied(name: string): boolean;
  close(): Promise<void>;
}

/**
 * Paths are never resolved by the system as a whole: each component is opened relative to its parent's handle, without
 * following links. So `..`, symlinks and folders swapped in between cannot escape.
 */
export async function openRoot(options: FilesOptions, base: string): Promise<Root> {
  const handle = await openTop(resolve(base, options.root));
  const top = folderOf(handle.handle, handle.path);
  const isDenied = (name: string) => options.deny.some((pattern) => matchesName(pattern, name));

  const components = (path: string): string[] => {
    const segments = split(path);
    const denied = segments.find(isDenied);
    if (denied !== undefined) throw refusal(`"${denied}" is not accessible to tools`);
    return segments;
  };

  const descend = async <Result>(
    segments: readonly string[],
    step: (folder: Folder, name: string) => Promise<Folder>,
    use: (folder: Folder) => Promise<Result>,
  ): Promise<Result> => {
    const opened: Folder[] = [];
    try {
      let folder = top;
      for (const segment of segments) {
        folder = await step(folder, segment);
        opened.push(folder);
      }
      return await use(folder);
    } finally {
      for (const folder of opened) await folder.handle.close();
    }
  };

  const parentOf = (path: string): { parents: string[]; name: string } => {
    const segments = components(path);
    const name = segments.pop();
    if (name === undefined) throw refusal("the path names the root folder, not a file");
    return { parents: segments, name };
  };

  let last: Promise<unknown> = Promise.resolve();
  return {
    options,
    isDenied,
    inTurn(change) {
      const changed = last.then(change);
      last = changed.catch(() => {});
      return changed;
    },
    async inside(path, use) {
      const { parents, name } = parentOf(path);
      return await descend(parents, openFolder, (folder) => use(folder, name));
    },
    async making(path, use) {
      const { parents, name } = parentOf(path);
      return await descend(parents, makeFolder, (folder) => use(folder, name));
    },
    folder: async (path, use) => await descend(components(path), openFolder, use),
    close: () => handle.handle.close(),
  };
}

/** The path's components, or `tool_denied` for anything but a plain path below the root. */
function split(path: string): string[] {
  if (path.length > longestPath) throw refusal("the path is too long");
  if (hasControlCharacter(path)) throw refusal("the path has a control character in it");
  if (/^[/~]|^[A-Za-z]:|\\/.test(path)) throw refusal("use a path relative to the root, with / between folders");
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) throw refusal('".." is not allowed; paths start at the root');
  return segments;
}

export async function openFolder(folder: Folder, name: string): Promise<Folder> {
  const handle = await open(folder.at(name), directoryFlags).catch((thrown) => {
    throw explain(thrown, name);
  });
  return folderOf(handle, folder.at(name));
}

async function makeFolder(folder: Folder, name: string): Promise<Folder> {
  await mkdir(folder.at(name)).catch((thrown) => {
    if (codeOf(thrown) !== "EEXIST") throw explain(thrown, name);
  });
  return await openFolder(folder, name);
}

/**
 * Linux reaches an open folder through /proc/self/fd, which makes `at` equivalent to openat(2). Elsewhere only the path is
 * available: components are still opened without following links, but a folder swapped between two steps would go unnoticed.
 */
function folderOf(handle: FileHandle, path: string): Folder {
  const base = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : path;
  return { handle, at: (name) => join(base, name) };
}

async function openTop(path: string): Promise<{ handle: FileHandle; path: string }> {
  try {
    const real = await realpath(path);
    return { handle: await open(real, directoryFlags), path: real };
  } catch (thrown) {
    throw new VenturiError(
      "tool.create",
      "config_invalid",
      `root is not a folder that can be opened: ${messageOf(thrown)}`,
    );
  }
}

/** The failure, worded so that it reveals nothing outside the root. */
export function explain(thrown: unknown, name: string): VenturiError {
  if (VenturiError.isInstance(thrown)) return thrown;
  const code = codeOf(thrown);
  const failed = (message: string) => new VenturiError("tool.call", "tool_failed", message);
  if (code === "ENOENT") return failed(`"${name}" does not exist`);
  if (code === "ELOOP" || code === "EMLINK") return refusal(`"${name}" is a link; links are not followed`);
  if (code === "ENOTDIR") return failed(`"${name}" is not a folder (links are not followed)`);
  if (code === "EISDIR") return failed(`"${name}" is a folder`);
  if (code === "EACCES" || code === "EPERM") return failed(`"${name}" may not be opened`);
  if (code === "ENXIO" || code === "ENODEV") return failed(`"${name}" is not a regular file`);
  return failed(`"${name}" could not be used (${code ?? "unknown reason"})`);
}

export const codeOf = (thrown: unknown): string | undefined =>
  thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : undefined;

export const refusal = (message: string) => new VenturiError("tool.call", "tool_denied", message);

const hasControlCharacter = (text: string): boolean => {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 32 || code === 127) return true;
  }
  return false;
};
