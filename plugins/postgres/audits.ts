import { toAuditRecord } from "venturi/internal";
import type { AuditEntry, AuditQuery, AuditRecord, AuditRow } from "venturi/plugin";
import type { Database } from "./database.ts";
import type { Statements } from "./sql.ts";

const op = "journal.audit";

export async function addAudit(database: Database, sql: Statements, entry: AuditEntry): Promise<void> {
  const { action, by, tenant = null, run = null, details } = entry;
  const written = details === undefined ? null : JSON.stringify(details);
  await database.query(op, sql.audit, [action, by, tenant, run, written]);
}

export async function listAudits(
  database: Database,
  sql: Statements,
  query: AuditQuery,
): Promise<{ records: AuditRecord[]; cursor?: string }> {
  const { tenant = null, action = null, run = null, cursor = null, limit = 50 } = query;
  const found = await database.find<AuditRow>(op, sql.audits, [tenant, action, run, cursor, limit + 1]);
  const records = found.slice(0, limit).map(toAuditRecord);
  const last = records.at(-1);
  return last && found.length > limit ? { records, cursor: String(last.number) } : { records };
}
