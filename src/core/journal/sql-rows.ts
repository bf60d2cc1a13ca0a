import type { Outcome, RunEvent } from "../run/events.ts";
import type { RunRow } from "../run/run-row.ts";
import type { AuditRecord } from "./audit.ts";
import type { Claim, Ownership, Signal } from "./journal.ts";
import { claimedRequest, listedRequest, storedBody, storedDigest, storedEvents } from "./stored.ts";

/** Rows of an SQL journal, independent of the engine's types, and their mapping to the port. */

export interface ClaimRow {
  readonly run: string;
  readonly tenant: string;
  readonly session: string | null;
  readonly agent: string;
  readonly epoch: number;
  readonly head: number;
  readonly signals: number;
  readonly request: string;
}

/** Events that were appended together, one JSON text per line. */
export interface RecordRow {
  readonly first: number;
  readonly body: string;
}

export interface SignalRow {
  readonly number: number;
  readonly signal: string;
  readonly kind: Signal["kind"];
  readonly body: string;
}

export interface AuditRow {
  readonly number: number;
  readonly at: number;
  readonly action: string;
  readonly actor: string;
  readonly tenant: string | null;
  readonly run: string | null;
  readonly details: string | null;
}

export interface StoredRow {
  readonly run: string;
  readonly tenant: string;
  readonly agent: string;
  readonly session: string | null;
  readonly state: RunRow["state"];
  readonly outcome: Outcome | null;
  readonly head: number;
  readonly asking: number;
  readonly epoch: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly request: string;
  readonly digest?: string | null;
}

/** The events after `after` in these records, at most `limit`. */
export function toEvents(records: readonly RecordRow[], after: number, limit: number): RunEvent[] {
  const events: RunEvent[] = [];
  for (const { first, body } of records) {
    const lines = body.split("\n");
    const from = Math.max(0, after + 1 - first);
    events.push(...storedEvents(lines.slice(from, after + limit + 1 - first)));
  }
  return events;
}

export const toOwnership = (row: Pick<ClaimRow, "run" | "session" | "epoch" | "head">, worker: string): Ownership => ({
  run: row.run,
  session: row.session ?? undefined,
  epoch: row.epoch,
  worker,
  head: row.head,
});

export const toClaim = (row: ClaimRow, worker: string): Claim => ({
  ownership: toOwnership(row, worker),
  tenant: row.tenant,
  ...claimedRequest(row.request, row.agent),
  signals: row.signals,
});

export const toSignal = (row: SignalRow): Signal => ({
  number: row.number,
  id: row.signal,
  kind: row.kind,
  body: storedBody(row.body),
});

export const toRow = (row: StoredRow): RunRow => ({
  run: row.run,
  tenant: row.tenant,
  agent: row.agent,
  session: row.session ?? undefined,
  state: row.state,
  outcome: row.outcome ?? undefined,
  head: row.head,
  asking: row.asking,
  epoch: row.epoch,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  request: listedRequest(row.request, row.agent),
  ...storedDigest(row.digest),
});

export const toAuditRecord = ({ number, at, action, actor, tenant, run, details }: AuditRow): AuditRecord => ({
  number,
  at,
  action,
  by: actor,
  ...(tenant === null ? {} : { tenant }),
  ...(run === null ? {} : { run }),
  ...(details === null ? {} : { details: JSON.parse(details) as Record<string, unknown> }), // Written from an AuditEntry.
});
