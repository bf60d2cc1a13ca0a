import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The last commit before the journal's format was changed: what a release before that change would have been. */
export const lastFormat = "08802d5";

export interface OldVersion {
  /** Its command line. */
  readonly program: string;
  remove(): void;
}

/** Builds Venturi as it was at a commit, with the packages it had. Undefined where the history is not to be had. */
export function oldVersion(commit: string): OldVersion | undefined {
  try {
    execFileSync("git", ["cat-file", "-e", `${commit}^{commit}`], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), "venturi-old-"));
  const archive = execFileSync("git", ["archive", commit], { maxBuffer: 512 * 1024 * 1024 });
  mkdirSync(folder, { recursive: true });
  execFileSync("tar", ["x", "-C", folder], { input: archive });
  execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: folder, stdio: "ignore" });
  try {
    execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: folder, stdio: "ignore" });
  } catch {
    // What was emitted runs.
  }
  const program = join(folder, "dist/src/cli/bin.js");
  if (!existsSync(program)) throw new Error(`${commit} could not be built in ${folder}`);
  return { program, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
