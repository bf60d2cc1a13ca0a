import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { ListQuery } from "venturi/plugin";
import type {
  AppendRow,
  ClaimRow,
  Enqueued,
  EnqueueRow,
  Operations,
  RecordRow,
  RestoreRow,
  SignalRow,
  StoredRow,
  WireRow,
} from "./protocol.ts";
import * as sql from "./sql.ts";
import { WriteLock } from "./write-lock.ts";

type Row = Record<string, SQLInputValue>;

const mostIds = 50_000;
const stays = { freed: false };

/** The journal's rules on one connection. Every method is one transaction, taken for writing from its start. */
export class Store implements Omit<Operations, "close"> {
  readonly #database: DatabaseSync;
  readonly #lease: number;
  readonly #lock: WriteLock;
  readonly #statements = new Map<string, StatementSync>();
  /** Of runs that this process appends to. Ids are never given twice, so one that is out of date finds nothing. */
  readonly #ids = new Map<string, number>();

  constructor(database: DatabaseSync, options: { readonly lease: number; readonly busyTimeout: number }) {
    this.#database = database;
    this.#lease = options.lease;
    this.#lock = new WriteLock(database, options.busyTimeout);
  }

  append(rows: readonly AppendRow[]): { fenced: number[]; work: boolean } {
    return this.#write(() => {
      const fenced: number[] = [];
      let work = false;
      const now = this.#get<{ now: number }>(sql.readClock)?.now ?? 0;
      for (const [index, row] of rows.entries()) {
        const id = this.#ids.get(row.run) ?? this.#learn(row.run);
        const state = id === undefined ? undefined : this.#put(row, id, now);
        if (state === undefined) {
          if (id === undefined || !this.#isThere(row, id)) fenced.push(index);
          this.#ids.delete(row.run);
        } else if (state.freed) work = true;
      }
      return { fenced, work };
    });
  }

  read(run: string, after: number, limit: number): RecordRow[] {
    return this.#all<RecordRow>(sql.readRecords, { run, after, limit });
  }

  readMany(cursors: readonly { run: string; after: number }[], limit: number): { run: string; records: RecordRow[] }[] {
    const found: { run: string; records: RecordRow[] }[] = [];
    for (const { run, after } of cursors) {
      const records = this.read(run, after, limit);
      if (records.length > 0) found.push({ run, records });
    }
    return found;
  }

  enqueue(row: EnqueueRow): Enqueued {
    return this.#write((): Enqueued => {
      const known = row.key === null ? undefined : this.#get<{ run: string }>(sql.findKey, row.key);
      if (known) return { kind: "existing", run: known.run };
      if (this.#get(sql.findRun, row.run)) return { kind: "conflict", message: `the run ${row.run} is already there` };
      const busy = row.session !== null && this.#get(sql.findOpenInSession, row.session) !== undefined;
      if (busy && row.refuseBusy) {
        return { kind: "conflict", message: `the session ${row.session} has a run under way` };
      }
      const added = this.#get<{ id: number }>(sql.insertRun, row.run, row.key, row.session, row.agent);
      this.#run(sql.insertRequest, added?.id ?? 0, row.request);
      if (row.claimFor === null || busy) return { kind: "stored", work: !busy };
      const claim = this.#get<ClaimRow>(sql.claimRun, row.claimFor, added?.id ?? 0);
      return claim
        ? { kind: "stored", claim: { ...claim, request: row.request }, work: false }
        : { kind: "stored", work: true };
    });
  }

  claim(worker: string, limit: number): ClaimRow[] {
    return this.#write(() => {
      this.#run(sql.beat, worker);
      const free = this.#all<{ id: number; request: string }>(sql.findClaimable, { lease: this.#lease, limit });
      const claims: ClaimRow[] = [];
      for (const { id, request } of free) {
        const claim = this.#get<ClaimRow>(sql.claimRun, worker, id);
        if (claim) claims.push({ ...claim, request });
      }
      return claims;
    });
  }

  heartbeat(worker: string): void {
    this.#write(() => this.#run(sql.beat, worker));
  }

  held(worker: string): ClaimRow[] {
    return this.#all<ClaimRow>(sql.findHeld, { worker });
  }

  release(run: string, epoch: number): boolean {
    return this.#write(() => this.#get(sql.releaseRun, run, epoch) !== undefined);
  }

  signal(run: string, id: string, kind: string, body: string): "unknown" | "ignored" | "stored" | "woken" {
    return this.#write(() => {
      const found = this.#get<{ id: number; state: string }>(sql.findRun, run);
      if (!found) return "unknown";
      if (found.state === "done" || this.#get(sql.findSignal, found.id, id)) return "ignored";
      const counted = this.#get<{ signals: number; state: string }>(
        sql.countSignal,
        kind === "cancel" ? 1 : 0,
        found.id,
      );
      this.#run(sql.insertSignal, found.id, counted?.signals ?? 0, id, kind, body);
      return counted?.state === "ready" ? "woken" : "stored";
    });
  }

  signalsMany(cursors: readonly { run: string; after: number }[]): { run: string; signals: SignalRow[] }[] {
    const found: { run: string; signals: SignalRow[] }[] = [];
    for (const { run, after } of cursors) {
      const signals = this.#all<SignalRow>(sql.readSignals, { run, after });
      if (signals.length > 0) found.push({ run, signals });
    }
    return found;
  }

  get(run: string): StoredRow | undefined {
    return this.#get<StoredRow>(sql.findRow, run);
  }

  list(query: ListQuery, limit: number): StoredRow[] {
    const { agent = null, session = null, state = null, outcome = null } = query;
    const cursor = query.cursor === undefined ? null : Number(query.cursor);
    return this.#all<StoredRow>(query.oldestFirst ? sql.listOldest : sql.listNewest, {
      agent,
      session,
      state,
      outcome,
      cursor,
      limit,
    });
  }

  restore(row: RestoreRow): string | undefined {
    return this.#write(() => {
      if (this.#get(sql.findRun, row.run)) return `the run ${row.run} is already there`;
      if (row.session !== null && this.#get(sql.findOpenInSession, row.session)) {
        return `the session ${row.session} has a run under way`;
      }
      const { request, body, signals, wires, ...columns } = row;
      const [added] = this.#all<{ id: number }>(sql.restoreRun, { ...columns, signals: signals.length });
      const id = added?.id ?? 0;
      this.#run(sql.insertRequest, id, request);
      if (row.head > 0) {
        this.#run(sql.restoreRecord, id, row.head, body);
        this.#run(sql.restoreTail, id);
      }
      for (const signal of signals)
        this.#run(sql.insertSignal, id, signal.number, signal.signal, signal.kind, signal.body);
      for (const kept of wires) this.#run(sql.insertWire, kept.round, kept.attempt, kept.wire, kept.bytes, row.run);
      return undefined;
    });
  }

  pruneSome(olderThan: number | null, keep: number | null, limit: number): number {
    return this.#write(() => {
      const gone = this.#all<{ id: number }>(sql.findPrunable, { olderThan, keep, limit });
      for (const { id } of gone) for (const statement of sql.deleteRun) this.#run(statement, id);
      if (gone.length === 0) this.#run(sql.forgetWorkers);
      return gone.length;
    });
  }

  keepWire(run: string, round: number, attempt: number, wire: string, bytes: Uint8Array): void {
    this.#write(() => this.#run(sql.insertWire, round, attempt, wire, bytes, run));
  }

  wire(run: string): WireRow[] {
    return this.#all<WireRow>(sql.readWire, { run });
  }

  /** Asks to write: a file that another process has locked can still be read. */
  ping(): void {
    this.#write(() => {});
  }

  /** What another process may have left for this one. */
  changes(): { work: boolean; lastSignal: number } {
    const row = this.#get<{ work: number; signal: number | null }>(sql.lookForChanges);
    return { work: row?.work === 1, lastSignal: row?.signal ?? 0 };
  }

  /** Whether it freed something to claim; undefined when the fence held it off. */
  #put(row: AppendRow, id: number, now: number): { freed: boolean } | undefined {
    const { base, head, epoch, body } = row;
    if (head > base) {
      const { changes, lastInsertRowid } = this.#statement(sql.insertRecord).run(base, head, epoch, body, id);
      if (changes === 0) return undefined;
      this.#run(sql.advance, head, lastInsertRowid, now, id);
    }
    if (row.state === "") return stays;
    this.#ids.delete(row.run);
    const { state, seenSignals, outcome } = row;
    const values = { id, epoch, head, state, seenSignals, outcome };
    const [left] = this.#all<{ session: string | null; state: string }>(sql.leave, values);
    return left && { freed: left.state === "ready" || (left.state === "done" && left.session !== null) };
  }

  /** An append whose answer was lost is settled by what stands there. */
  #isThere({ base, head, epoch, body }: AppendRow, id: number): boolean {
    if (head === base) return this.#get(sql.findLeft, id, epoch, base) !== undefined;
    return this.#all(sql.findRecord, { id, after: base, limit: head - base, epoch, body }).length > 0;
  }

  #learn(run: string): number | undefined {
    const id = this.#get<{ id: number }>(sql.findRun, run)?.id;
    if (this.#ids.size >= mostIds) this.#ids.clear();
    if (id !== undefined) this.#ids.set(run, id);
    return id;
  }

  #write<T>(work: () => T): T {
    this.#lock.take();
    try {
      const value = work();
      this.#run("COMMIT");
      return value;
    } catch (thrown) {
      // Some failures (a full disk) have rolled back already.
      if (this.#database.isTransaction) this.#run("ROLLBACK");
      throw thrown;
    }
  }

  #statement(text: string): StatementSync {
    let statement = this.#statements.get(text);
    if (!statement) {
      statement = this.#database.prepare(text);
      this.#statements.set(text, statement);
    }
    return statement;
  }

  #run(text: string, ...values: SQLInputValue[]): void {
    this.#statement(text).run(...values);
  }

  #get<T>(text: string, ...values: SQLInputValue[]): T | undefined {
    return this.#statement(text).get(...values) as T | undefined; // the statement's columns are T's fields
  }

  #all<T>(text: string, values: Row): T[] {
    return this.#statement(text).all(values) as T[]; // the statement's columns are T's fields
  }
}
