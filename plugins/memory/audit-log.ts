import type { AuditEntry, AuditQuery, AuditRecord } from "venturi/plugin";

/** Maximum records kept; the oldest are dropped, since everything is in memory. */
const mostKept = 10_000;

export class AuditLog {
  readonly #records: AuditRecord[] = [];
  #last = 0;

  add(entry: AuditEntry, at: number): void {
    this.#records.push({ ...structuredClone(entry), number: ++this.#last, at });
    if (this.#records.length > mostKept) this.#records.shift();
  }

  /** One page, newest first. */
  page({ tenant, action, run, cursor, limit = 50 }: AuditQuery): { records: AuditRecord[]; cursor?: string } {
    const found = this.#records.filter(
      (record) =>
        (tenant === undefined || record.tenant === tenant) &&
        (action === undefined || record.action === action) &&
        (run === undefined || record.run === run) &&
        (cursor === undefined || record.number < Number(cursor)),
    );
    const records = found.slice(-limit).reverse();
    const last = records.at(-1);
    return last && found.length > limit ? { records, cursor: String(last.number) } : { records };
  }
}
