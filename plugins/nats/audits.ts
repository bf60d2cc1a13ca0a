import { randomUUID } from "node:crypto";
import type { AuditEntry, AuditQuery, AuditRecord } from "venturi/plugin";
import type { Names } from "./names.ts";
import type { Store } from "./store.ts";
import { bytesOf, type Stored, textOf } from "./stored.ts";

const op = "journal.audit";

/** The server deduplicates by id within its window, so a lost response costs nothing. */
export const addAudit = ({ store, names }: { store: Store; names: Names }, entry: AuditEntry): Promise<void> =>
  store.put(op, {
    subject: names.audit(entry, "-"),
    headers: `Nats-Msg-Id: ${randomUUID()}\r\n`,
    data: bytesOf(JSON.stringify(entry)),
  });

/** Newest first. Streams can only be read forwards, so this reads growing windows from the end. */
export async function listAudits(
  { store, names }: { store: Store; names: Names },
  query: AuditQuery,
): Promise<{ records: AuditRecord[]; cursor?: string }> {
  const { limit = 50, cursor } = query;
  const filter = names.audit(query, "*");
  const last = await store.last(op, names.audits, filter);
  let before = Math.min(cursor === undefined ? Number.POSITIVE_INFINITY : Number(cursor), (last?.seq ?? 0) + 1);
  const found: AuditRecord[] = [];
  for (let width = 2 * limit; before > 1 && found.length <= limit; width *= 4) {
    const seq = Math.max(1, before - width);
    const batch: AuditRecord[] = [];
    for await (const stored of store.scan(op, names.audits, { filter, seq, upTo: last?.seq ?? 0 })) {
      if (stored.seq >= before) break;
      batch.push(recordOf(stored));
    }
    found.push(...batch.reverse());
    before = seq;
  }
  const records = found.slice(0, limit);
  const oldest = records.at(-1);
  return oldest && found.length > limit ? { records, cursor: String(oldest.number) } : { records };
}

const recordOf = (stored: Stored): AuditRecord => ({
  ...(JSON.parse(textOf(stored.data)) as AuditEntry), // Written from one.
  number: stored.seq,
  at: stored.time,
});
