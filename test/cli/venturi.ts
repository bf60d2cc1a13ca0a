import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../../src/cli/bin.js", import.meta.url));

export interface Outcome {
  readonly exit: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the command line as a user does, in a process of its own. */
export function venturi(
  words: readonly string[],
  env: Record<string, string> = {},
  cwd = process.cwd(),
  input = "",
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, ...words], { cwd, env: { ...process.env, NO_COLOR: "1", ...env } });
    let out = "";
    let err = "";
    child.stdout.on("data", (data) => {
      out += data;
    });
    child.stderr.on("data", (data) => {
      err += data;
    });
    child.on("error", reject);
    child.on("close", (exit) => resolve({ exit, out, err }));
    child.stdin.on("error", () => {}); // it may end before it has read
    child.stdin.end(input);
  });
}
