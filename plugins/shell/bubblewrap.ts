import { execFile } from "node:child_process";
import { constants, existsSync } from "node:fs";
import { type FileHandle, lstat, open, readlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Log } from "venturi/plugin";
import { findProgram } from "./commands.ts";
import type { Jail } from "./jail.ts";
import { probe, type Sandbox } from "./launch.ts";
import type { ShellOptions } from "./options.ts";

/**
 * Gives commands the workspace and the system's programs, and nothing else: no other files or processes, no capabilities, no network unless
 * requested.
 */
export async function findBubblewrap(options: ShellOptions, jail: Jail, log: Log): Promise<Sandbox> {
  const program = await findProgram("bwrap", options.path, jail.root);
  const { stdout: help } = await promisify(execFile)(program, ["--help"], { timeout: 5_000 });
  const fixed = await fixedArguments(options, help.includes("--size "));
  const noNamespaces = help.includes("--disable-userns") ? ["--disable-userns"] : [];
  // The masked /proc of a container or hardened unit prevents mounting another one, and so does a limit on namespaces.
  const shell = shells.find((file) => existsSync(file)) ?? "/bin/sh";
  let failure: unknown;
  for (const variant of [[...noNamespaces, ...proc], proc, noNamespaces, []]) {
    const sandbox = wrapper(program, [...fixed, ...variant], { options, jail, shell });
    try {
      await using wrapped = await sandbox.wrap("/usr/bin/env", [], jail.root);
      await probe(wrapped, { cwd: jail.root, env: {} });
      if (process.getuid?.() === 0)
        log.warn("the kernel does not hold root to maxProcesses: run the service as another user");
      return sandbox;
    } catch (thrown) {
      failure = thrown;
    }
  }
  throw failure;
}

/** Kernel settings belong to root, who may write them without any capability, so they are mounted read-only. */
const proc = [
  ...["--proc", "/proc"],
  ...["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"].flatMap(readOnly),
];

/**
 * First process of the sandbox: when it ends, the kernel kills everything else in it before bwrap itself ends. It closes bwrap's
 * descriptors and those the service was started with, which may lead outside. dash only accepts single digits; `ulimit -u` is bash's, `-p`
 * dash's and busybox's.
 */
const starter = (processes: number): string => `
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
if [ -n "$BASH_VERSION" ]; then
  for at in /proc/self/fd/*; do case "\${at##*/}" in [0-2] | '*') ;; *) eval "exec \${at##*/}>&-" ;; esac; done
fi
ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} 2>/dev/null
"$@"
exit $?`;

const shells = ["/bin/bash", "/usr/bin/bash", "/bin/sh"];

interface Setting {
  readonly shell: string;
  readonly options: Pick<ShellOptions, "maxProcesses" | "readOnly">;
  readonly jail: Jail;
}

const wrapper = (program: string, mounts: readonly string[], { options, jail, shell }: Setting): Sandbox => ({
  async wrap(inner, argv, directory) {
    // Only the program itself; use `mounts` for what lies next to it.
    const own = ["/usr", ...systemFolders].some((folder) => inner.startsWith(`${folder}/`)) ? [] : readOnly(inner);
    const handles = await openAll(options.readOnly.map((name) => join(jail.root, name)));
    // By descriptor, so that a link created meanwhile is not followed.
    const shielded = [...handles.keys()].flatMap((path, index) => ["--ro-bind", `/proc/self/fd/${4 + index}`, path]);
    const last = ["--remount-ro", "/", "--chdir", directory, "--info-fd", "3", "--"];
    const started = [shell, "-c", starter(options.maxProcesses), "sh", inner, ...argv];
    return {
      program,
      argv: [...mounts, ...own, "--bind", jail.root, jail.root, ...shielded, ...last, ...started],
      descriptors: [...handles.values()].map(({ fd }) => fd),
      async [Symbol.asyncDispose]() {
        for (const handle of handles.values()) await handle.close();
      },
    };
  },
});

/** Opens the paths that exist and are not links. */
async function openAll(paths: readonly string[]): Promise<Map<string, FileHandle>> {
  const opened = new Map<string, FileHandle>();
  for (const path of paths) {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const handle = await open(path, flags).catch(() => undefined);
    if (handle !== undefined) opened.set(path, handle);
  }
  return opened;
}

const systemFolders = ["/bin", "/sbin", "/lib", "/lib32", "/lib64"];
const systemFiles = ["/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/nsswitch.conf"];
const networkFiles = ["/etc/resolv.conf", "/etc/hosts", "/etc/ssl", "/etc/ca-certificates", "/etc/pki"];
/** Size of each in-memory folder: /tmp and /dev/shm. */
const scratch = 256 * 1_048_576;

async function fixedArguments(options: ShellOptions, knowsSize: boolean): Promise<string[]> {
  const size = knowsSize ? ["--size", String(scratch)] : [];
  const folders = await Promise.all(systemFolders.map(systemFolder));
  return [
    ...["--unshare-all", "--unshare-user", ...(options.network ? ["--share-net"] : [])],
    ...["--cap-drop", "ALL"], // Root would keep all of them.
    ...["--die-with-parent", "--new-session", "--as-pid-1"],
    ...["--dev", "/dev", ...size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev", ...size, "--tmpfs", "/tmp"],
    ...["--ro-bind", "/usr", "/usr", ...folders.flat()],
    ...[...systemFiles, ...(options.network ? networkFiles : [])].flatMap(readOnly),
    ...options.mounts.flatMap((path) => ["--ro-bind", path, path]),
  ];
}

function readOnly(path: string): string[] {
  return ["--ro-bind-try", path, path];
}

/** /bin is a link to usr/bin on most systems, a folder on others. */
async function systemFolder(path: string): Promise<string[]> {
  const stats = await lstat(path).catch(() => undefined); // Not on this system.
  if (stats === undefined) return [];
  return stats.isSymbolicLink() ? ["--symlink", await readlink(path), path] : ["--ro-bind", path, path];
}
