import {
  type Append,
  type AuditRecord,
  type Claim,
  claimedRequest,
  encodeEvent,
  listedRequest,
  type Ownership,
  questionsOpened,
  type RunEvent,
  type RunRow,
  type Signal,
  storedBody,
  storedEvents,
} from "venturi/plugin";

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

export interface RecordRow {
  readonly run: string;
  readonly first: number;
  readonly body: string;
}

export interface SignalRow {
  readonly run: string;
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
  readonly id: string;
  readonly run: string;
  readonly tenant: string;
  readonly agent: string;
  readonly session: string | null;
  readonly state: RunRow["state"];
  readonly outcome: "finished" | "failed" | null;
  readonly head: number;
  readonly asking: number;
  readonly epoch: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly request: string;
}

/** Separates two bodies; JSON escapes it inside one. */
const separator = "\u001e";

/**
 * One array per column in PostgreSQL's format: run, epoch, base, head, body (joined), next state, signals seen, outcome, wake,
 * questions opened.
 */
export function toColumns(batch: readonly Append[]): string[] {
  const runs: string[] = [];
  const epochs: number[] = [];
  const bases: number[] = [];
  const heads: number[] = [];
  const bodies: string[] = [];
  const states: string[] = [];
  const seen: number[] = [];
  const outcomes: string[] = [];
  const wakes: (number | "NULL")[] = [];
  const asks: number[] = [];
  for (const { ownership, events, state, seenSignals, wakeAfter } of batch) {
    const last = events.at(-1);
    const head = last?.seq ?? ownership.head;
    runs.push(quoted(ownership.run));
    epochs.push(ownership.epoch);
    bases.push(head - events.length);
    heads.push(head);
    bodies.push(events.map(encodeEvent).join("\n"));
    states.push(state ?? '""');
    seen.push(seenSignals ?? 0);
    wakes.push(wakeAfter ?? "NULL");
    asks.push(questionsOpened(events));
    outcomes.push(last?.type === "run.finished" ? "finished" : last?.type === "run.failed" ? "failed" : "NULL");
  }
  const body = bodies.join(separator);
  const ends = [array(states), array(seen), array(outcomes), array(wakes), array(asks)];
  return [array(runs), array(epochs), array(bases), array(heads), body, ...ends];
}

const array = (elements: readonly unknown[]): string => `{${elements.join(",")}}`;
const quoted = (text: string): string => `"${text.replaceAll(/[\\"]/g, "\\$&")}"`;

/** Exactly the events after `after` in the records, at most `limit`. */
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
});

export const toAuditRecord = ({ number, at, action, actor, tenant, run, details }: AuditRow): AuditRecord => ({
  number,
  at,
  action,
  by: actor,
  ...(tenant === null ? {} : { tenant }),
  ...(run === null ? {} : { run }),
  ...(details === null ? {} : { details: JSON.parse(details) as Record<string, unknown> }), // written from an AuditEntry
});
