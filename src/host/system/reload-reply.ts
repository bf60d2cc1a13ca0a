import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ErrorJson } from "../../core/errors/errors.ts";
import type { Config } from "../config/load.ts";
import { pidFile } from "./pid-file.ts";

/** The answer of a service to `venturi reload`. */
export type ReloadReply =
  | { readonly ok: true; readonly config: string; readonly needRestart: readonly string[] }
  | { readonly ok: false; readonly error: ErrorJson };

interface Outcome {
  readonly ok: boolean;
  readonly hash?: string;
  readonly restart?: readonly string[];
  readonly error?: { toJSON(): ErrorJson };
}

export const replyOf = ({ ok, hash = "", restart = [], error }: Outcome): ReloadReply =>
  ok || error === undefined ? { ok: true, config: hash, needRestart: restart } : { ok: false, error: error.toJSON() };

type Place = Pick<Config, "folder" | "dataFolder">;

const fileOf = (place: Place, pid: number): string => join(dirname(pidFile(place)), `venturi.reload-${pid}.json`);

/** Signals have no reply, so the answer is written next to the pid file; the command reads and removes it. */
export function writeReply(place: Place, pid: number, reply: ReloadReply): void {
  const file = fileOf(place, pid);
  try {
    writeFileSync(`${file}.new`, JSON.stringify(reply), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {
    // The log has it; an unwritable data folder must not fail a reload.
  }
}

export const clearReply = (place: Place, pid: number): void => rmSync(fileOf(place, pid), { force: true });

/** Undefined if there is none yet. */
export function readReply(place: Place, pid: number): ReloadReply | undefined {
  try {
    return JSON.parse(readFileSync(fileOf(place, pid), "utf8")) as ReloadReply; // Written by `writeReply`.
  } catch {
    return undefined;
  }
}
