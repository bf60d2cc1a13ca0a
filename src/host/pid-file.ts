import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { messageOf, VenturiError } from "../core/errors.ts";
import type { Config } from "./config/load.ts";

export const pidFile = ({ folder, dataFolder }: Pick<Config, "folder" | "dataFolder">): string =>
  resolve(folder, dataFolder, "venturi.pid");

/** Says which process serves this config, for `venturi reload`; the result takes it back. */
export function writePidFile(config: Config): () => void {
  const file = pidFile(config);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${process.pid}\n`);
  return () => {
    // Another process may have taken the file over since.
    if (readPid(file) === process.pid) rmSync(file, { force: true });
  };
}

/** The process that serves this config. Rejects with `unavailable` when there is none. */
export function runningPid(config: Config): number {
  const file = pidFile(config);
  const pid = readPid(file);
  if (pid === undefined) {
    throw new VenturiError(
      "service.find",
      "unavailable",
      `no service is running with this config (${file} is not there)`,
    );
  }
  try {
    process.kill(pid, 0);
  } catch (thrown) {
    const message = `the service that wrote ${file} (process ${pid}) can't be reached: ${messageOf(thrown)}`;
    throw new VenturiError("service.find", "unavailable", message, { cause: thrown });
  }
  return pid;
}

function readPid(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, "utf8"));
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}
