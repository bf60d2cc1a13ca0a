import { createHash } from "node:crypto";
import type { Chance } from "../../core/ports/chance.ts";

/** Sortable by time, unguessable. Node generates UUIDs in bulk but random bytes one by one; these 20 digits are all random. */
export function newRunId(now: number, chance: Chance): string {
  const uuid = chance.uuid();
  return `run_${now.toString(36).padStart(9, "0")}${uuid.slice(0, 8)}${uuid.slice(24)}`;
}

/** When the run with this id was asked for, ms since the epoch; undefined for an id that somebody else made. */
export function timeOfRunId(run: string): number | undefined {
  const [, time] = /^run_([0-9a-z]{9})[0-9a-f]{20}$/.exec(run) ?? [];
  return time === undefined ? undefined : Number.parseInt(time, 36);
}

/** The same for the same key, so that the journal refuses a second run of it. */
export const keyedRunId = (tenant: string, key: string): string =>
  `run_k${createHash("sha256")
    .update(JSON.stringify([tenant, key]))
    .digest("hex")
    .slice(0, 32)}`;
