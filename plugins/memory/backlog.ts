import type { BacklogRow, WorkerRow } from "venturi/plugin";
import type { StoredRun } from "./run.ts";

/** `seen`: when each worker last sent a heartbeat. */
export function workerRows(seen: ReadonlyMap<string, number>, open: Iterable<StoredRun>, now: number): WorkerRow[] {
  const held = Map.groupBy(
    [...open].filter(({ state }) => state === "running"),
    ({ worker }) => worker,
  );
  return [...seen].map(([worker, at]) => ({ worker, silentMs: now - at, runs: held.get(worker)?.length ?? 0 }));
}

export function backlogOf(open: Iterable<StoredRun>): BacklogRow[] {
  const rows = new Map<string, { agent: string; state: BacklogRow["state"]; runs: number; asking: number }>();
  for (const { state, request, asking } of open) {
    if (state === "done") continue;
    const key = `${state} ${request.agent}`;
    const row = rows.get(key) ?? { agent: request.agent, state, runs: 0, asking: 0 };
    row.runs += 1;
    if (request.parent === undefined) row.asking += asking;
    rows.set(key, row);
  }
  return [...rows.values()];
}
