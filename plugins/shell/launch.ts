import { type ChildProcess, spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { VenturiError } from "venturi/plugin";

/** What is really started, inside or outside a sandbox. */
export interface Wrapped {
  readonly program: string;
  readonly argv: readonly string[];
  /**
   * Set for a sandbox that reports its first process's pid on descriptor 3: further descriptors it gets, from 4 on. Nothing inside inherits
   * them.
   */
  readonly descriptors?: readonly number[];
}

export interface Sandbox {
  /** `directory`: a folder of the workspace to run in. */
  wrap(program: string, argv: readonly string[], directory: string): Promise<Wrapped & AsyncDisposable>;
}

interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** In a session and process group of its own: without a terminal, and killed as one. */
export const launch = ({ program, argv, descriptors }: Wrapped, { cwd, env }: Place): ChildProcess =>
  spawn(program, argv, {
    cwd,
    env: { ...env },
    detached: true,
    shell: false,
    stdio: ["pipe", "pipe", "pipe", ...(descriptors === undefined ? [] : ["pipe" as const, ...descriptors])],
  });

/** Runs it briefly and returns its output; rejects with the end of its output when it fails. */
export async function probe(wrapped: Wrapped, place: Place): Promise<string> {
  const child = launch(wrapped, place);
  const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
  child.stdin?.end();
  try {
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", resolve);
    });
    const pipes = [child.stdout, child.stderr].map((pipe) => (pipe === null ? "" : text(pipe)));
    const [code, out = "", err = ""] = await Promise.all([ended, ...pipes]);
    if (code === 0) return out;
    throw new VenturiError("tool.create", "config_invalid", err.trim().split("\n").at(-1) || `it ended with ${code}`);
  } finally {
    clearTimeout(timer);
  }
}
