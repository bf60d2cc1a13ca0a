import type { Chance } from "../../core/ports/chance.ts";

/** Sortable by time, unguessable. Node generates UUIDs in bulk but random bytes one by one; these 20 digits are all random. */
export function newRunId(now: number, chance: Chance): string {
  const uuid = chance.uuid();
  return `run_${now.toString(36).padStart(9, "0")}${uuid.slice(0, 8)}${uuid.slice(24)}`;
}
