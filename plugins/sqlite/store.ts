import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type {
  AuditQuery,
  AuditRow,
  BacklogRow,
  Balance,
  ClaimFilter,
  ClaimRow,
  KeyRange,
  KeyValue,
  ListQuery,
  RecordRow,
  Reservation,
  Reserved,
  SignalRow,
  StoredRow,
  UsageQuery,
  UsageRow,
  WorkerRow,
} from "venturi/plugin";
import { Appends } from "./appends.ts";
import { ChangeWatch } from "./change-watch.ts";
import { forgetLog, removing } from "./erasure.ts";
import { fitPage } from "./fit-page.ts";
import { balances, forgetAccounts, Ledger, usage } from "./money.ts";
import type {
  AppendColumns,
  BlobRow,
  Changes,
  DigestRow,
  Enqueued,
  EnqueueRow,
  ListedRow,
  NewSignalRow,
  NewValue,
  Operations,
  Prunable,
  RestoreRow,
  Sweep,
  ThreadData,
  WireRow,
} from "./protocol.ts";
import { Pruning } from "./pruning.ts";
import * as sql from "./sql.ts";
import { Statements } from "./statements.ts";
import { addSignal, auditParameters, claim, enqueue, listParameters, putBlob, restore, useBlob } from "./store-runs.ts";
import { WriteLock } from "./write-lock.ts";

/** Maximum runs removed per prune step. */
const pruneStep = 500;

/** The journal's rules on one connection. Every method is one transaction, begun IMMEDIATE. */
export class Store implements Omit<Operations, "close"> {
  readonly #database: DatabaseSync;
  readonly #options: Pick<ThreadData, "lease" | "busyTimeout" | "pageBytes">;
  readonly #lock: WriteLock;
  readonly #ask: Statements;
  readonly #appends: Appends;
  readonly #pruning: Pruning;
  readonly #changes: ChangeWatch;

  constructor(database: DatabaseSync, options: Pick<ThreadData, "lease" | "busyTimeout" | "pageBytes">) {
    this.#database = database;
    this.#ask = new Statements(database);
    this.#appends = new Appends(this.#ask);
    this.#pruning = new Pruning(this.#ask);
    this.#changes = new ChangeWatch(this.#ask);
    this.#options = options;
    this.#lock = new WriteLock(database, options.busyTimeout);
  }

  append(columns: AppendColumns): { fenced: number[]; work: boolean } | undefined {
    const done = this.#write(() => this.#appends.append(columns));
    return done.work || done.fenced.length > 0 ? done : undefined;
  }

  read(run: string, after: number, limit: number): RecordRow[] {
    const records = this.#ask.each<RecordRow>(sql.readRecords, { run, after, limit });
    return fitPage(records, this.#options.pageBytes, ({ body }) => body.length).page;
  }

  readMany(cursors: readonly { run: string; after: number }[], limit: number): { run: string; records: RecordRow[] }[] {
    const found = cursors.map(({ run, after }) => ({ run, records: this.read(run, after, limit) }));
    return found.filter(({ records }) => records.length > 0);
  }

  enqueue(rows: readonly EnqueueRow[]): Enqueued[] {
    return this.#write(() => rows.map((row) => enqueue(this.#ask, row)));
  }

  claim(worker: string, limit: number, filter: ClaimFilter): ClaimRow[] {
    return this.#write(() => claim(this.#ask, { worker, limit, filter, lease: this.#options.lease }));
  }

  heartbeat(worker: string): void {
    this.#write(() => this.#ask.run(sql.beat, worker));
  }

  held(worker: string): ClaimRow[] {
    return this.#ask.all<ClaimRow>(sql.findHeld, { worker });
  }

  free(worker: string): number {
    return this.#write(() => Number(this.#ask.run(sql.freeRuns, worker).changes));
  }

  release(run: string, epoch: number): boolean {
    return this.#write(() => this.#ask.get(sql.releaseRun, run, epoch) !== undefined);
  }

  signal(run: string, signal: NewSignalRow): "unknown" | "ignored" | "stored" | "woken" {
    return this.#write(() => addSignal(this.#ask, run, signal));
  }

  signalsMany(cursors: readonly { run: string; after: number }[]): { run: string; signals: SignalRow[] }[] {
    const found: { run: string; signals: SignalRow[] }[] = [];
    for (const { run, after } of cursors) {
      const signals = this.#ask.all<SignalRow>(sql.readSignals, { run, after });
      if (signals.length > 0) found.push({ run, signals });
    }
    return found;
  }

  get(run: string): StoredRow | undefined {
    return this.#ask.get<StoredRow>(sql.findRow, run);
  }

  workers(): WorkerRow[] {
    return this.#ask.all<WorkerRow>(sql.listWorkers, {});
  }

  backlog(): BacklogRow[] {
    return this.#ask.all<BacklogRow>(sql.countBacklog, {});
  }

  list(query: ListQuery, limit: number): { page: ListedRow[]; cut: boolean } {
    const rows = this.#ask.each<ListedRow>(sql.listRuns(query), listParameters(query, limit));
    return fitPage(rows, this.#options.pageBytes, ({ request }) => request.length);
  }

  sums(text: string, values: readonly SQLInputValue[]): Record<string, unknown>[] {
    return this.#ask.all(text, Object.fromEntries(values.map((value, at) => [`$${at + 1}`, value])));
  }

  restore(row: RestoreRow): string | undefined {
    return this.#write(() => restore(this.#ask, this.#appends, row));
  }

  pruneBoundary(keep: number): number {
    return this.#pruning.boundary(keep);
  }

  doomSome(which: Prunable, sweeper: number): number {
    const doom = () => {
      const count = this.#pruning.doom(which, sweeper, pruneStep);
      if (count === 0)
        for (const statement of [sql.forgetWorkers, sql.forgetKeys, forgetAccounts, ...sql.forgetBlobs])
          this.#ask.run(statement);
      return count;
    };
    return removing(this.#database, sweeper, () => this.#write(doom));
  }

  beginSweep(sweeper: number, except: readonly number[]): Sweep | undefined {
    return this.#write(() => this.#pruning.begin(sweeper, except));
  }

  sweepSome(sweep: Sweep): Sweep | undefined {
    return removing(this.#database, sweep.sweeper, () => this.#write(() => this.#pruning.sweep(sweep)));
  }

  forgetLog(): boolean {
    return forgetLog(this.#database, this.#options.busyTimeout);
  }

  checkpoint(): void {
    this.#database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  }

  audit({ action, actor, tenant, run, details }: Omit<AuditRow, "number" | "at">): void {
    this.#write(() => this.#ask.run(sql.insertAudit, action, actor, tenant, run, details));
  }

  audits(query: AuditQuery, limit: number): AuditRow[] {
    return this.#ask.all<AuditRow>(sql.listAudit, auditParameters(query, limit));
  }

  keepDigest(run: string, row: DigestRow): void {
    this.#write(() => {
      const found = this.#ask.get<{ id: number; state: string }>(sql.findRun, run);
      if (found?.state === "done") this.#appends.keepDigest(found.id, row);
    });
  }

  usage(query: UsageQuery): UsageRow[] {
    return usage(this.#ask, query);
  }

  reserve(reservations: readonly Reservation[]): Reserved[] {
    return this.#write(() => {
      const ledger = new Ledger(this.#ask);
      const answers = reservations.map((reservation) => ledger.reserve(reservation));
      ledger.write();
      return answers;
    });
  }

  balances(accounts: readonly string[]): Balance[] {
    return balances(this.#ask, accounts);
  }

  keepWire(run: string, { round, attempt, wire, bytes }: WireRow): void {
    this.#write(() => this.#ask.run(sql.insertWire, round, attempt, wire, bytes, run));
  }

  wire(run: string): WireRow[] {
    return this.#ask.all<WireRow>(sql.readWire, { run });
  }

  useBlob(run: string, hash: string): boolean {
    return this.#write(() => useBlob(this.#ask, run, hash));
  }

  putBlobPart(hash: string, part: number, bytes: Uint8Array): void {
    // The log is written in order: once the blob's own commit is on disk, so are its parts.
    this.#database.exec("PRAGMA synchronous = NORMAL");
    try {
      this.#write(() => this.#ask.run(sql.insertBlobPart, hash, part, bytes));
    } finally {
      this.#database.exec("PRAGMA synchronous = FULL");
    }
  }

  putBlob(run: string, hash: string, blob: BlobRow): void {
    this.#write(() => putBlob(this.#ask, { run, hash }, blob));
  }

  blob(hash: string): BlobRow | undefined {
    return this.#ask.get<BlobRow>(sql.readBlob, hash);
  }

  blobPart(hash: string, part: number): Uint8Array | undefined {
    return this.#ask.get<{ bytes: Uint8Array }>(sql.readBlobPart, hash, part)?.bytes;
  }

  blobsOf(run: string): string[] {
    return this.#ask.all<{ hash: string }>(sql.listBlobs, { run }).map(({ hash }) => hash);
  }

  getValue(space: string, key: string): KeyValue | undefined {
    return this.#ask.get<KeyValue>(sql.getValue, space, key);
  }

  putValues(entries: readonly NewValue[]): boolean[] {
    const put = ({ space, entry: { key, value, version }, fresh }: NewValue) =>
      version === 0
        ? this.#ask.run(sql.insertValue, space, key, fresh, value)
        : this.#ask.run(sql.updateValue, fresh, value, space, key, version);
    return this.#write(() => entries.map((entry) => put(entry).changes === 1));
  }

  removeValue(space: string, key: string, version: number): boolean {
    return this.#write(() => this.#ask.run(sql.removeValue, space, key, version).changes === 1);
  }

  listValues(space: string, { prefix, after, limit }: Required<KeyRange>): KeyValue[] {
    return this.#ask.all<KeyValue>(sql.listValues, { space, prefix, after, limit });
  }

  /** A write transaction: a file locked by another process can still be read. */
  ping(bytes?: number): void {
    if (bytes === undefined) return this.#write(() => {});
    // Needs new pages, as a run would: an empty transaction writes none, and rewriting one row takes no space.
    this.#write(() => this.#ask.run(sql.insertTrial, bytes));
    this.#write(() => this.#ask.run(sql.deleteTrial));
  }

  watchEvents(events: "watch" | "ignore"): void {
    this.#changes.watchEvents(events);
  }

  /** Changes by other processes since the last call. */
  changes(): Changes {
    return this.#changes.look();
  }

  #write<T>(work: () => T, tries = 2): T {
    this.#lock.take();
    try {
      const value = work();
      this.#ask.run("COMMIT");
      return value;
    } catch (thrown) {
      // Some failures (a full disk) have already rolled back.
      if (this.#database.isTransaction) this.#ask.run("ROLLBACK");
      if (tries > 1 && this.#lock.makesRoom(thrown)) return this.#write(work, tries - 1);
      throw thrown;
    }
  }
}
