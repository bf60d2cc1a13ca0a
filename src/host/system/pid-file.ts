import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { VenturiError } from "../../core/errors/errors.ts";
import type { Config } from "../config/load.ts";

type Place = Pick<Config, "folder" | "dataFolder">;

export const pidFile = ({ folder, dataFolder }: Place): string => resolve(folder, dataFolder, "venturi.pid");

/** A serving process: a line `PID CONFIG-FILE` of the file, since several processes may share a data folder. */
interface Served {
  readonly pid: number;
  /** Undefined when the line has no config file. */
  readonly config: string | undefined;
}

/** Records that this process serves this config, for `venturi reload`; the returned function removes the line. */
export function writePidFile(config: Place & Pick<Config, "file">, own = process.pid): () => void {
  const file = pidFile(config);
  mkdirSync(dirname(file), { recursive: true });
  const others = readAll(file);
  // Removes lines of killed processes only; live ones stay, even if others start at the same moment.
  if (others.some(({ pid }) => !isAlive(pid)))
    writeAll(
      file,
      others.filter(({ pid }) => isAlive(pid)),
    );
  appendFileSync(file, `${own} ${config.file}\n`);
  return () => {
    const left = readAll(file).filter(({ pid }) => pid !== own);
    if (left.length === 0) rmSync(file, { force: true });
    else writeAll(file, left);
  };
}

/** The processes that serve this config. Throws `unavailable` when there is none. */
export function runningPids(config: Place & Pick<Config, "file">): number[] {
  const file = pidFile(config);
  const served = readAll(file).filter((each) => each.config === undefined || each.config === config.file);
  const alive = [...new Set(served.map(({ pid }) => pid))].filter(isAlive);
  if (alive.length > 0) return alive;
  const why = served.length === 0 ? `${file} names none` : `process ${served[0]?.pid} of ${file} is gone`;
  throw new VenturiError("service.find", "unavailable", `no service is running with this config (${why})`);
}

function readAll(file: string): Served[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return [];
  }
  return text.split("\n").flatMap((line) => {
    const [, pid, config] = /^(\d+)(?: (.+))?$/.exec(line.trim()) ?? [];
    return pid === undefined || Number(pid) === 0 ? [] : [{ pid: Number(pid), config }];
  });
}

const writeAll = (file: string, all: readonly Served[]): void =>
  writeFileSync(file, all.map(({ pid, config }) => `${pid}${config === undefined ? "" : ` ${config}`}\n`).join(""));

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // EPERM: alive, but owned by another user.
    return thrown instanceof Error && "code" in thrown && thrown.code === "EPERM";
  }
}
