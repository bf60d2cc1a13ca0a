import type { DatabaseSync } from "node:sqlite";
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
import { forgetLog, overwriteRemoved } from "./erasure.ts";
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
  Operations,
  Prunable,
  RestoreRow,
  Sweep,
  ThreadData,
  WireRow,
} from "./protocol.ts";
import { keyName, Pruning } from "./pruning.ts";
import * as sql from "./sql.ts";
import { Statements } from "./statements.ts";
import { WriteLock } from "./write-lock.ts";

/** Most runs that one step of a prune removes. */
const pruneStep = 500;

/** The journal's rules on one connection. Every method is one transaction, begun IMMEDIATE. */
export class Store implements Omit<Operations, "close"> {
  readonly #database: DatabaseSync;
  readonly #lease: number;
  readonly #lock: WriteLock;
  readonly #ask: Statements;
  readonly #appends: Appends;
  readonly #pruning: Pruning;
  readonly #pageBytes: number;
  readonly #changes: ChangeWatch;
  readonly #busyTimeout: number;

  constructor(database: DatabaseSync, options: Pick<ThreadData, "lease" | "busyTimeout" | "pageBytes">) {
    this.#database = database;
    this.#ask = new Statements(database);
    this.#appends = new Appends(this.#ask);
    this.#pruning = new Pruning(this.#ask);
    this.#changes = new ChangeWatch(this.#ask);
    this.#lease = options.lease;
    this.#busyTimeout = options.busyTimeout;
    this.#pageBytes = options.pageBytes;
    this.#lock = new WriteLock(database, options.busyTimeout);
  }

  append(columns: AppendColumns): { fenced: number[]; work: boolean } {
    return this.#write(() => this.#appends.append(columns));
  }

  read(run: string, after: number, limit: number): RecordRow[] {
    const records = this.#ask.each<RecordRow>(sql.readRecords, { run, after, limit });
    return this.#fitPage(records, ({ body }) => body.length).page;
  }

  readMany(cursors: readonly { run: string; after: number }[], limit: number): { run: string; records: RecordRow[] }[] {
    const found: { run: string; records: RecordRow[] }[] = [];
    for (const { run, after } of cursors) {
      const records = this.read(run, after, limit);
      if (records.length > 0) found.push({ run, records });
    }
    return found;
  }

  enqueue(rows: readonly EnqueueRow[]): Enqueued[] {
    return this.#write(() => rows.map((row) => this.#enqueue(row)));
  }

  claim(worker: string, limit: number, filter: ClaimFilter): ClaimRow[] {
    return this.#write(() => {
      this.#ask.run(sql.beat, worker);
      this.#ask.run(sql.wake);
      const free = this.#ask.all<{ id: number; request: string }>(sql.findClaimable, {
        lease: this.#lease,
        limit,
        agents: listOf(filter.agents),
        revisions: listOf(filter.revisions),
        runs: listOf(filter.runs ?? []),
      });
      const claims: ClaimRow[] = [];
      for (const { id, request } of free) {
        const claim = this.#ask.get<ClaimRow>(sql.claimRun, worker, id);
        if (claim) claims.push({ ...claim, request });
      }
      return claims;
    });
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

  signal(run: string, { id, kind, body }: NewSignalRow): "unknown" | "ignored" | "stored" | "woken" {
    return this.#write(() => {
      const found = this.#ask.get<{ id: number; state: string }>(sql.findRun, run);
      if (!found) return "unknown";
      if (found.state === "done" || this.#ask.get(sql.findSignal, found.id, id)) return "ignored";
      const counted = this.#ask.get<{ signals: number; state: string }>(
        sql.countSignal,
        kind === "cancel" ? 1 : 0,
        found.id,
      );
      this.#ask.run(sql.insertSignal, found.id, counted?.signals ?? 0, id, kind, body);
      return counted?.state === "ready" ? "woken" : "stored";
    });
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
    const { oldestFirst: _, waiting: __, mayLag: ___, sort, metadata, agents, cursor, ...asked } = query;
    const [place, value] = cursor?.split("_").map(Number).reverse() ?? [];
    const rows = this.#ask.each<ListedRow>(sql.listRuns(query), {
      ...asked,
      ...(agents === undefined ? {} : { agents: listOf(agents) }),
      ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata) }),
      ...(place === undefined ? {} : { cursor: place }),
      ...(value === undefined ? {} : { value }),
      limit,
    });
    return this.#fitPage(rows, ({ request }) => request.length);
  }

  restore(row: RestoreRow): string | undefined {
    return this.#write(() => {
      if (this.#ask.get(sql.findRun, row.run)) return `the run ${row.run} already exists`;
      if (row.session !== null && this.#ask.get(sql.findOpenInSession, row.tenant, row.session)) {
        return `the session ${row.session} has an active run`;
      }
      const { request, records, signals, wires, end, ...columns } = row;
      const [added] = this.#ask.all<{ id: number }>(sql.restoreRun, { ...columns, signals: signals.length });
      const id = added?.id ?? 0;
      this.#ask.run(sql.insertRequest, id, request);
      for (const { first, last, body } of records) {
        this.#ask.run(sql.restoreRecord, first, last, body, id);
        this.#ask.run(sql.restoreTail, id);
      }
      for (const signal of signals)
        this.#ask.run(sql.insertSignal, id, signal.number, signal.signal, signal.kind, signal.body);
      for (const kept of wires) this.#ask.run(sql.insertWire, kept.round, kept.attempt, kept.wire, kept.bytes, row.run);
      if (end !== null) this.#appends.keepDigest(id, end);
      return undefined;
    });
  }

  pruneBoundary(keep: number): number {
    return this.#pruning.boundary(keep);
  }

  doomSome(which: Prunable, sweeper: number): number {
    if (which.runs.length > 0) overwriteRemoved(this.#database);
    return this.#write(() => {
      const count = this.#pruning.doom(which, sweeper, pruneStep);
      if (count === 0)
        for (const statement of [sql.forgetWorkers, sql.forgetKeys, forgetAccounts, ...sql.forgetBlobs])
          this.#ask.run(statement);
      return count;
    });
  }

  beginSweep(sweeper: number, whose: "all" | "own"): Sweep | undefined {
    return this.#write(() => this.#pruning.begin(sweeper, whose));
  }

  sweepSome(sweep: Sweep): Sweep | undefined {
    return this.#write(() => this.#pruning.sweep(sweep));
  }

  forgetLog(): boolean {
    return forgetLog(this.#database, this.#busyTimeout);
  }

  checkpoint(): void {
    this.#database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  }

  audit({ action, actor, tenant, run, details }: Omit<AuditRow, "number" | "at">): void {
    this.#write(() => this.#ask.run(sql.insertAudit, action, actor, tenant, run, details));
  }

  audits({ tenant, action, run, cursor }: AuditQuery, limit: number): AuditRow[] {
    return this.#ask.all<AuditRow>(sql.listAudit, {
      tenant: tenant ?? null,
      action: action ?? null,
      run: run ?? null,
      cursor: cursor === undefined ? null : Number(cursor),
      limit,
    });
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
    return this.#write(() => this.#useBlob(run, hash));
  }

  putBlobPart(hash: string, part: number, bytes: Uint8Array): void {
    // The log is written in order: once the commit of the blob itself is on the disk, its parts are.
    this.#database.exec("PRAGMA synchronous = NORMAL");
    try {
      this.#write(() => this.#ask.run(sql.insertBlobPart, hash, part, bytes));
    } finally {
      this.#database.exec("PRAGMA synchronous = FULL");
    }
  }

  putBlob(run: string, hash: string, blob: BlobRow): void {
    this.#write(() => {
      if (this.#useBlob(run, hash)) return;
      this.#ask.run(sql.insertBlob, hash, blob.parts, blob.bytes);
      this.#ask.run(sql.useBlob, run, hash);
    });
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

  putValue(space: string, { key, value, version }: KeyValue, fresh: number): boolean {
    const put = () =>
      version === 0
        ? this.#ask.run(sql.insertValue, space, key, fresh, value)
        : this.#ask.run(sql.updateValue, fresh, value, space, key, version);
    return this.#write(() => put().changes === 1);
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
    // New pages, as a run takes them; an empty transaction writes none, and one row again and again takes no room.
    this.#write(() => this.#ask.run(sql.insertTrial, bytes));
    this.#write(() => this.#ask.run(sql.deleteTrial));
  }

  watchEvents(events: "watch" | "ignore"): void {
    this.#changes.watchEvents(events);
  }

  /** What another process may have left for this one since the last call. */
  changes(): Changes {
    return this.#changes.look();
  }

  #useBlob(run: string, hash: string): boolean {
    const there = this.#ask.get(sql.touchBlob, hash) !== undefined;
    if (there) this.#ask.run(sql.useBlob, run, hash);
    return there;
  }

  #enqueue(row: EnqueueRow): Enqueued {
    const known = row.key === null ? undefined : this.#byKey(row.tenant, row.key);
    if (known) return { kind: "existing", run: known.run };
    if (this.#ask.get(sql.findRun, row.run)) return { kind: "conflict", message: `the run ${row.run} already exists` };
    const busy = row.session !== null && this.#ask.get(sql.findOpenInSession, row.tenant, row.session) !== undefined;
    if (busy && row.refuseBusy) {
      return { kind: "conflict", message: `the session ${row.session} has an active run` };
    }
    const { run, tenant, key, session, agent, caller, revision } = row;
    if (row.most !== null && (this.#ask.get<{ open: number }>(sql.countOpen, tenant, caller)?.open ?? 0) >= row.most) {
      return { kind: "tooMany", most: row.most };
    }
    const added = this.#ask.get<{ id: number }>(sql.insertRun, run, tenant, key, session, agent, caller, revision);
    this.#ask.run(sql.insertRequest, added?.id ?? 0, row.request);
    if (row.claimFor === null || busy) return { kind: "stored", work: !busy };
    const claim = this.#ask.get<ClaimRow>(sql.claimRun, row.claimFor, added?.id ?? 0);
    return claim
      ? { kind: "stored", claim: { ...claim, request: row.request }, work: false }
      : { kind: "stored", work: true };
  }

  /** The run that has the key, or had it and was removed. */
  #byKey(tenant: string, key: string): { run: string } | undefined {
    return this.#ask.get(sql.findKey, tenant, key) ?? this.#ask.get(sql.findRemovedKey, keyName(tenant, key));
  }

  /** As `fitPage` of venturi/plugin, which this thread does not load. */
  #fitPage<Row>(rows: Iterable<Row>, sizeOf: (row: Row) => number): { page: Row[]; cut: boolean } {
    const page: Row[] = [];
    let bytes = 0;
    for (const row of rows) {
      bytes += sizeOf(row);
      if (page.length > 0 && bytes > this.#pageBytes) return { page, cut: true };
      page.push(row);
    }
    return { page, cut: false };
  }

  #write<T>(work: () => T): T {
    this.#lock.take();
    try {
      const value = work();
      this.#ask.run("COMMIT");
      return value;
    } catch (thrown) {
      // Some failures (a full disk) have already rolled back.
      if (this.#database.isTransaction) this.#ask.run("ROLLBACK");
      throw thrown;
    }
  }
}

const listOf = (names: readonly string[] | undefined): string | null =>
  names === undefined ? null : JSON.stringify(names);
