import { execFile } from "node:child_process";
import { lstat, readlink } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { type Log, messageOf, VenturiError } from "venturi/plugin";
import { findProgram } from "./commands.ts";
import type { ShellOptions } from "./index.ts";
import type { Jail } from "./jail.ts";

/** Turns a program and its arguments into bubblewrap's. */
export type Sandbox = (
  program: string,
  argv: readonly string[],
  directory: string,
) => { program: string; argv: string[] };

/**
 * The workspace and the system's programs, and nothing else: no other files, no other processes, no network unless asked
 * for. Everything in it dies with it.
 */
export async function findSandbox(options: ShellOptions, jail: Jail, log: Log): Promise<Sandbox | undefined> {
  if (options.sandbox === "off") return undefined;
  try {
    const bubblewrap = await findProgram("bwrap", options.path);
    const mounts = await mountsOf(options, jail);
    const wrap: Sandbox = (program, argv, directory) => {
      const own = program.startsWith("/usr/") ? [] : ["--ro-bind-try", dirname(program), dirname(program)];
      return { program: bubblewrap, argv: [...mounts, ...own, "--chdir", directory, "--", program, ...argv] };
    };
    const probe = wrap("/usr/bin/env", [], jail.root);
    await promisify(execFile)(probe.program, probe.argv, { env: {}, timeout: 5_000 });
    return wrap;
  } catch (thrown) {
    if (options.sandbox === "required") {
      throw new VenturiError(
        "tool.create",
        "config_invalid",
        `sandbox: required, but bubblewrap cannot be used: ${messageOf(thrown).split("\n")[0]}`,
        { cause: thrown },
      );
    }
    log.warn("commands run without a sandbox; install bubblewrap, or say sandbox: off if that is meant");
    return undefined;
  }
}

const systemFolders = ["/bin", "/sbin", "/lib", "/lib32", "/lib64"];
const systemFiles = ["/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/nsswitch.conf"];
const networkFiles = ["/etc/resolv.conf", "/etc/hosts", "/etc/ssl", "/etc/ca-certificates", "/etc/pki"];

async function mountsOf(options: ShellOptions, jail: Jail): Promise<string[]> {
  const argv = ["--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr"];
  if (options.network) argv.push("--share-net");
  for (const folder of systemFolders) argv.push(...(await systemFolder(folder)));
  const readOnly = [...systemFiles, ...(options.network ? networkFiles : []), ...options.mounts];
  for (const path of readOnly) argv.push("--ro-bind-try", path, path);
  return [...argv, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", jail.root, jail.root];
}

/** /bin is a link to usr/bin on most systems, a folder on others. */
async function systemFolder(path: string): Promise<string[]> {
  const stats = await lstat(path).catch(() => undefined); // not on this system
  if (stats === undefined) return [];
  return stats.isSymbolicLink() ? ["--symlink", await readlink(path), path] : ["--ro-bind", path, path];
}
