import { randomBytes, randomInt } from "node:crypto";
import {
  joinWires,
  noDigests,
  pruneInSteps,
  toAuditRecord,
  toClaim,
  toEvents,
  toOwnership,
  tooManyRuns,
  toRow,
  toSignal,
  wordsOf,
} from "venturi/internal";
import {
  type Append,
  type AuditEntry,
  type AuditQuery,
  type AuditRecord,
  type AuditRow,
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
  type SignalRow,
  type StoredRow,
  type Totals,
  type UsageQuery,
  type UsageRow,
  VenturiError,
  type WorkerRow,
} from "venturi/plugin";
import { blobStore } from "./blobs.ts";
import type { Ask, Database } from "./database.ts";
import { Hints } from "./hints.ts";
import { keyValues } from "./key-values.ts";
import { listConditions, sortColumns } from "./list.ts";
import { balances, Reservations, usage } from "./money.ts";
import type { ReadReplica } from "./read-replica.ts";
import { restore } from "./restore.ts";
import { toBills, toColumns, toDigest, toDigests, toStops } from "./rows.ts";
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
    const [there] = await this.#database.query<{ places: number[] }>(op, this.#sql.settle, columns);
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

  async enqueue(item: Enqueue): Promise<{ run: string; existing: boolean; claim?: Claim }> {
    const op = "journal.enqueue";
    const { tenant, session } = item;
    const { caller } = item.request;
    const limited = caller?.concurrentRuns !== undefined;
    const change = { work: false };
    const enqueued =
      session === undefined && !limited
        ? await this.#enqueue(item, change, (text, values) => this.#database.query(op, text, values))
        : await this.#database.transaction(op, async (ask) => {
            const { schema } = this.#database;
            // Always in this order, to avoid deadlock.
            if (limited) await ask(this.#sql.lockSession, [nameLock(schema, tenant, "caller", caller.id)]);
            if (session !== undefined) await ask(this.#sql.lockSession, [nameLock(schema, tenant, "session", session)]);
            return this.#enqueue(item, change, ask);
          });
    // Only now is it visible to a claim by this process.
    if (change.work) this.#hints.tell(change);
    return enqueued;
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

  async signal(run: string, { id, kind, body }: NewSignal): Promise<boolean> {
    const op = "journal.signal";
    const change = { signals: [run] };
    const payloads = [this.#hints.payload(change), this.#hints.payload({ ...change, work: true })];
    const values = [run, id, kind, JSON.stringify(body), this.#hints.channel, ...payloads];
    const [counted] = await this.#once<{ state: string }>(op, this.#sql.signal, values);
    if (counted) {
      this.#hints.tell({ ...change, work: counted.state === "ready" });
      return true;
    }
    const found = await this.#database.query(op, this.#sql.findRun, [run]);
    if (found.length === 0) throw new VenturiError(op, "not_found", `there is no run ${run}`);
    return false;
  }

  async signals(run: string, after: number): Promise<Signal[]> {
    return (await this.signalsMany([{ run, after }])).get(run) ?? [];
  }

  async signalsMany(cursors: readonly Cursor[]): Promise<Map<string, Signal[]>> {
    const values = [cursors.map(({ run }) => run), cursors.map(({ after }) => after)];
    const rows = await this.#database.query<SignalRow & { run: string }>("journal.signals", this.#sql.signals, values);
    const found = new Map<string, Signal[]>();
    for (const [run, signals] of Map.groupBy(rows, (row) => row.run)) found.set(run, signals.map(toSignal));
    return found;
  }

  async get(run: string): Promise<RunRow | undefined> {
    const [row] = await this.#database.query<StoredRow>("journal.get", this.#sql.get, [run]);
    return row && toRow(row);
  }

  async list(query: ListQuery): Promise<{ runs: RunRow[]; cursor?: string }> {
    const limit = query.limit ?? 50;
    if (query.text !== undefined && this.#search === "none") throw noDigests("the journal has `search: false`");
    if (query.text !== undefined && wordsOf(query.text).length === 0) return { runs: [] };
    const { conditions, values } = listConditions(this.#database.schema, query);
    const text =
      query.sort === undefined
        ? this.#sql.list({ conditions, order: query.oldestFirst ? "ASC" : "DESC" })
        : this.#sql.listSorted({ conditions, by: sortColumns[query.sort] });
    type Found = StoredRow & { id: string; found: number; value?: number };
    const asked = [limit + 1, ...values];
    const lagging = query.mayLag ? await this.#replica?.query<Found>(text, asked) : undefined;
    const rows = lagging ?? (await this.#database.query<Found>("journal.list", text, asked));
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const runs = page.map(toRow);
    // Found but left out: past the limit or the page size.
    return last && last.found > page.length
      ? { runs, cursor: last.value === undefined ? last.id : `${last.value}_${last.id}` }
      : { runs };
  }

  totals(query: ListQuery, by?: Grouping): Promise<Totals> {
    return totals({ database: this.#database, replica: this.#replica }, query, by);
  }

  async restore(recording: Recording): Promise<void> {
    const op = "journal.restore";
    const { run, tenant, session } = recording;
    await this.#database.transaction(op, async (ask) => {
      if (session !== undefined)
        await ask(this.#sql.lockSession, [nameLock(this.#database.schema, tenant, "session", session)]);
      if (await restore(ask, { sql: this.#sql, search: this.#search }, recording)) return;
      throw new VenturiError(op, "conflict", await this.#whyNot(recording, ask));
    });
    this.#hints.tell({ work: recording.state === "ready", events: [run] });
  }

  async prune(options: PruneOptions): Promise<number> {
    const op = "journal.prune";
    const values = [options.olderThan ?? null, options.keep ?? null, pruneStep, options.runs ?? []];
    const step = async () => (await this.#database.query(op, this.#sql.prune, values)).length;
    const count = await pruneInSteps(options, step);
    for (const statement of [
      this.#sql.forgetWorkers,
      this.#sql.forgetKeys,
      this.#sql.forgetAccounts,
      this.#sql.forgetUses,
      this.#sql.forgetBlobs,
    ])
      await this.#database.query(op, statement, []);
    if (count > 0) await forgetGroups(this.#database);
    return count;
  }

  async audit({ action, by, tenant, run, details }: AuditEntry): Promise<void> {
    const written = details === undefined ? null : JSON.stringify(details);
    const values = [action, by, tenant ?? null, run ?? null, written];
    await this.#database.query("journal.audit", this.#sql.audit, values);
  }

  async audits(query: AuditQuery): Promise<{ records: AuditRecord[]; cursor?: string }> {
    const { tenant, action, run, cursor, limit = 50 } = query;
    const values = [tenant ?? null, action ?? null, run ?? null, cursor ?? null, limit + 1];
    const found = await this.#database.query<AuditRow>("journal.audit", this.#sql.audits, values);
    const records = found.slice(0, limit).map(toAuditRecord);
    const last = records.at(-1);
    return last && found.length > limit ? { records, cursor: String(last.number) } : { records };
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
    return joinWires(await this.#database.query<KeptWire>("journal.wire", this.#sql.wire, [run]));
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

  async #enqueue(
    item: Enqueue,
    change: { work: boolean },
    ask: Ask,
  ): Promise<{ run: string; existing: boolean; claim?: Claim }> {
    const { run, tenant, key = null, session = null, request, claimFor = null } = item;
    const existing = key === null ? [] : await ask<{ run: string }>(this.#sql.findKey, [tenant, key]);
    if (existing[0]) return { run: existing[0].run, existing: true };
    const { caller } = request;
    if (caller?.concurrentRuns !== undefined) {
      const [counted] = await ask<{ open: number }>(this.#sql.countOpen, [tenant, caller.id]);
      if ((counted?.open ?? 0) >= caller.concurrentRuns) throw tooManyRuns(caller.concurrentRuns);
    }
    const hint = [this.#hints.channel, this.#hints.payload({ work: true })];
    const refuseBusy = item.whenBusy === "conflict";
    const asked = [run, key, session, request.agent, JSON.stringify(request), claimFor, refuseBusy, ...hint];
    const values = [...asked, tenant, request.revision ?? null, caller?.id ?? null];
    const [added] = await ask<{ state: string; busy: boolean }>(this.#sql.enqueue, values);
    if (!added) return this.#refused(item, ask);
    if (added.state === "running" && claimFor !== null) {
      const ownership = { run, session: item.session, epoch: 1, worker: claimFor, head: 0 };
      return { run, existing: false, claim: { ownership, tenant, request, signals: 0 } };
    }
    change.work = !added.busy;
    return { run, existing: false };
  }

  /** Nothing was inserted: another enqueue with the key came first, the id is taken, or the session is busy. */
  async #refused(item: Enqueue, ask: Ask): Promise<{ run: string; existing: boolean }> {
    const op = "journal.enqueue";
    const { tenant, key } = item;
    const [known] = key === undefined ? [] : await ask<{ run: string }>(this.#sql.findKey, [tenant, key]);
    if (known) return { run: known.run, existing: true };
    throw new VenturiError(op, "conflict", await this.#whyNot(item, ask));
  }

  async #whyNot({ run, session }: Pick<Enqueue, "run" | "session">, ask: Ask): Promise<string> {
    const taken = await ask(this.#sql.findRun, [run]);
    return taken.length > 0 ? `the run ${run} already exists` : `the session ${session} has an active run`;
  }

  /** Wakes parked runs whose time has come. Claims in quick succession skip this. */
  async #wake(): Promise<void> {
    const now = performance.now();
    if (now - this.#wokenAt < wakeEvery) return;
    this.#wokenAt = now;
    await this.#database.query("journal.claim", this.#sql.wake, []);
  }

  /** A statement that two replicas may race on: the second has nothing to do. */
  async #once<Row extends object>(op: string, text: string, values: readonly unknown[]): Promise<Row[]> {
    try {
      return await this.#database.query<Row>(op, text, values);
    } catch (thrown) {
      if (VenturiError.isInstance(thrown) && isDuplicate(thrown.cause)) return [];
      throw thrown;
    }
  }
}

const nameLock = (...names: readonly string[]): string => JSON.stringify(names);

/** Whether this may make another run claimable. */
const mayFreeWork = ({ state, ownership }: Append): boolean =>
  state === "ready" || state === "waiting" || (state === "done" && ownership.session !== undefined);

const isDuplicate = (thrown: unknown): boolean =>
  thrown instanceof Error && "code" in thrown && thrown.code === "23505";
