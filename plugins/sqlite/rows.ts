import { endOfRun, outcomeOf, questionsOpened } from "venturi/internal";
import {
  type Append,
  type AuditEntry,
  type AuditRow,
  type Billed,
  type EndOfRun,
  type Enqueue,
  encodeEvent,
  isTerminal,
  type Outcome,
  type Recording,
  type RunEvent,
} from "venturi/plugin";
import type { AppendColumns, AttemptEnd, DigestRow, EnqueueRow, RestoreRow } from "./protocol.ts";

export function toColumns(batch: readonly Append[], search: "text" | "none"): AppendColumns {
  const runs: string[] = [];
  const epochs: number[] = [];
  const bases: number[] = [];
  const heads: number[] = [];
  const bodies: string[] = [];
  const asks = new Map<number, number>();
  const ends = new Map<number, AttemptEnd>();
  const digests = new Map<number, DigestRow>();
  const bills = new Map<number, Billed>();
  for (const { ownership, events, state, seenSignals = 0, wakeAfter = null, end, billed, pieces } of batch) {
    const last = events.at(-1);
    const head = last?.seq ?? ownership.head;
    const opened = pieces ? 0 : questionsOpened(events);
    if (opened !== 0) asks.set(runs.length, opened);
    if (state !== undefined) ends.set(runs.length, { state, seenSignals, wakeAfter, outcome: endOf(last) });
    if (end !== undefined) digests.set(runs.length, toDigestRow(end, search));
    if (billed !== undefined) bills.set(runs.length, billed);
    runs.push(ownership.run);
    epochs.push(ownership.epoch);
    bases.push(head - events.length);
    heads.push(head);
    bodies.push(events.map(encodeEvent).join("\n"));
  }
  return {
    runs,
    epochs,
    bases,
    heads,
    bodies,
    ...(asks.size > 0 && { asks }),
    ...(ends.size > 0 && { ends }),
    ...(digests.size > 0 && { digests }),
    ...(bills.size > 0 && { billed: bills }),
  };
}

export const toDigestRow = ({ digest, text }: EndOfRun, search: "text" | "none"): DigestRow => ({
  ms: digest.ms,
  code: digest.code ?? null,
  cost: digest.cost ?? null,
  tools: JSON.stringify(digest.tools),
  models: JSON.stringify(digest.models),
  digest: JSON.stringify(digest),
  text: search === "text" ? text : null,
});

export function toRestoreRow(recording: Recording, search: "text" | "none"): RestoreRow {
  const { run, tenant, session, request, signals, wires, events, state = "waiting" } = recording;
  const end = endOfRun({ run, request }, events);
  const outcome = endOf(events.at(-1));
  return {
    run,
    tenant,
    session: session ?? null,
    agent: request.agent,
    caller: request.caller?.id ?? null,
    revision: request.revision ?? null,
    request: JSON.stringify(request),
    state: outcome === null ? state : "done",
    outcome,
    cancelled: signals.some(({ kind }) => kind === "cancel") ? 1 : 0,
    head: events.length,
    asking: questionsOpened(events),
    records: recordsOf(events),
    signals: signals.map(({ id, kind, body }, index) => ({
      number: index + 1,
      signal: id,
      kind,
      body: JSON.stringify(body),
    })),
    wires,
    end: end === undefined ? null : toDigestRow(end, search),
  };
}

function recordsOf(events: readonly RunEvent[]): RestoreRow["records"] {
  const records: { first: number; last: number; body: string }[] = [];
  for (let base = 0; base < events.length; base += recordSize) {
    const slice = events.slice(base, base + recordSize);
    records.push({ first: base + 1, last: base + slice.length, body: slice.map(encodeEvent).join("\n") });
  }
  return records;
}

const recordSize = 256;

const endOf = (last: RunEvent | undefined): Outcome | null =>
  last !== undefined && isTerminal(last) ? outcomeOf(last) : null;

export const toAuditRow = ({ action, by, tenant, run, details }: AuditEntry): Omit<AuditRow, "number" | "at"> => ({
  action,
  actor: by,
  tenant: tenant ?? null,
  run: run ?? null,
  details: details === undefined ? null : JSON.stringify(details),
});

export const toEnqueueRow = ({ run, tenant, session, request, key, whenBusy, claimFor }: Enqueue): EnqueueRow => ({
  run,
  tenant,
  session: session ?? null,
  agent: request.agent,
  caller: request.caller?.id ?? null,
  most: request.caller?.concurrentRuns ?? null,
  revision: request.revision ?? null,
  request: JSON.stringify(request),
  key: key ?? null,
  refuseBusy: whenBusy === "conflict",
  claimFor: claimFor ?? null,
});
