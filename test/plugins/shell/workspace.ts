import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const secret = "SECRET-2b8e41";

export interface Workspace {
  readonly base: string;
  readonly root: string;
  remove(): void;
}

/** A workspace with a git repository in it, inside another repository, with a secret and a program beside it. */
export function makeWorkspace(): Workspace {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "venturi-shell-")));
  const root = join(base, "work");
  mkdirSync(join(root, "src"), { recursive: true });
  mkdirSync(join(base, "outside"));
  writeFileSync(join(base, "outside/secret.txt"), `${secret}\n`);
  writeFileSync(join(base, "outside/run.sh"), `#!/bin/sh\ntouch ${base}/canary\n`, { mode: 0o755 });
  writeFileSync(join(root, "hello.txt"), "hello\n");
  writeFileSync(join(root, "run.sh"), `#!/bin/sh\ntouch ${base}/canary\n`, { mode: 0o755 });
  writeFileSync(join(root, "names.txt"), `${base}/outside/secret.txt\0`);
  symlinkSync("../outside", join(root, "link-folder"));
  symlinkSync(join(base, "outside/secret.txt"), join(root, "link-file"));
  symlinkSync("../../outside/secret.txt", join(root, "src/link-up"));
  symlinkSync(join(base, "planted-by-link"), join(root, "link-dangling"));
  git(base, "init", "-q");
  git(base, "add", "outside/secret.txt");
  git(base, "commit", "-qm", "outer");
  return { base, root, remove: () => rmSync(base, { recursive: true, force: true }) };
}

/** Makes the workspace itself a repository, with a hook that must not run. */
export function makeRepository(workspace: Workspace): void {
  git(workspace.root, "init", "-q");
  git(workspace.root, "add", "hello.txt");
  git(workspace.root, "commit", "-qm", "inner");
  writeFileSync(join(workspace.root, ".git/hooks/pre-commit"), `#!/bin/sh\ntouch ${workspace.base}/canary\n`, {
    mode: 0o755,
  });
}

function git(folder: string, ...argv: string[]): void {
  const identity = ["-c", "user.name=test", "-c", "user.email=test@example.test", "-c", "init.defaultBranch=main"];
  execFileSync("git", [...identity, ...argv], { cwd: folder, stdio: "ignore" });
}
