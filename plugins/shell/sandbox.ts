import { execFile } from "node:child_process";
import { lstat, readlink } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { type Log, messageOf, VenturiError } from "venturi/plugin";
import type { Command } from "./command.ts";
import { findProgram } from "./commands.ts";
import type { Jail } from "./jail.ts";
import type { ShellOptions } from "./options.ts";

/** Wraps a program and its arguments in bubblewrap. */
export type Sandbox = (
  program: string,
  argv: readonly string[],
  directory: string,
) => { program: string; argv: string[] };

interface Setting {
  readonly jail: Jail;
  readonly log: Log;
  readonly commands: readonly Command[];
}

/**
 * The workspace and the system's programs, and nothing else: no other files, no other processes, no network unless requested.
 * Everything inside dies with it. Where it is unavailable, only commands that cannot run code are offered.
 */
export async function findSandbox(options: ShellOptions, setting: Setting): Promise<Sandbox | undefined> {
  const dangerous = setting.commands.filter((command) => command.canRunCode).map((command) => command.name);
  if (options.sandbox === "off") {
    if (dangerous.length > 0)
      setting.log.warn(`sandbox: off, so ${dangerous.join(", ")} can run any code as this user`);
    return undefined;
  }
  try {
    return await probe(options, setting.jail);
  } catch (thrown) {
    const reason = messageOf(thrown).trim().split("\n").at(-1);
    if (options.sandbox === "required")
      throw invalid(`sandbox: required, but bubblewrap cannot be used: ${reason}`, thrown);
    if (dangerous.length > 0) {
      throw invalid(
        `${dangerous.join(", ")} can run code and needs a sandbox, but bubblewrap cannot be used: ${reason}. Install it, or say sandbox: off if that is meant`,
        thrown,
      );
    }
    setting.log.warn(`commands run without a sandbox, since bubblewrap cannot be used: ${reason}`);
    return undefined;
  }
}

/** With its own /proc where permitted; a service's or container's masked /proc prevents mounting another. */
async function probe(options: ShellOptions, jail: Jail): Promise<Sandbox> {
  const bubblewrap = await findProgram("bwrap", options.path);
  const mounts = await mountsOf(options, jail);
  const withProc = wrapper(bubblewrap, [...mounts, "--proc", "/proc"]);
  if (
    await works(withProc, jail).then(
      () => true,
      () => false,
    )
  )
    return withProc;
  const withoutProc = wrapper(bubblewrap, mounts);
  await works(withoutProc, jail);
  return withoutProc;
}

const wrapper =
  (bubblewrap: string, mounts: readonly string[]): Sandbox =>
  (program, argv, directory) => {
    const own = program.startsWith("/usr/") ? [] : ["--ro-bind-try", dirname(program), dirname(program)];
    return { program: bubblewrap, argv: [...mounts, ...own, "--chdir", directory, "--", program, ...argv] };
  };

async function works(sandbox: Sandbox, jail: Jail): Promise<void> {
  const { program, argv } = sandbox("/usr/bin/env", [], jail.root);
  await promisify(execFile)(program, argv, { env: {}, timeout: 5_000 });
}

const invalid = (message: string, cause: unknown) =>
  new VenturiError("tool.create", "config_invalid", message, { cause });

const systemFolders = ["/bin", "/sbin", "/lib", "/lib32", "/lib64"];
const systemFiles = ["/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/nsswitch.conf"];
const networkFiles = ["/etc/resolv.conf", "/etc/hosts", "/etc/ssl", "/etc/ca-certificates", "/etc/pki"];

async function mountsOf(options: ShellOptions, jail: Jail): Promise<string[]> {
  const argv = ["--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr"];
  if (options.network) argv.push("--share-net");
  for (const folder of systemFolders) argv.push(...(await systemFolder(folder)));
  const readOnly = [...systemFiles, ...(options.network ? networkFiles : []), ...options.mounts];
  for (const path of readOnly) argv.push("--ro-bind-try", path, path);
  return [...argv, "--dev", "/dev", "--tmpfs", "/tmp", "--bind", jail.root, jail.root];
}

/** /bin is a link to usr/bin on most systems, a folder on others. */
async function systemFolder(path: string): Promise<string[]> {
  const stats = await lstat(path).catch(() => undefined); // not on this system
  if (stats === undefined) return [];
  return stats.isSymbolicLink() ? ["--symlink", await readlink(path), path] : ["--ro-bind", path, path];
}
