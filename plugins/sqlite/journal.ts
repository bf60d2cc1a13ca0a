import {
  joinWires,
  silentLog,
  toAuditRecord,
  toClaim,
  toEvents,
  toOwnership,
  tooManyRuns,
  toRow,
  toSignal,
} from "venturi/internal";
import {
  type Append,
  type AuditEntry,
  type AuditQuery,
  type AuditRecord,
  type BacklogRow,
  type Balance,
  type BlobStore,
  type Claim,
  type ClaimFilter,
  type Cursor,
  type EndOfRun,
  type Enqueue,
  type Grouping,
  type Hint,
  type Journal,
  type KeptWire,
  type KeyValues,
  type ListQuery,
  type Log,
  type NewSignal,
  type Ownership,
  type PruneOptions,
  type Recording,
  type Reservation,
  type Reserved,
  type RunEvent,
  type RunRow,
  type Signal,
  type Totals,
  type UsageQuery,
  type UsageRow,
  VenturiError,
  type WorkerRow,
} from "venturi/plugin";
import { Blobs } from "./blobs.ts";
import { type Deps, real } from "./deps.ts";
import { Grouped } from "./grouped.ts";
import { keyValues } from "./key-values.ts";
import { listPage } from "./list.ts";
import type { Enqueued, EnqueueRow, ThreadOptions } from "./protocol.ts";
import { prune } from "./prune.ts";
import { toAuditRow, toColumns, toDigestRow, toEnqueueRow, toRestoreRow } from "./rows.ts";
import type { Asked } from "./store-thread.ts";
import { totals } from "./sums.ts";

/** The journal in one SQLite file, whose connection lives in a separate thread. */
export class SqliteJournal implements Journal {
  readonly lease: number;
  readonly #thread: Asked;
  /** Uses its own connection: reading never waits for a writer. */
  readonly #reads: Asked;
  /** Started when the write-ahead log has grown for the first time. */
  readonly #walThread: Asked;
  #isCopyingLog = false;
  readonly #enqueues: Grouped<EnqueueRow, Enqueued>;
  readonly #reservations: Grouped<Reservation, Reserved>;
  readonly #search: "text" | "none";
  readonly #listeners = new Set<(hint: Hint) => void>();
  readonly #log: Log;
  readonly #fresh: () => number;
  readonly #erasing = new Set<number>();
  /** Number of listeners for events. */
  #readers = 0;

  readonly blobs: BlobStore;
  readonly keyValues: KeyValues;

  constructor(options: ThreadOptions, log: Log = silentLog, { connect, fresh, flush }: Deps = real) {
    this.lease = options.lease;
    this.#log = log;
    this.#fresh = fresh;
    this.#search = options.search === false ? "none" : "text";
    this.#thread = connect(
      { ...options, role: "all" },
      {
        changed: ({ work, signals, events }) =>
          this.#hint({
            work,
            events: (run) => events?.includes(run) ?? true,
            ...(signals.length > 0 && { signals: (run) => signals.includes(run) }),
          }),
        grown: () => this.#copyLog(),
        migrated: (from, to) => log.info("the journal was migrated", { from, to, file: options.file }),
        loss: (reason) => {
          if (reason === undefined) log.info("the journal's file is back", { file: options.file });
          else log.error("the journal's file is gone; new runs are refused", { file: options.file, reason });
        },
      },
    );
    const silent = { changed() {}, loss() {}, migrated() {}, grown() {} };
    // An in-memory database belongs to its connection.
    const isFile = options.file !== ":memory:";
    this.#reads = isFile ? connect({ ...options, role: "reads" }, silent) : this.#thread;
    this.#walThread = connect({ ...options, role: "wal" }, silent);
    const flushing = isFile ? flush?.(options.file) : undefined;
    this.blobs = new Blobs({ writes: this.#thread, reads: this.#reads, wal: flushing });
    this.keyValues = keyValues({ writes: this.#thread, reads: this.#reads }, fresh);
    this.#enqueues = new Grouped(
      (rows) => this.#thread.ask("enqueue", rows),
      ({ request }) => request.length,
    );
    this.#reservations = new Grouped(
      (rows) => this.#thread.ask("reserve", rows),
      () => 0,
    );
  }

  async append(batch: readonly Append[]): Promise<ReadonlySet<Ownership>> {
    const done = await this.#thread.ask("append", toColumns(batch, this.#search));
    const owners = new Set(done?.fenced.flatMap((index) => batch[index]?.ownership ?? []));
    const work = done?.work ?? false;
    // Only followers of other processes' runs need to know of each append.
    if (work || this.#readers > 0)
      this.#hint({ work, events: (run) => batch.some((item) => item.ownership.run === run) });
    return owners;
  }

  async read(run: string, after: number, limit: number): Promise<RunEvent[]> {
    return toEvents(await this.#reads.ask("read", run, after, limit), after, limit);
  }

  async readMany(cursors: readonly Cursor[], limit: number): Promise<Map<string, RunEvent[]>> {
    const places = new Map(cursors.map(({ run, after }) => [run, after]));
    const found = new Map<string, RunEvent[]>();
    for (const { run, records } of await this.#reads.ask("readMany", cursors, limit)) {
      found.set(run, toEvents(records, places.get(run) ?? 0, limit));
    }
    return found;
  }

  onHint(callback: (hint: Hint) => void, only?: "control"): () => void {
    this.#listeners.add(callback);
    if (only === "control") return () => this.#listeners.delete(callback);
    if (this.#readers++ === 0) this.#watchEvents("watch");
    return () => {
      if (this.#listeners.delete(callback) && --this.#readers === 0) this.#watchEvents("ignore");
    };
  }

  async enqueue(item: Enqueue): Promise<{ run: string; existing: boolean; claim?: Claim }> {
    const done = await this.#enqueues.ask(toEnqueueRow(item));
    if (done.kind === "conflict") throw new VenturiError("journal.enqueue", "conflict", done.message);
    if (done.kind === "tooMany") throw tooManyRuns(done.most);
    if (done.kind === "existing") return { run: done.run, existing: true };
    const stored = { run: item.run, existing: false };
    if (done.claim) return { ...stored, claim: toClaim(done.claim, item.claimFor ?? "") };
    this.#hint({ work: done.work, events: () => false });
    return stored;
  }

  async claim(worker: string, limit: number, filter: ClaimFilter = {}): Promise<Claim[]> {
    const claims = await this.#thread.ask("claim", worker, limit, filter);
    return claims.map((claim) => toClaim(claim, worker));
  }

  async heartbeat(worker: string): Promise<void> {
    await this.#thread.ask("heartbeat", worker);
  }

  async held(worker: string): Promise<Ownership[]> {
    const held = await this.#thread.ask("held", worker);
    return held.map((row) => toOwnership(row, worker));
  }

  async workers(): Promise<WorkerRow[]> {
    return await this.#reads.ask("workers");
  }

  async backlog(): Promise<BacklogRow[]> {
    return await this.#reads.ask("backlog");
  }

  async release(ownership: Ownership): Promise<void> {
    const released = await this.#thread.ask("release", ownership.run, ownership.epoch);
    if (released) this.#hint({ work: true, events: () => false });
  }

  async free(worker: string): Promise<number> {
    const freed = await this.#thread.ask("free", worker);
    if (freed > 0) this.#hint({ work: true, events: () => false });
    return freed;
  }

  async signal(run: string, { id, kind, body }: NewSignal): Promise<boolean> {
    const outcome = await this.#thread.ask("signal", run, { id, kind, body: JSON.stringify(body) });
    if (outcome === "unknown") throw new VenturiError("journal.signal", "not_found", `there is no run ${run}`);
    if (outcome === "ignored") return false;
    this.#hint({ work: outcome === "woken", events: () => false, signals: (other) => other === run });
    return true;
  }

  async signals(run: string, after: number): Promise<Signal[]> {
    return (await this.signalsMany([{ run, after }])).get(run) ?? [];
  }

  async signalsMany(cursors: readonly Cursor[]): Promise<Map<string, Signal[]>> {
    const found = new Map<string, Signal[]>();
    for (const { run, signals } of await this.#reads.ask("signalsMany", cursors)) found.set(run, signals.map(toSignal));
    return found;
  }

  async get(run: string): Promise<RunRow | undefined> {
    const row = await this.#reads.ask("get", run);
    return row && toRow(row);
  }

  async list(query: ListQuery): Promise<{ runs: RunRow[]; cursor?: string }> {
    return await listPage(this.#reads, query, this.#search);
  }

  totals(query: ListQuery, by?: Grouping): Promise<Totals> {
    return totals(this.#reads, query, by);
  }

  async restore(recording: Recording): Promise<void> {
    const refused = await this.#thread.ask("restore", toRestoreRow(recording, this.#search));
    if (refused !== undefined) throw new VenturiError("journal.restore", "conflict", refused);
    this.#hint({ work: recording.state === "ready", events: (run) => run === recording.run });
  }

  async prune(options: PruneOptions): Promise<number> {
    return await prune(this.#thread, options, { sweeper: this.#fresh(), erasing: this.#erasing, log: this.#log });
  }

  async audit(entry: AuditEntry): Promise<void> {
    await this.#thread.ask("audit", toAuditRow(entry));
  }

  async audits(query: AuditQuery): Promise<{ records: AuditRecord[]; cursor?: string }> {
    const limit = query.limit ?? 50;
    const found = await this.#reads.ask("audits", query, limit + 1);
    const records = found.slice(0, limit).map(toAuditRecord);
    const last = records.at(-1);
    return last && found.length > limit ? { records, cursor: String(last.number) } : { records };
  }

  async keepDigest(run: string, end: EndOfRun): Promise<void> {
    await this.#thread.ask("keepDigest", run, toDigestRow(end, this.#search));
  }

  async usage(query: UsageQuery): Promise<UsageRow[]> {
    return await this.#reads.ask("usage", query);
  }

  reserve(reservation: Reservation): Promise<Reserved> {
    return this.#reservations.ask(reservation);
  }

  async balances(accounts: readonly string[]): Promise<readonly Balance[]> {
    return await this.#reads.ask("balances", accounts);
  }

  async keepWire(run: string, piece: KeptWire): Promise<void> {
    await this.#thread.ask("keepWire", run, piece);
  }

  async wire(run: string): Promise<KeptWire[]> {
    return joinWires(await this.#reads.ask("wire", run));
  }

  async ping(bytes?: number): Promise<void> {
    await this.#thread.ask("ping", bytes);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    await Promise.all([this.#thread.close(), this.#reads.close(), this.#walThread.close()]);
  }

  #copyLog(): void {
    if (this.#isCopyingLog) return;
    this.#isCopyingLog = true;
    this.#walThread
      .ask("checkpoint")
      .catch(() => {}) // It is requested again soon; the next commit reports what is wrong with the file.
      .finally(() => {
        this.#isCopyingLog = false;
      });
  }

  #watchEvents(events: "watch" | "ignore"): void {
    this.#thread.ask("watchEvents", events).catch(() => {}); // Readers poll too; the next request reports what is wrong.
  }

  #hint(hint: Hint): void {
    for (const listener of this.#listeners) listener(hint);
  }
}
