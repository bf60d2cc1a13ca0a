import { createHash } from "node:crypto";

/** Sortable by time and unguessable. Uses a UUID because Node generates those in bulk; these 20 digits are all random. */
export const newRunId = (now: number, uuid: string): string =>
  `run_${now.toString(36).padStart(9, "0")}${uuid.slice(0, 8)}${uuid.slice(24)}`;

/** When the run with this id was requested, ms since the epoch; undefined for ids in another format. */
export function timeOfRunId(run: string): number | undefined {
  const [, time] = /^run_([0-9a-z]{9})[0-9a-f]{20}$/.exec(run) ?? [];
  return time === undefined ? undefined : Number.parseInt(time, 36);
}

/** Same id for the same key, so that the journal refuses a second run. */
export const keyedRunId = (tenant: string, key: string): string =>
  `run_k${createHash("sha256")
    .update(JSON.stringify([tenant, key]))
    .digest("hex")
    .slice(0, 32)}`;
