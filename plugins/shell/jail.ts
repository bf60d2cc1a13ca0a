import { constants } from "node:fs";
import { type FileHandle, open, readlink, realpath } from "node:fs/promises";
import { isAbsolute, resolve, sep } from "node:path";
import { messageOf, VenturiError } from "venturi/plugin";

/** The folder commands run in, with links resolved. */
export interface Jail {
  readonly root: string;
}

export async function openJail(cwd: string, folder: string): Promise<Jail> {
  const root = await realpath(resolve(folder, cwd)).catch((thrown) => {
    throw invalid(`cwd cannot be opened: ${messageOf(thrown)}`);
  });
  if (root === "/") throw invalid("cwd is the whole machine: name a folder with nothing but the agent's work");
  return { root };
}

/** A folder of the jail, held open so that it cannot be swapped between check and start. */
export interface Directory extends AsyncDisposable {
  readonly path: string;
  /** Path a new process can chdir to. */
  readonly startFrom: string;
}

export async function openDirectory(jail: Jail, path: string): Promise<Directory> {
  if (path.includes("\0") || isAbsolute(path)) throw denied(`"${path}" is not a folder below the workspace`);
  let handle: FileHandle | undefined;
  try {
    handle = await open(resolve(jail.root, path), constants.O_RDONLY | constants.O_DIRECTORY);
    const onLinux = process.platform === "linux";
    const real = onLinux ? await readlink(`/proc/self/fd/${handle.fd}`) : await realpath(resolve(jail.root, path));
    if (!isInside(jail, real)) throw denied(`"${path}" is outside the workspace`);
    const opened = handle;
    // The child keeps the inherited descriptor until exec, which is after it changed its folder.
    return {
      path: real,
      startFrom: onLinux ? `/proc/self/fd/${opened.fd}` : real,
      [Symbol.asyncDispose]: () => opened.close(),
    };
  } catch (thrown) {
    await handle?.close();
    if (VenturiError.isInstance(thrown)) throw thrown;
    throw new VenturiError("tool.call", "tool_failed", `"${path}" is not a folder in the workspace`, { cause: thrown });
  }
}

export const isInside = (jail: Jail, path: string): boolean => path === jail.root || path.startsWith(jail.root + sep);

const invalid = (message: string) => new VenturiError("tool.create", "config_invalid", message);
const denied = (message: string) => new VenturiError("tool.call", "tool_denied", message);
