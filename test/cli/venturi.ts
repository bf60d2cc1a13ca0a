import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { isSlow } from "../sweep.ts";
import type { CommandLine } from "./commands.ts";

/** Coverage is written by processes that end by themselves. */
const eachItsOwn = isSlow || process.env.NODE_V8_COVERAGE !== undefined;
const bin = fileURLToPath(new URL("../../src/cli/bin.js", import.meta.url));
const commands = fileURLToPath(new URL("./commands.js", import.meta.url));

export interface Outcome {
  readonly exit: number | null;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs the command line as a user does. `npm test` has one process for the commands of a worker, one after the other (commands.ts);
 * `npm run test:slow`, and what reads its input or runs beside another, a process of its own.
 */
export async function venturi(
  words: readonly string[],
  env: Record<string, string> = {},
  cwd = process.cwd(),
  input = "",
): Promise<Outcome> {
  const line = { words, env: { ...process.env, NO_COLOR: "1", ...env }, cwd };
  if (eachItsOwn || input !== "" || words.includes("start") || kept?.busy === true) {
    const child = spawn(process.execPath, [bin, ...words], line);
    child.stdin.on("error", () => {}); // it may end before it has read
    child.stdin.end(input);
    return await outcomeOf(child);
  }
  kept ??= new Kept();
  return await kept.run(line);
}

/** What it prints until it ends, or until both of its pipes have said the mark. */
function outcomeOf(child: ChildProcess, mark?: string): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const said = ["", ""];
    const listeners = [child.stdout, child.stderr].map((pipe, at) => {
      const listener = (data: string) => {
        said[at] += data;
        if (mark === undefined) return;
        const [[out = "", exit], [err = "", again]] = said.map((text) => text.split(mark)) as [string[], string[]];
        if (exit?.endsWith("\n") !== true || again?.endsWith("\n") !== true) return;
        for (const [which, each] of listeners.entries())
          [child.stdout, child.stderr][which]?.removeListener("data", each);
        child.removeListener("close", closed).removeListener("error", reject);
        resolve({ exit: Number(exit), out, err });
      };
      pipe?.setEncoding("utf8").on("data", listener);
      return listener;
    });
    const closed = (exit: number | null) => resolve({ exit, out: said[0] ?? "", err: said[1] ?? "" });
    child.once("error", reject);
    child.once("close", closed);
  });
}

/** The process for commands. It ends with this one, or when a command ends it. */
class Kept {
  busy = false;
  readonly #child = spawn(process.execPath, [commands], { stdio: ["ignore", "pipe", "pipe", "ipc"] });

  constructor() {
    this.#child.once("exit", () => {
      kept = undefined;
    });
    this.#child.unref();
    for (const handle of [this.#child.stdout, this.#child.stderr, this.#child.channel])
      (handle as { unref?: () => void } | null)?.unref?.(); // sockets, typed as streams
  }

  async run(line: Omit<CommandLine, "mark">): Promise<Outcome> {
    this.busy = true;
    const mark = `\0${randomUUID()} `;
    const outcome = outcomeOf(this.#child, mark);
    this.#child.send({ ...line, mark } satisfies CommandLine);
    return await outcome.finally(() => {
      this.busy = false;
    });
  }
}
let kept: Kept | undefined;
