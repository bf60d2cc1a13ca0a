import { joinWires } from "venturi/internal";
import {
  type Append,
  type AuditEntry,
  type AuditQuery,
  type AuditRecord,
  type BacklogRow,
  type Balance,
  type Claim,
  type ClaimFilter,
  type Clock,
  type Cursor,
  type EndOfRun,
  type Enqueue,
  type Grouping,
  type Hint,
  type Journal,
  type KeptWire,
  type KeyValues,
  type ListQuery,
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
import { Accounts } from "./accounts.ts";
import { AuditLog } from "./audit-log.ts";
import { backlogOf } from "./backlog.ts";
import { MemoryBlobs } from "./blobs.ts";
import { Claims } from "./claims.ts";
import { Hints } from "./hints.ts";
import { MemoryKeyValues } from "./key-values.ts";
import { pageOf, totalsOf } from "./list.ts";
import { prunable } from "./prunable.ts";
import { claimFor, isThere, mayWrite, restored, rowOf, type StoredRun, written } from "./run.ts";
import { RunTable } from "./run-table.ts";

export interface MemoryOptions {
  readonly clock: Clock;
  readonly keep: number;
  readonly lease: number;
}

const nobody: ReadonlySet<Ownership> = new Set();

/**
 * The journal's full contract without a disk. Every method does its work in one turn of the event loop, which is its
 * transaction.
 */
export class MemoryJournal implements Journal {
  readonly lease: number;
  readonly blobs = new MemoryBlobs();
  readonly #clock: Clock;
  readonly #keep: number;
  readonly #table = new RunTable();
  readonly #claims: Claims;
  readonly #hints = new Hints();
  readonly #audit = new AuditLog();
  readonly #accounts = new Accounts();
  #closed = false;

  constructor(options: MemoryOptions) {
    this.lease = options.lease;
    this.#clock = options.clock;
    this.#keep = options.keep;
    this.#claims = new Claims(this.#table, options.clock, options.lease);
  }

  readonly keyValues: KeyValues = new MemoryKeyValues(() => this.#usable("journal.values"));

  append(batch: readonly Append[]): ReturnType<Journal["append"]> {
    this.#usable("journal.append");
    let fenced: Set<Ownership> | undefined;
    let work = false;
    for (const item of batch) {
      const stored = this.#table.runs.get(item.ownership.run);
      if (stored && mayWrite(stored, item)) work = this.#write(stored, item) || work;
      else if (!stored || !isThere(stored, item)) {
        fenced ??= new Set();
        fenced.add(item.ownership);
      }
    }
    // Without such listeners, a token costs no hint.
    if (work || this.#hints.readers > 0)
      this.#hints.send({ work, events: (run) => batch.some((item) => item.ownership.run === run) });
    return fenced ?? nobody;
  }

  async read(run: string, after: number, limit: number): Promise<RunEvent[]> {
    this.#usable("journal.read");
    return this.#table.runs.get(run)?.events.slice(after, after + limit) ?? [];
  }

  async readMany(cursors: readonly Cursor[], limit: number): Promise<Map<string, RunEvent[]>> {
    this.#usable("journal.read");
    return this.#table.after(cursors, ({ events }) => events, limit);
  }

  onHint(callback: (hint: Hint) => void, only?: "control"): () => void {
    return this.#hints.add(callback, only);
  }

  async enqueue(item: Enqueue): Promise<{ run: string; existing: boolean; claim?: Claim }> {
    const op = "journal.enqueue";
    this.#usable(op);
    const known = item.key === undefined ? undefined : this.#table.byKey(item.tenant, item.key, this.#clock.now());
    if (known !== undefined) return { run: known, existing: true };
    const busy = this.#table.isBusy(item.tenant, item.session);
    this.#refuse(op, item, busy && item.whenBusy === "conflict");
    this.#table.refuseTooMany(item);
    const stored = this.#table.add(item, this.#clock.now());
    if (item.claimFor !== undefined && !busy) {
      return { run: item.run, existing: false, claim: claimFor(stored, item.claimFor, this.#clock.now()) };
    }
    this.#hints.send({ work: !busy, events: () => false });
    return { run: item.run, existing: false };
  }

  async claim(worker: string, limit: number, filter: ClaimFilter = {}): Promise<Claim[]> {
    this.#usable("journal.claim");
    return this.#claims.claim(worker, limit, filter);
  }

  async heartbeat(worker: string): Promise<void> {
    this.#usable("journal.heartbeat");
    this.#claims.beat(worker);
  }

  async held(worker: string): Promise<Ownership[]> {
    this.#usable("journal.held");
    return this.#claims.held(worker);
  }

  async workers(): Promise<WorkerRow[]> {
    this.#usable("journal.workers");
    return this.#claims.workers();
  }

  async backlog(): Promise<BacklogRow[]> {
    this.#usable("journal.backlog");
    return backlogOf(this.#table.open.values());
  }

  async release(ownership: Ownership): Promise<void> {
    this.#usable("journal.release");
    const stored = this.#table.open.get(ownership.run);
    if (stored?.state !== "running" || stored.epoch !== ownership.epoch) return;
    stored.state = "ready";
    this.#hints.send({ work: true, events: () => false });
  }

  async signal(run: string, { id, kind, body }: NewSignal): Promise<boolean> {
    const op = "journal.signal";
    this.#usable(op);
    const stored = this.#table.runs.get(run);
    if (!stored) throw new VenturiError(op, "not_found", `there is no run ${run}`);
    if (stored.state === "done" || stored.signals.some((signal) => signal.id === id)) return false;
    stored.signals.push({ number: stored.signals.length + 1, id, kind, body });
    if (stored.state === "waiting") stored.state = "ready";
    this.#hints.send({ work: stored.state === "ready", events: () => false, signals: (other) => other === run });
    return true;
  }

  async signals(run: string, after: number): Promise<Signal[]> {
    this.#usable("journal.signals");
    return this.#table.runs.get(run)?.signals.slice(after) ?? [];
  }

  async signalsMany(cursors: readonly Cursor[]): Promise<Map<string, Signal[]>> {
    this.#usable("journal.signals");
    return this.#table.after(cursors, ({ signals }) => signals);
  }

  async get(run: string): Promise<RunRow | undefined> {
    this.#usable("journal.get");
    const stored = this.#table.runs.get(run);
    return stored && rowOf(stored);
  }

  async list(query: ListQuery): Promise<{ runs: RunRow[]; cursor?: string }> {
    this.#usable("journal.list");
    return pageOf(this.#table.runs.values(), query);
  }

  async restore(recording: Recording): Promise<void> {
    const op = "journal.restore";
    this.#usable(op);
    const { run, tenant, session, request } = recording;
    this.#refuse(op, recording, this.#table.isBusy(tenant, session));
    const stored = this.#table.add({ run, tenant, session, request }, this.#clock.now());
    restored(stored, recording);
    if (stored.state === "done") this.#end(stored);
    this.#hints.send({ work: stored.state === "ready", events: (other) => other === run });
  }

  async prune(options: PruneOptions): Promise<number> {
    this.#usable("journal.prune");
    if (options.signal?.aborted) return 0;
    const gone = prunable(this.#table.runs.values(), options, this.#clock.now());
    this.#accounts.forget(this.#clock.now());
    for (const run of gone) {
      this.#table.forget(run, this.#clock.now());
      this.blobs.forget(run.run);
    }
    return gone.length;
  }

  async audit(entry: AuditEntry): Promise<void> {
    this.#usable("journal.audit");
    this.#audit.add(entry, this.#clock.now());
  }

  async audits(query: AuditQuery): Promise<{ records: AuditRecord[]; cursor?: string }> {
    this.#usable("journal.audit");
    return this.#audit.page(query);
  }

  async totals(query: ListQuery, by?: Grouping): Promise<Totals> {
    this.#usable("journal.list");
    return totalsOf(this.#table.runs.values(), query, by);
  }

  async keepDigest(run: string, end: EndOfRun): Promise<void> {
    this.#usable("journal.keepDigest");
    const stored = this.#table.runs.get(run);
    if (stored?.state === "done") stored.end = end;
  }

  async keepWire(run: string, piece: KeptWire): Promise<void> {
    this.#usable("journal.keepWire");
    this.#table.runs.get(run)?.wire.push({ ...piece, bytes: piece.bytes.slice() });
  }

  async wire(run: string): Promise<KeptWire[]> {
    this.#usable("journal.wire");
    return joinWires(this.#table.runs.get(run)?.wire ?? []);
  }

  async usage(query: UsageQuery): Promise<UsageRow[]> {
    this.#usable("journal.usage");
    return this.#accounts.usage(query);
  }

  async reserve(reservation: Reservation): Promise<Reserved> {
    this.#usable("journal.reserve");
    const { run, epoch } = reservation.ownership;
    const stored = this.#table.open.get(run);
    if (stored?.state !== "running" || stored.epoch !== epoch) return { kind: "fenced" };
    return this.#accounts.reserve(reservation);
  }

  async balances(accounts: readonly string[]): Promise<readonly Balance[]> {
    this.#usable("journal.balances");
    return this.#accounts.balances(accounts);
  }

  async ping(): Promise<void> {
    this.#usable("journal.ping");
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#hints.clear();
  }

  /** Returns whether this may have made another run claimable. */
  #write(stored: StoredRun, item: Append): boolean {
    if (item.billed !== undefined) this.#accounts.bill(stored.run, item.billed);
    written(stored, item, this.#clock.now());
    if (item.state === undefined) return false;
    if (stored.state === "done") this.#end(stored);
    return stored.state === "ready" || (stored.state === "done" && stored.session !== undefined);
  }

  #end(stored: StoredRun): void {
    this.#table.open.delete(stored.run);
    const dropped = this.#table.dropBeyond(this.#keep, this.#clock.now());
    if (dropped !== undefined) this.blobs.forget(dropped.run);
  }

  #refuse(op: string, { run, session }: Pick<Enqueue, "run" | "session">, busy: boolean): void {
    if (this.#table.runs.has(run)) throw new VenturiError(op, "conflict", `the run ${run} already exists`);
    if (busy) throw new VenturiError(op, "conflict", `the session ${session} has an active run`);
  }

  #usable(op: string): void {
    if (this.#closed) throw new VenturiError(op, "journal_failed", "the journal has been closed");
  }
}
