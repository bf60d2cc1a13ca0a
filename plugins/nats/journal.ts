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
  type Cursor,
  type Enqueue,
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
  type UsageQuery,
  type UsageRow,
  VenturiError,
} from "venturi/plugin";
import { Appends } from "./appends.ts";
import { addAudit, listAudits } from "./audits.ts";
import { Blobs } from "./blobs.ts";
import { Callers } from "./callers.ts";
import { change } from "./changes.ts";
import { Claims } from "./claims.ts";
import { Enqueueing } from "./enqueue.ts";
import { failed } from "./failures.ts";
import { Feed } from "./feed.ts";
import { Hints } from "./hints.ts";
import { NatsKeyValues } from "./key-values.ts";
import type { Known } from "./known.ts";
import { Lines } from "./lines.ts";
import { asksOpen, list, refuseUnsupported, rowFor } from "./list.ts";
import { Live } from "./live.ts";
import { Money } from "./money.ts";
import type { Names } from "./names.ts";
import { prune } from "./prune.ts";
import { eventsIn, Records } from "./records.ts";
import { restore } from "./restore.ts";
import { Sessions } from "./sessions.ts";
import { Signals } from "./signals.ts";
import { pause, type Store } from "./store.ts";
import { empty } from "./stored.ts";
import { Tails } from "./tails.ts";
import { View } from "./view.ts";
import { keepWire, readWires } from "./wires.ts";

export interface NatsJournalOptions {
  readonly lease: number;
  readonly replicas: number;
  readonly domain: string | undefined;
  /** Resolves when the servers were checked and the streams exist. */
  readonly ready: (op: string) => Promise<void>;
}

/**
 * The journal in NATS JetStream. A run is the messages under one subject; each carries the run's state after it, and is stored
 * only directly after the message its writer saw last. Fencing, parking and signals all follow from that one rule.
 */
export class NatsJournal implements Journal {
  readonly lease: number;
  readonly blobs: Blobs;
  readonly keyValues: KeyValues;
  readonly #store: Store;
  readonly #names: Names;
  readonly #ready: (op: string) => Promise<void>;
  readonly #view: View;
  readonly #feed: Feed;
  readonly #tails: Tails;
  readonly #hints: Hints;
  readonly #live: Live;
  readonly #records: Records;
  readonly #appends: Appends;
  readonly #sessions: Sessions;
  readonly #callers: Callers;
  readonly #claims: Claims;
  readonly #enqueueing: Enqueueing;
  readonly #signals: Signals;
  readonly #money: Money;
  /** Accounts on which this process's runs hold a reservation. */
  readonly #holding = new Map<string, readonly string[]>();

  constructor(store: Store, names: Names, { lease, replicas, domain, ready }: NatsJournalOptions) {
    this.lease = lease;
    this.#store = store;
    this.#names = names;
    this.#ready = ready;
    const view = new View(names.shards, (known, kind) => this.#changed(known, kind));
    const tails = new Tails(store, names);
    const lines = new Lines(store, names);
    const sessions = new Sessions({ lines, names, view, tails });
    const callers = new Callers({ lines, names, view, tails });
    const records = new Records(store, names, view);
    this.blobs = new Blobs({ store, names, tails }, () => this.#usable("journal.blob"));
    this.keyValues = new NatsKeyValues({ store, names }, () => this.#usable("journal.values"));
    this.#view = view;
    this.#feed = new Feed({ store, names, view, domain });
    this.#tails = tails;
    this.#hints = new Hints(store.link, names, (run) => view.forget(run));
    this.#live = new Live(store.link, names, (run) => this.#hints.note({ events: [run] }));
    this.#records = records;
    this.#sessions = sessions;
    this.#callers = callers;
    this.#appends = new Appends({ store, names, view, tails, records, replicas });
    this.#claims = new Claims({ store, names, view, tails, sessions, lease });
    this.#enqueueing = new Enqueueing({ store, names, view, tails, sessions, callers });
    this.#signals = new Signals({ store, names, view, tails });
    const read = (run: string, after: number, limit: number) => this.read(run, after, limit);
    this.#money = new Money({ store, names, tails, values: this.keyValues, read });
  }

  /** Messages read to build the view. */
  get messagesRead(): number {
    return this.#feed.read;
  }

  async append(batch: readonly Append[]): Promise<ReadonlySet<Ownership>> {
    await this.#usable("journal.append");
    if (batch.length === 0) return new Set();
    const fenced = await this.#appends.append(batch);
    await this.#settle(batch, fenced);
    const runs = batch.map(({ ownership }) => ownership.run);
    this.#hints.note({ events: runs });
    this.#hints.tellEvents(runs);
    return fenced;
  }

  async read(run: string, after: number, limit: number): Promise<RunEvent[]> {
    const op = "journal.read";
    await this.#usable(op);
    if (this.#isFollowed(run)) this.#live.follow(run);
    const tail = await this.#tails.read(op, run);
    if (!tail) return [];
    if (tail.head <= after || limit <= 0) {
      this.#live.checked(run, tail.head);
      return [];
    }
    const records = await this.#records.read(op, { run, after, limit, upTo: tail.seq });
    if (tail.head <= after + limit) this.#live.checked(run, tail.head);
    return eventsIn(records, after, limit);
  }

  async readMany(cursors: readonly Cursor[], limit: number): Promise<Map<string, RunEvent[]>> {
    const op = "journal.read";
    await this.#usable(op);
    const found = new Map<string, RunEvent[]>();
    const unknown: Cursor[] = [];
    for (const cursor of cursors) {
      const { run, after } = cursor;
      if (this.#isFollowed(run)) this.#live.follow(run);
      const events = this.#live.take(run, after, limit);
      if (!events) unknown.push(cursor);
      else if (events.length > 0) found.set(run, events);
    }
    const latest = unknown.length === 0 ? new Map() : await this.#records.latest(op, unknown);
    await Promise.all(
      unknown.map(async ({ run, after }) => {
        const { head = 0, last } = latest.get(run) ?? {};
        // The missing record is usually the last one.
        const isNext = last !== undefined && last.first <= after + 1;
        if (head <= after || isNext) this.#live.checked(run, head);
        if (head <= after) return;
        const events = isNext ? eventsIn([last], after, limit) : await this.read(run, after, limit);
        if (events.length > 0) found.set(run, events);
      }),
    );
    return found;
  }

  onHint(callback: (hint: Hint) => void, only?: "control"): () => void {
    return this.#hints.add({ callback, only }, () => this.#usable("journal.hints"));
  }

  async enqueue(item: Enqueue): Promise<{ run: string; existing: boolean; claim?: Claim }> {
    await this.#usable("journal.enqueue");
    return this.#enqueueing.enqueue(item);
  }

  async claim(worker: string, limit: number, filter: ClaimFilter = {}): Promise<Claim[]> {
    await this.#usable("journal.claim");
    return this.#claims.claim({ ...filter, worker, limit });
  }

  async heartbeat(worker: string): Promise<void> {
    const op = "journal.heartbeat";
    await this.#usable(op);
    await this.#claims.beat(op, worker);
  }

  async held(worker: string): Promise<Ownership[]> {
    const op = "journal.held";
    await this.#usable(op);
    return this.#claims.held(op, worker);
  }

  async backlog(): Promise<BacklogRow[]> {
    await this.#usable("journal.backlog");
    return this.#view.backlog();
  }

  async release({ run, epoch }: Ownership): Promise<void> {
    const op = "journal.release";
    await this.#usable(op);
    await change(this.#parts, { op, run }, (tail) => {
      if (tail.epoch !== epoch || tail.state !== "running") return undefined;
      this.#tails.delete(run, epoch);
      return { kind: "x", standing: { ...tail, state: "ready" }, data: empty };
    });
  }

  async signal(run: string, signal: NewSignal): Promise<boolean> {
    await this.#usable("journal.signal");
    return this.#signals.send(run, signal);
  }

  async signals(run: string, after: number): Promise<Signal[]> {
    return (await this.signalsMany([{ run, after }])).get(run) ?? [];
  }

  async signalsMany(cursors: readonly Cursor[]): Promise<Map<string, Signal[]>> {
    const op = "journal.signals";
    await this.#usable(op);
    return this.#signals.readMany(op, cursors);
  }

  async get(run: string): Promise<RunRow | undefined> {
    const op = "journal.get";
    await this.#usable(op);
    return rowFor(op, this.#parts, run);
  }

  async list(query: ListQuery): Promise<{ runs: RunRow[]; cursor?: string }> {
    const op = "journal.list";
    refuseUnsupported(query);
    await this.#usable(op);
    if (!asksOpen(query)) await this.#feed.history(op);
    await this.#feed.settled(5_000);
    return list(this.#parts, query);
  }

  async restore(recording: Recording): Promise<void> {
    await this.#usable("journal.restore");
    await restore({ ...this.#parts, sessions: this.#sessions }, recording);
    this.#hints.note({ work: recording.state === "ready", events: [recording.run] });
    this.#hints.tellEvents([recording.run]);
  }

  async prune(options: PruneOptions): Promise<number> {
    const op = "journal.prune";
    await this.#usable(op);
    await this.#feed.history(op);
    await this.#feed.settled(5_000);
    const pruned = (run: string) => this.#hints.tellPruned(run);
    return prune(
      { ...this.#parts, sessions: this.#sessions, callers: this.#callers, blobs: this.blobs, pruned },
      options,
    );
  }

  async audit(entry: AuditEntry): Promise<void> {
    await this.#usable("journal.audit");
    await addAudit(this.#parts, entry);
  }

  async audits(query: AuditQuery): Promise<{ records: AuditRecord[]; cursor?: string }> {
    await this.#usable("journal.audit");
    return listAudits(this.#parts, query);
  }

  async keepWire(run: string, wire: KeptWire): Promise<void> {
    const op = "journal.keepWire";
    await this.#usable(op);
    await keepWire(op, this.#parts, { run, wire });
  }

  async wire(run: string): Promise<KeptWire[]> {
    const op = "journal.wire";
    await this.#usable(op);
    return joinWires(await readWires(op, this.#parts, run));
  }

  async usage(query: UsageQuery): Promise<UsageRow[]> {
    await this.#usable("journal.usage");
    return this.#money.usage(query);
  }

  async reserve(reservation: Reservation): Promise<Reserved> {
    await this.#usable("journal.reserve");
    const answer = await this.#money.reserve(reservation);
    const { run } = reservation.ownership;
    if (answer.kind === "held")
      this.#holding.set(
        run,
        reservation.holds.map(({ account }) => account),
      );
    return answer;
  }

  async balances(accounts: readonly string[]): Promise<readonly Balance[]> {
    await this.#usable("journal.balances");
    return await this.#money.balances(accounts);
  }

  /** A write, because a cluster without a majority can still read. */
  async ping(): Promise<void> {
    const op = "journal.ping";
    await this.#usable(op);
    await this.#store.put(op, { subject: this.#names.clock, headers: "", data: empty });
  }

  async close(): Promise<void> {
    this.#hints.close();
    this.#live.close();
    await this.#feed.close().catch(() => {}); // The connection may be gone.
    await this.#store.link.close();
  }

  /** If this fails, the hold stays; whoever looks at the account next settles it from the run's events. */
  async #settle(batch: readonly Append[], fenced: ReadonlySet<Ownership>): Promise<void> {
    const settling = batch.map(async ({ ownership, billed }) => {
      const accounts = billed?.release ? this.#holding.get(ownership.run) : undefined;
      if (billed === undefined || accounts === undefined) return;
      this.#holding.delete(ownership.run);
      if (!fenced.has(ownership)) await this.#money.settle(ownership.run, billed, accounts).catch(() => {});
    });
    await Promise.all(settling);
  }

  get #parts() {
    return { store: this.#store, names: this.#names, view: this.#view, tails: this.#tails };
  }

  /** Whether the run is followed here and written by another process. */
  #isFollowed(run: string): boolean {
    return this.#hints.followed && this.#tails.get(run) === undefined && this.#view.get(run)?.state !== "done";
  }

  /** A state change was delivered by the stream, or made by this process. */
  #changed(known: Known, kind: string): void {
    const { run, state, session, epoch } = known;
    this.#tails.delete(run, epoch - 1);
    const work = state === "ready" || (state === "done" && session !== undefined);
    this.#hints.note({ work, events: [run], ...(kind === "s" && { signals: run }) });
  }

  async #usable(op: string): Promise<void> {
    if (this.#store.link.closed) throw new VenturiError(op, "journal_failed", "the journal has been closed");
    await this.#ready(op);
    const deadline = performance.now() + this.#store.timeout;
    for (;;) {
      try {
        await this.#feed.follow(op);
        return;
      } catch (thrown) {
        if (VenturiError.isInstance(thrown)) throw thrown;
        if (performance.now() > deadline) throw failed(op, thrown instanceof Error ? thrown.message : String(thrown));
        await pause(100);
      }
    }
  }
}
