import { randomUUID } from "node:crypto";

/** Sortable by time, unguessable. Node generates UUIDs in bulk but random bytes one by one; these 20 digits are all random. */
export function newRunId(now: number): string {
  const uuid = randomUUID();
  return `run_${now.toString(36).padStart(9, "0")}${uuid.slice(0, 8)}${uuid.slice(24)}`;
}
