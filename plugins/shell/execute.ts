import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { text as read } from "node:stream/consumers";
import { messageOf, VenturiError } from "venturi/plugin";
import type { Directory } from "./jail.ts";
import { launch, type Wrapped } from "./launch.ts";
import { HeadAndTail, Lines } from "./output.ts";
import { bootTicks, killMarked, killOne, signalGroup } from "./processes.ts";

const op = "tool.call";

export interface Launch extends Wrapped {
  readonly directory: Directory;
  readonly environment: Readonly<Record<string, string>>;
  readonly stdin: string | undefined;
}

export interface Bounds {
  readonly timeout: number;
  readonly killAfter: number;
  readonly maxOutput: number;
  readonly signal: AbortSignal;
  redact(text: string): string;
  progress(text: string): void;
}

export interface Executed {
  readonly exit: number | null;
  readonly signal?: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated?: true;
}

/** Runs one command to its end. However the call ends, nothing it started keeps running. */
export async function execute(given: Launch, bounds: Bounds): Promise<Executed> {
  const mark = `VENTURI_CALL=${randomUUID()}`;
  const since = bootTicks();
  const child = start(given, mark);
  const stdout = new HeadAndTail(bounds.maxOutput);
  const stderr = new HeadAndTail(bounds.maxOutput);
  const lines = new Lines(bounds.maxOutput, (text) => bounds.progress(bounds.redact(text)));
  child.stdout?.on("data", (chunk: Buffer) => {
    stdout.push(chunk);
    lines.push(chunk);
  });
  child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk));

  const ended = await supervise(child, { mark, since }, bounds);
  lines.end();
  const result: Executed = {
    exit: child.exitCode,
    ...(child.signalCode === null ? {} : { signal: child.signalCode }),
    stdout: bounds.redact(stdout.text()),
    stderr: bounds.redact(stderr.text()),
    ...(stdout.truncated || stderr.truncated ? { truncated: true } : {}),
  };
  if (ended === "cancelled") throw new VenturiError(op, "stream_interrupted", "the command was cancelled");
  if (ended === "timeout") throw timedOut(result, bounds.timeout);
  return result;
}

function start(given: Launch, mark: string): ChildProcess {
  const { directory, environment, stdin } = given;
  const [name = "", value = ""] = mark.split("=");
  const child = launch(given, {
    cwd: directory.startFrom,
    env: { ...environment, PWD: directory.path, [name]: value },
  });
  child.stdin?.on("error", () => {}); // The command may exit without reading its input.
  child.stdin?.end(stdin ?? "");
  return child;
}

/** The pid that a sandbox reports before its first process continues; undefined without one. */
async function firstInside(child: ChildProcess): Promise<number | undefined> {
  const report = child.stdio[3];
  if (!(report instanceof Readable)) return undefined;
  const text = await read(report).catch(() => ""); // It did not start.
  const [, pid] = /"child-pid": *(\d+)/.exec(text) ?? [];
  return pid === undefined ? undefined : Number(pid);
}

type Ending = "exited" | "cancelled" | "timeout";

/**
 * With a sandbox that reports its first process: kills that one, whereupon the kernel ends all others before the sandbox's own process
 * ends. Without: SIGTERM to the group, SIGKILL after a delay or once its leader is gone, then to processes that left the group.
 */
async function supervise(
  child: ChildProcess,
  { mark, since }: { mark: string; since: number },
  bounds: Bounds,
): Promise<Ending> {
  const inside = firstInside(child);
  let ending: Ending = "exited";
  let killer: NodeJS.Timeout | undefined;
  const stop = (why: Ending) => {
    if (child.pid === undefined || ending !== "exited") return;
    const leader = child.pid;
    ending = why;
    if (child.stdio[3] instanceof Readable)
      void inside.then((pid) => pid !== undefined && child.exitCode === null && killOne(pid));
    else signalGroup(leader, "SIGTERM");
    killer = setTimeout(() => signalGroup(leader, "SIGKILL"), bounds.killAfter);
  };
  const onAbort = () => stop("cancelled");
  const timer = setTimeout(() => stop("timeout"), bounds.timeout);
  bounds.signal.addEventListener("abort", onAbort, { once: true });
  if (bounds.signal.aborted) onAbort();
  try {
    await exited(child);
    if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
    await killMarked(mark, since);
    await closed(child);
    return ending;
  } finally {
    clearTimeout(timer);
    clearTimeout(killer);
    bounds.signal.removeEventListener("abort", onAbort);
  }
}

const exited = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    child.once("exit", () => resolve());
    child.once("error", (thrown) => {
      reject(new VenturiError(op, "tool_failed", `the command could not be started: ${messageOf(thrown)}`));
    });
  });

/** With all writers dead the pipes end once drained; otherwise they are closed. */
async function closed(child: ChildProcess): Promise<void> {
  const pipes = [child.stdout, child.stderr].filter((pipe) => pipe !== null && !pipe.closed);
  const patience = setTimeout(() => {
    for (const pipe of pipes) pipe?.destroy();
  }, 500);
  await Promise.all(pipes.map((pipe) => new Promise((resolve) => pipe?.once("close", resolve))));
  clearTimeout(patience);
}

const timedOut = (result: Executed, timeout: number) => {
  const last = result.stdout.slice(-500) || result.stderr.slice(-500);
  return new VenturiError(
    op,
    "tool_timeout",
    `the command was ended after ${timeout} ms; its last output: ${last || "none"}`,
  );
};
