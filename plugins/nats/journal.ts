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
import { Claims } from "./claims.ts";
import { Enqueueing } from "./enqueue.ts";
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
import { Reading } from "./reading.ts";
import { Records } from "./records.ts";
import { restore } from "./restore.ts";
import { Sessions } from "./sessions.ts";
import { Signals } from "./signals.ts";
import type { Store } from "./store.ts";
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
  readonly #reading: Reading;
  readonly #appends: Appends;
  readonly #sessions: Sessions;
  readonly #callers: Callers;
  readonly #claims: Claims;
  readonly #enqueueing: Enqueueing;
  readonly #signals: Signals;
  readonly #money: Money;

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
    this.#reading = new Reading({ hints: this.#hints, live: this.#live, view, tails, records });
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
    await this.#money.settle(batch, fenced);
    const runs = batch.map(({ ownership }) => ownership.run);
    this.#hints.note({ events: runs });
    this.#hints.tellEvents(runs);
    return fenced;
  }

  async read(run: string, after: number, limit: number): Promise<RunEvent[]> {
    await this.#usable("journal.read");
    return this.#reading.read(run, after, limit);
  }

  async readMany(cursors: readonly Cursor[], limit: number): Promise<Map<string, RunEvent[]>> {
    await this.#usable("journal.read");
    return this.#reading.readMany(cursors, limit);
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

  async release(ownership: Ownership): Promise<void> {
    await this.#usable("journal.release");
    await this.#claims.release(ownership);
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
    return rowFor(op, this.#deps, run);
  }

  async list(query: ListQuery): Promise<{ runs: RunRow[]; cursor?: string }> {
    const op = "journal.list";
    refuseUnsupported(query);
    await this.#usable(op);
    if (!asksOpen(query)) await this.#feed.history(op);
    await this.#feed.caughtUp(5_000);
    return list(this.#deps, query);
  }

  async restore(recording: Recording): Promise<void> {
    await this.#usable("journal.restore");
    await restore({ ...this.#deps, sessions: this.#sessions }, recording);
    this.#hints.note({ work: recording.state === "ready", events: [recording.run] });
    this.#hints.tellEvents([recording.run]);
  }

  async prune(options: PruneOptions): Promise<number> {
    const op = "journal.prune";
    await this.#usable(op);
    await this.#feed.history(op);
    await this.#feed.caughtUp(5_000);
    const pruned = (run: string) => this.#hints.tellPruned(run);
    return prune(
      { ...this.#deps, sessions: this.#sessions, callers: this.#callers, blobs: this.blobs, pruned },
      options,
    );
  }

  async audit(entry: AuditEntry): Promise<void> {
    await this.#usable("journal.audit");
    await addAudit(this.#deps, entry);
  }

  async audits(query: AuditQuery): Promise<{ records: AuditRecord[]; cursor?: string }> {
    await this.#usable("journal.audit");
    return listAudits(this.#deps, query);
  }

  async keepWire(run: string, wire: KeptWire): Promise<void> {
    const op = "journal.keepWire";
    await this.#usable(op);
    await keepWire(op, this.#deps, { run, wire });
  }

  async wire(run: string): Promise<KeptWire[]> {
    const op = "journal.wire";
    await this.#usable(op);
    return joinWires(await readWires(op, this.#deps, run));
  }

  async usage(query: UsageQuery): Promise<UsageRow[]> {
    await this.#usable("journal.usage");
    return this.#money.usage(query);
  }

  async reserve(reservation: Reservation): Promise<Reserved> {
    await this.#usable("journal.reserve");
    return this.#money.reserve(reservation);
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

  get #deps() {
    return { store: this.#store, names: this.#names, view: this.#view, tails: this.#tails };
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
    await this.#feed.follow(op);
  }
}
