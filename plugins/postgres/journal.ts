import { randomBytes, randomInt } from "node:crypto";
import { joinWires, pruneInSteps, toClaim, toEvents, toOwnership, toRow } from "venturi/internal";
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
  type ClaimRow,
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
  type RecordRow,
  type Reservation,
  type Reserved,
  type RunEvent,
  type RunRow,
  type Signal,
  type StoredRow,
  type Totals,
  type UsageQuery,
  type UsageRow,
  VenturiError,
  type WorkerRow,
} from "venturi/plugin";
import { addAudit, listAudits } from "./audits.ts";
import { blobStore } from "./blobs.ts";
import type { Database } from "./database.ts";
import { Enqueueing } from "./enqueue.ts";
import { Hints } from "./hints.ts";
import { keyValues } from "./key-values.ts";
import { listRuns } from "./list.ts";
import { balances, Reservations, usage } from "./money.ts";
import type { ReadReplica } from "./read-replica.ts";
import { restore } from "./restore.ts";
import { toBills, toColumns, toDigest, toDigests, toStops } from "./rows.ts";
import { Signals } from "./signals.ts";
import { type Statements, statements } from "./sql.ts";
import { forgetGroups, totals } from "./sums.ts";

const pruneStep = 50;
const wakeEvery = 200;

/** The journal in PostgreSQL, for any number of replicas. */
export class PostgresJournal implements Journal {
  readonly lease: number;
  readonly blobs: BlobStore;
  readonly keyValues: KeyValues;
  readonly #database: Database;
  readonly #hints: Hints;
  readonly #sql: Statements;
  readonly #search: "text" | "none";
  readonly #reservations: Reservations;
  readonly #enqueueing: Enqueueing;
  readonly #signals: Signals;
  /** The shard of the sums that this process adds to. */
  readonly #shard = randomInt(16);
  #wokenAt = Number.NEGATIVE_INFINITY;

  readonly #replica: ReadReplica | undefined;

  constructor(
    database: Database,
    options: {
      readonly lease: number;
      readonly pooler: boolean;
      readonly poll: number;
      readonly search?: boolean;
      readonly replica?: ReadReplica | undefined;
    },
  ) {
    this.lease = options.lease;
    this.#replica = options.replica;
    this.#search = options.search === false ? "none" : "text";
    this.#database = database;
    this.#hints = new Hints(database, options.pooler ? options.poll : undefined);
    this.#sql = statements(database.schema);
    this.#reservations = new Reservations(database, this.#sql);
    this.#signals = new Signals(database, this.#sql, this.#hints);
    this.#enqueueing = new Enqueueing(database, this.#sql, this.#hints);
    this.blobs = blobStore(database, this.#sql);
    this.keyValues = keyValues(database, this.#sql);
  }

  async append(batch: readonly Append[]): Promise<ReadonlySet<Ownership>> {
    const op = "journal.append";
    const change = { work: batch.some(mayFreeWork), events: batch.map((item) => item.ownership.run) };
    const columns = toColumns(batch);
    const values = [...columns, this.#hints.channel, this.#hints.payload(change)];
    const stops = toStops(batch);
    const [answer] = await this.#database.query<{ moved: number; places: number[] | null }>(
      op,
      stops === undefined ? this.#sql.append : this.#sql.appendStops,
      stops === undefined ? values : [...values, ...stops, toDigests(batch, this.#search), toBills(batch, this.#shard)],
    );
    if (answer?.moved === batch.length) {
      this.#hints.tell(change);
      return new Set();
    }
    const [there] = await this.#database.query<{ places: number[] }>(op, this.#sql.storedPlaces, columns);
    const done = new Set([...(answer?.places ?? []), ...(there?.places ?? [])]);
    const fenced = new Set<Ownership>();
    for (const [index, item] of batch.entries()) if (!done.has(index + 1)) fenced.add(item.ownership); // Positions count from 1.
    this.#hints.tell(change);
    return fenced;
  }

  async read(run: string, after: number, limit: number): Promise<RunEvent[]> {
    return (await this.readMany([{ run, after }], limit)).get(run) ?? [];
  }

  async readMany(cursors: readonly Cursor[], limit: number): Promise<Map<string, RunEvent[]>> {
    const places = new Map(cursors.map(({ run, after }) => [run, after]));
    const values = [[...places.keys()], [...places.values()], limit];
    const rows = await this.#database.query<RecordRow & { run: string }>("journal.read", this.#sql.read, values);
    const found = new Map<string, RunEvent[]>();
    for (const [run, records] of Map.groupBy(rows, (row) => row.run)) {
      found.set(run, toEvents(records, places.get(run) ?? 0, limit));
    }
    return found;
  }

  onHint(callback: (hint: Hint) => void): () => void {
    return this.#hints.add(callback);
  }

  enqueue(item: Enqueue): Promise<{ run: string; existing: boolean; claim?: Claim }> {
    return this.#enqueueing.enqueue(item);
  }

  async claim(worker: string, limit: number, filter: ClaimFilter = {}): Promise<Claim[]> {
    await this.#wake();
    const values = [worker, this.lease, limit, filter.agents ?? null, filter.revisions ?? null, filter.runs ?? []];
    const rows = await this.#database.query<ClaimRow & { place: number }>("journal.claim", this.#sql.claim, values);
    rows.sort((left, right) => left.place - right.place);
    return rows.map((row) => toClaim(row, worker));
  }

  async heartbeat(worker: string): Promise<void> {
    await this.#database.query("journal.heartbeat", this.#sql.heartbeat, [worker]);
  }

  async held(worker: string): Promise<Ownership[]> {
    const rows = await this.#database.query<ClaimRow>("journal.held", this.#sql.held, [worker]);
    return rows.map((row) => toOwnership(row, worker));
  }

  async workers(): Promise<WorkerRow[]> {
    return await this.#database.query<WorkerRow>("journal.workers", this.#sql.workers, []);
  }

  async backlog(): Promise<BacklogRow[]> {
    return await this.#database.query<BacklogRow>("journal.backlog", this.#sql.backlog, []);
  }

  async release(ownership: Ownership): Promise<void> {
    const change = { work: true };
    const values = [ownership.run, ownership.epoch, this.#hints.channel, this.#hints.payload(change)];
    const freed = await this.#database.query("journal.release", this.#sql.release, values);
    if (freed.length > 0) this.#hints.tell(change);
  }

  async free(worker: string): Promise<number> {
    const change = { work: true };
    const values = [worker, this.#hints.channel, this.#hints.payload(change)];
    const [answer] = await this.#database.query<{ freed: number }>("journal.release", this.#sql.free, values);
    if (answer !== undefined && answer.freed > 0) this.#hints.tell(change);
    return answer?.freed ?? 0;
  }

  signal(run: string, signal: NewSignal): Promise<boolean> {
    return this.#signals.send(run, signal);
  }

  async signals(run: string, after: number): Promise<Signal[]> {
    return (await this.signalsMany([{ run, after }])).get(run) ?? [];
  }

  signalsMany(cursors: readonly Cursor[]): Promise<Map<string, Signal[]>> {
    return this.#signals.read(cursors);
  }

  async get(run: string): Promise<RunRow | undefined> {
    const [row] = await this.#database.find<StoredRow>("journal.get", this.#sql.get, [run]);
    return row && toRow(row);
  }

  list(query: ListQuery): Promise<{ runs: RunRow[]; cursor?: string }> {
    return listRuns({ database: this.#database, replica: this.#replica, sql: this.#sql, search: this.#search }, query);
  }

  totals(query: ListQuery, by?: Grouping): Promise<Totals> {
    return totals({ database: this.#database, replica: this.#replica }, query, by);
  }

  async restore(recording: Recording): Promise<void> {
    const op = "journal.restore";
    await this.#database.transaction(op, async (ask) => {
      await this.#enqueueing.lockSession(ask, recording);
      if (await restore(ask, { sql: this.#sql, search: this.#search }, recording)) return;
      throw new VenturiError(op, "conflict", await this.#enqueueing.whyNot(recording, ask));
    });
    this.#hints.tell({ work: recording.state === "ready", events: [recording.run] });
  }

  async prune(options: PruneOptions): Promise<number> {
    const op = "journal.prune";
    const values = [options.olderThan ?? null, options.keep ?? null, pruneStep, options.runs ?? []];
    const step = async () => (await this.#database.query(op, this.#sql.prune, values)).length;
    const count = await pruneInSteps(options, step);
    const { forgetWorkers, forgetKeys, forgetAccounts, forgetUses, forgetBlobs } = this.#sql;
    const forgetting = [forgetWorkers, forgetKeys, forgetAccounts, forgetUses, forgetBlobs];
    for (const statement of forgetting) await this.#database.query(op, statement, []);
    if (count > 0) await forgetGroups(this.#database);
    return count;
  }

  audit(entry: AuditEntry): Promise<void> {
    return addAudit(this.#database, this.#sql, entry);
  }

  audits(query: AuditQuery): Promise<{ records: AuditRecord[]; cursor?: string }> {
    return listAudits(this.#database, this.#sql, query);
  }

  async keepDigest(run: string, end: EndOfRun): Promise<void> {
    const values = [run, JSON.stringify(toDigest(end, this.#search))];
    await this.#database.query("journal.keepDigest", this.#sql.keepDigest, values);
  }

  usage(query: UsageQuery): Promise<UsageRow[]> {
    return usage(this.#database, this.#sql, query);
  }

  reserve(reservation: Reservation): Promise<Reserved> {
    return this.#reservations.reserve(reservation);
  }

  balances(accounts: readonly string[]): Promise<readonly Balance[]> {
    return balances(this.#database, this.#sql, accounts);
  }

  async keepWire(run: string, { round, attempt, wire, bytes }: KeptWire): Promise<void> {
    const values = [run, round, attempt, wire, Buffer.from(bytes)];
    await this.#database.query("journal.keepWire", this.#sql.keepWire, values);
  }

  async wire(run: string): Promise<KeptWire[]> {
    return joinWires(await this.#database.find<KeptWire>("journal.wire", this.#sql.wire, [run]));
  }

  async ping(bytes?: number): Promise<void> {
    const op = "journal.ping";
    await this.#database.ping(op);
    if (bytes === undefined) return;
    await this.#database.transaction(op, async (ask) => {
      // Random bytes, since compressible ones would need no space.
      const trial = randomBytes(bytes);
      const name = `trial-${trial.toString("hex", 0, 16)}`;
      await ask(this.#sql.insertTrial, [name, trial]);
      await ask(this.#sql.deleteTrial, [name]);
    });
  }

  async close(): Promise<void> {
    await this.#replica?.close();
    await this.#hints.close();
    await this.#database.close();
  }

  /** Wakes parked runs whose time has come. Claims in quick succession skip this. */
  async #wake(): Promise<void> {
    const now = performance.now();
    if (now - this.#wokenAt < wakeEvery) return;
    this.#wokenAt = now;
    await this.#database.query("journal.claim", this.#sql.wake, []);
  }
}

/** Whether this may make another run claimable. */
const mayFreeWork = ({ state, ownership }: Append): boolean =>
  state === "ready" || state === "waiting" || (state === "done" && ownership.session !== undefined);
