import type { SQLInputValue } from "node:sqlite";
import type { AuditQuery, ClaimFilter, ClaimRow, ListQuery } from "venturi/plugin";
import type { Appends } from "./appends.ts";
import type { BlobRow, Enqueued, EnqueueRow, NewSignalRow, RestoreRow } from "./protocol.ts";
import { keyName } from "./pruning.ts";
import * as sql from "./sql.ts";
import type { Statements } from "./statements.ts";

// Steps of the store on one run, each within its caller's transaction.

export function enqueue(ask: Statements, row: EnqueueRow): Enqueued {
  const known = row.key === null ? undefined : byKey(ask, row.tenant, row.key);
  if (known) return { kind: "existing", run: known.run };
  if (ask.get(sql.findRun, row.run)) return { kind: "conflict", message: `the run ${row.run} already exists` };
  const busy = row.session !== null && ask.get(sql.findOpenInSession, row.tenant, row.session) !== undefined;
  if (busy && row.refuseBusy) {
    return { kind: "conflict", message: `the session ${row.session} has an active run` };
  }
  const { run, tenant, key, session, agent, caller, revision } = row;
  if (row.most !== null && (ask.get<{ open: number }>(sql.countOpen, tenant, caller)?.open ?? 0) >= row.most) {
    return { kind: "tooMany", most: row.most };
  }
  const added = ask.get<{ id: number }>(sql.insertRun, run, tenant, key, session, agent, caller, revision);
  ask.run(sql.insertRequest, added?.id ?? 0, row.request);
  if (row.claimFor === null || busy) return { kind: "stored", work: !busy };
  const claim = ask.get<ClaimRow>(sql.claimRun, row.claimFor, added?.id ?? 0);
  return claim
    ? { kind: "stored", claim: { ...claim, request: row.request }, work: false }
    : { kind: "stored", work: true };
}

/** The run that has this key, or had it before it was removed. */
function byKey(ask: Statements, tenant: string, key: string): { run: string } | undefined {
  return ask.get(sql.findKey, tenant, key) ?? ask.get(sql.findRemovedKey, keyName(tenant, key));
}

export function claim(
  ask: Statements,
  { worker, limit, filter, lease }: { worker: string; limit: number; filter: ClaimFilter; lease: number },
): ClaimRow[] {
  ask.run(sql.beat, worker);
  ask.run(sql.wake);
  const free = ask.all<{ id: number; request: string }>(sql.findClaimable, {
    lease: lease,
    limit,
    agents: listOf(filter.agents),
    revisions: listOf(filter.revisions),
    runs: listOf(filter.runs ?? []),
  });
  const claims: ClaimRow[] = [];
  for (const { id, request } of free) {
    const claim = ask.get<ClaimRow>(sql.claimRun, worker, id);
    if (claim) claims.push({ ...claim, request });
  }
  return claims;
}

export function addSignal(
  ask: Statements,
  run: string,
  { id, kind, body }: NewSignalRow,
): "unknown" | "ignored" | "stored" | "woken" {
  const found = ask.get<{ id: number; state: string }>(sql.findRun, run);
  if (!found) return "unknown";
  if (found.state === "done" || ask.get(sql.findSignal, found.id, id)) return "ignored";
  const counted = ask.get<{ signals: number; state: string }>(sql.countSignal, kind === "cancel" ? 1 : 0, found.id);
  ask.run(sql.insertSignal, found.id, counted?.signals ?? 0, id, kind, body);
  return counted?.state === "ready" ? "woken" : "stored";
}

/** Returns the reason if it cannot be stored. */
export function restore(ask: Statements, appends: Appends, row: RestoreRow): string | undefined {
  if (ask.get(sql.findRun, row.run)) return `the run ${row.run} already exists`;
  if (row.session !== null && ask.get(sql.findOpenInSession, row.tenant, row.session)) {
    return `the session ${row.session} has an active run`;
  }
  const { request, records, signals, wires, end, ...columns } = row;
  const [added] = ask.all<{ id: number }>(sql.restoreRun, { ...columns, signals: signals.length });
  const id = added?.id ?? 0;
  ask.run(sql.insertRequest, id, request);
  for (const { first, last, body } of records) {
    ask.run(sql.restoreRecord, first, last, body, id);
    ask.run(sql.restoreTail, id);
  }
  for (const signal of signals) ask.run(sql.insertSignal, id, signal.number, signal.signal, signal.kind, signal.body);
  for (const kept of wires) ask.run(sql.insertWire, kept.round, kept.attempt, kept.wire, kept.bytes, row.run);
  if (end !== null) appends.keepDigest(id, end);
  return undefined;
}

/** Parameters of a list's statement. */
export function listParameters(query: ListQuery, limit: number): Record<string, SQLInputValue> {
  const { oldestFirst: _, waiting: __, mayLag: ___, sort, metadata, agents, cursor, ...asked } = query;
  const [place, value] = cursor?.split("_").map(Number).reverse() ?? [];
  return {
    ...asked,
    ...(agents === undefined ? {} : { agents: listOf(agents) }),
    ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata) }),
    ...(place === undefined ? {} : { cursor: place }),
    ...(value === undefined ? {} : { value }),
    limit,
  };
}

export const auditParameters = ({ tenant, action, run, cursor }: AuditQuery, limit: number) => ({
  tenant: tenant ?? null,
  action: action ?? null,
  run: run ?? null,
  cursor: cursor === undefined ? null : Number(cursor),
  limit,
});

export function useBlob(ask: Statements, run: string, hash: string): boolean {
  const there = ask.get(sql.touchBlob, hash) !== undefined;
  if (there) ask.run(sql.useBlob, run, hash);
  return there;
}

export function putBlob(ask: Statements, { run, hash }: { run: string; hash: string }, blob: BlobRow): void {
  if (useBlob(ask, run, hash)) return;
  ask.run(sql.insertBlob, hash, blob.parts, blob.bytes);
  ask.run(sql.useBlob, run, hash);
}

const listOf = (names: readonly string[] | undefined): string | null =>
  names === undefined ? null : JSON.stringify(names);
