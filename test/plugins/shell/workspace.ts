import { execFileSync, spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import shell from "../../../plugins/shell/index.ts";
import type { Log } from "../../../src/core/ports/log.ts";
import type { Tool } from "../../../src/core/ports/tool.ts";
import { testPluginContext } from "../../../src/testing.ts";

export const secret = "SECRET-2b8e41";

export interface Workspace {
  readonly base: string;
  readonly root: string;
  remove(): void;
}

/** A workspace with links to what lies beside it. */
export function makeWorkspace(): Workspace {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "venturi-shell-")));
  const root = join(base, "work");
  mkdirSync(join(root, "src"), { recursive: true });
  mkdirSync(join(base, "outside"));
  writeFileSync(join(base, "outside/secret.txt"), `${secret}\n`);
  writeFileSync(join(root, "hello.txt"), "hello\n");
  symlinkSync("../outside", join(root, "link-folder"));
  symlinkSync(join(base, "outside/secret.txt"), join(root, "link-file"));
  return { base, root, remove: () => rmSync(base, { recursive: true, force: true }) };
}

/** Makes the workspace itself a repository. */
export function makeRepository(workspace: Workspace): void {
  git(workspace.root, "init", "-q");
  git(workspace.root, "add", "hello.txt");
  git(workspace.root, "commit", "-qm", "inner");
}

function git(folder: string, ...argv: string[]): void {
  const identity = ["-c", "user.name=test", "-c", "user.email=test@example.test", "-c", "init.defaultBranch=main"];
  execFileSync("git", [...identity, ...argv], { cwd: folder, stdio: "ignore" });
}

/** Why the tests that need bubblewrap are left out; undefined if they are not. */
export const withoutBubblewrap: string | undefined = (() => {
  const { error, status, stderr } = spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"]);
  if (status === 0) return undefined;
  return `left out: bubblewrap is ${error === undefined ? `refused here (${String(stderr).trim()})` : "not installed"}`;
})();

/** The ways a command may run, as far as this machine has them. */
export const ways: readonly string[] = ["approve", ...(withoutBubblewrap === undefined ? ["bubblewrap"] : [])];

/** The tool, with a person who approves whatever it asks. */
export function approving(tool: Tool): Tool {
  const ask = async () => ({ approved: true });
  return { ...tool, call: (input, context) => tool.call(input, { ...context, ask }) };
}

export async function createShell(workspace: Workspace, given: Record<string, unknown>, log?: Log): Promise<Tool> {
  const options = shell.options.parse({ cwd: "work", ...given });
  const context = testPluginContext({ name: "shell", folder: workspace.base, ...(log === undefined ? {} : { log }) });
  return (await shell.create(options, context)) as Tool;
}

/** Command lines with this text in them that still run. */
export function runningWith(marker: string): string[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ");
      return line.includes(marker) && !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1")) ? [line] : [];
    } catch {
      return []; // gone
    }
  });
}
