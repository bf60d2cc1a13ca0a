import { VenturiError } from "../errors/errors.ts";
import type { EndOfRun } from "../run/digest.ts";
import type { RunEvent } from "../run/events.ts";
import type { KeptWire } from "../run/kept-wire.ts";
import type { ListQuery } from "../run/list-query.ts";
import type { RunRequest } from "../run/run-request.ts";
import type { RunRow, RunState } from "../run/run-row.ts";
import type { StoredKind } from "../run/signals.ts";
import type { Grouping, Totals } from "../run/totals.ts";
import { token } from "../values/token.ts";
import type { AuditEntry, AuditQuery, AuditRecord } from "./audit.ts";
import type { KeyValues } from "./key-values.ts";
import type { Balance, Billed, Reservation, Reserved, UsageQuery, UsageRow } from "./money.ts";

/**
 * One worker's claim on a run. Each claim increments the epoch, which acts as the fencing token. `head` is the seq of the last
 * committed event; the appender advances it once the append has resolved.
 */
export interface Ownership {
  readonly run: string;
  readonly session: string | undefined;
  readonly epoch: number;
  readonly worker: string;
  head: number;
}

export interface Append {
  readonly ownership: Ownership;
  readonly events: readonly RunEvent[];
  /** All events are stream deltas, so only the run's head changes. */
  readonly pieces?: true;
  readonly state?: "ready" | "waiting" | "done";
  /** With `state: "waiting"`: parks only if no signal beyond this count has arrived; otherwise the run stays ready. */
  readonly seenSignals?: number;
  /** With `state: "waiting"`: the run becomes claimable after this many ms of engine time even without a signal. */
  readonly wakeAfter?: number;
  /** With a terminal event: the run's digest. A journal that keeps digests stores it in the same transaction. */
  readonly end?: EndOfRun;
  /** Usage and cost of its events: stored in the same transaction, exactly once. Ignored by journals without `usage`. */
  readonly billed?: Billed;
}

export interface Enqueue {
  readonly run: string;
  /** Owner of the run. Sessions and idempotency keys are scoped to a tenant. */
  readonly tenant: string;
  readonly session: string | undefined;
  readonly request: RunRequest;
  /**
   * Idempotency key: a second enqueue by the tenant with this key returns the first run, also for `keyMemory` after that run was removed.
   */
  readonly key?: string;
  /** If the session is busy: queue (default), or reject with `conflict`. */
  readonly whenBusy?: "wait" | "conflict";
  /** Claims the run for this worker in the same transaction if its session is free. */
  readonly claimFor?: string;
}

/**
 * How long the key of a removed run stays reserved, ms of engine time: a repeated request must not run again. Only the run's id and a hash
 * of the key are stored.
 */
export const keyMemory = 24 * 3_600_000;

/** The rejection of `enqueue` when the caller has reached its run limit. */
export const tooManyRuns = (most: number): VenturiError =>
  new VenturiError(
    "journal.enqueue",
    "rate_limited",
    `this key has ${most} active or queued runs; its limit, concurrentRuns, is ${most}`,
    {
      details: { limit: "concurrentRuns", value: most, most, retryAfterMs: 1000 },
    },
  );

/** A complete run from elsewhere, to be restored. */
export interface Recording {
  readonly run: string;
  readonly tenant: string;
  readonly session: string | undefined;
  readonly request: RunRequest;
  readonly signals: readonly NewSignal[];
  readonly wires: readonly KeptWire[];
  /** From seq 1, without gaps. */
  readonly events: readonly RunEvent[];
  /** State of a run without a terminal event; `waiting` when absent. */
  readonly state?: "ready" | "waiting";
}

/** Which runs a worker can execute; all when absent. Cancelled runs always match, because they only need to be ended. */
export interface ClaimFilter {
  /** Only runs of these agents; others are left to a worker that has them. */
  readonly agents?: readonly string[];
  /** Runs whose request has one of these revisions, or none. */
  readonly revisions?: readonly string[];
  /** Also these runs, whatever their agent and revision. */
  readonly runs?: readonly string[];
}

export interface Claim {
  readonly ownership: Ownership;
  readonly tenant: string;
  readonly request: RunRequest;
  /** Number of signals at the time of the claim. */
  readonly signals: number;
  /** Set when the stored request cannot be read. `request` then only names the agent, and the run can only be ended. */
  readonly unreadable?: VenturiError;
}

export interface NewSignal {
  /** Unique within the run: a signal sent twice counts once. */
  readonly id: string;
  readonly kind: StoredKind;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Signal extends NewSignal {
  /** Order of arrival within the run, from 1. */
  readonly number: number;
}

export interface PruneOptions {
  readonly olderThan?: number;
  readonly keep?: number;
  readonly runs?: readonly string[];
  /** Runs are removed in small steps. After each, prune rests this many times as long as the step took, so that appends have priority. */
  readonly rest?: number;
  /** Ends after the current step; the rest is left for the next time. */
  readonly signal?: AbortSignal;
}

export interface Cursor {
  readonly run: string;
  readonly after: number;
}

/** Content-addressed blobs (SHA-256) next to the events: stored once, kept as long as any run refers to them. */
export interface BlobStore {
  /** Durable when it resolves. The run may not exist yet; a later prune removes blobs that no run refers to. */
  put(run: string, hash: string, bytes: Uint8Array): Promise<void>;
  get(hash: string): Promise<Uint8Array | undefined>;
  /** As `get`, one piece at a time, read on demand. */
  pieces?(hash: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** As `put` for bytes that are already stored; false when they are not. */
  use?(run: string, hash: string): Promise<boolean>;
  /** Hashes put by this run. */
  of(run: string): Promise<string[]>;
}

/** A lossy wake-up without data: what may have changed. */
export interface Hint {
  /** There may be a run to claim. */
  readonly work: boolean;
  /** Whether the run may have new events. */
  events(run: string): boolean;
  /** Whether the run may have new signals. Absent when no run has any, which saves checking them all. */
  signals?(run: string): boolean;
}

/** A worker known to the journal. */
export interface WorkerRow {
  readonly worker: string;
  /** Engine time since its last heartbeat, ms. */
  readonly silentMs: number;
  /** Runs under its lease. */
  readonly runs: number;
}

/** Unfinished runs of one agent in one state. */
export interface BacklogRow {
  readonly agent: string;
  readonly state: Exclude<RunState, "done">;
  readonly runs: number;
  /** Unanswered approvals; those of called agents count for the outermost calling run. Absent if the engine cannot tell. */
  readonly asking?: number;
}

/**
 * Durable store of runs. Engines differ, the rules do not: a record is accepted only if the previous one has the same epoch,
 * checked by the engine in the same statement; only `claim` starts an epoch; all times are the engine's. Transient failures
 * reject with `journal_failed`; records that can never be stored or read, with `record_invalid`.
 */
export interface Journal {
  /** Lease, ms: a worker without a heartbeat or write for this long loses its runs. */
  readonly lease: number;
  /**
   * Atomic per item, in order. Resolves when durable, with the owners that were fenced. Safe to retry with the same items after
   * a rejection: an item already stored with the same epoch and events counts as done.
   */
  append(batch: readonly Append[]): Promise<ReadonlySet<Ownership>> | ReadonlySet<Ownership>;
  read(run: string, after: number, limit: number): Promise<RunEvent[]>;
  readMany(cursors: readonly Cursor[], limit: number): Promise<Map<string, RunEvent[]>>;
  /** `control` limits hints to work and signals; hints about events arrive with every token. */
  onHint(callback: (hint: Hint) => void, only?: "control"): () => void;
  /**
   * Rejects with `rate_limited` when `request.caller` has reached its limit of ready and running runs. Runs queued behind their
   * session count, parked ones do not.
   */
  enqueue(item: Enqueue): Promise<{ run: string; existing: boolean; claim?: Claim }>;
  /**
   * Claims up to `limit` runs that match the filter: ready ones, parked ones whose time has come, and those whose lease
   * expired. A session runs one at a time, in order, except that a run with a `cancel` signal need not wait for its turn.
   * Renews the worker's lease.
   */
  claim(worker: string, limit: number, filter?: ClaimFilter): Promise<Claim[]>;
  heartbeat(worker: string): Promise<void>;
  /** All runs under this worker's lease. Recovers a claim whose response was lost. */
  held(worker: string): Promise<Ownership[]>;
  /** Workers seen within the last hour, or that still hold runs. Absent where the engine cannot tell. */
  workers?(): Promise<WorkerRow[]>;
  /** Counts the unfinished runs. Absent if the engine would have to read them all. */
  backlog?(): Promise<BacklogRow[]>;
  /** Releases an unfinished run so that it can be claimed again. */
  release(ownership: Ownership): Promise<void>;
  /** Releases all runs of a dead worker in one step; returns how many. */
  free?(worker: string): Promise<number>;
  /** False when the run has ended or the id is a duplicate. Rejects with `not_found` for unknown runs. */
  signal(run: string, signal: NewSignal): Promise<boolean>;
  signals(run: string, after: number): Promise<Signal[]>;
  signalsMany(cursors: readonly Cursor[]): Promise<Map<string, Signal[]>>;
  get(run: string): Promise<RunRow | undefined>;
  /** In order of arrival by engine time. Changes by other replicas may show up with a short delay. */
  list(query: ListQuery): Promise<{ runs: RunRow[]; cursor?: string }>;
  /**
   * Imports a complete run atomically; it cannot be claimed meanwhile. `done` if its last event is terminal, otherwise in the
   * recording's state. Rejects with `conflict` when the id is taken or its session has an unfinished run.
   */
  restore(recording: Recording): Promise<void>;
  /**
   * Removes ended runs older than `olderThan` ms, ended runs beyond the newest `keep`, and those named; returns the number
   * removed.
   */
  prune(options: PruneOptions): Promise<number>;
  /** Appends to the audit log, which is append-only: `prune` does not touch it. */
  audit(entry: AuditEntry): Promise<void>;
  /** Newest first. */
  audits(query: AuditQuery): Promise<{ records: AuditRecord[]; cursor?: string }>;
  /**
   * Replaces the digest of an ended run; `append` and `restore` store it with the terminal event. Absent in journals that
   * keep none: they reject queries for which `asksDigests` holds with `noDigests`.
   */
  keepDigest?(run: string, end: EndOfRun): Promise<void>;
  /**
   * Sums of the ended runs that match a query for which `coveredBySums` holds. Equal to a recount of their digests (`TotalsFold`), but
   * without reading them. May lag like `ListQuery.mayLag`. Absent in journals without digests.
   */
  totals?(query: ListQuery, by?: Grouping): Promise<Totals>;
  /** Sums of usage, from `Append.billed`. They outlive the runs: `prune` does not touch them. */
  usage?(query: UsageQuery): Promise<UsageRow[]>;
  /**
   * Reserves amounts on accounts for a run's next generation, all or none, replacing what the run held before. The append with
   * `Append.billed` gives them back.
   */
  reserve?(reservation: Reservation): Promise<Reserved>;
  /** Balances of these accounts in any order; accounts without any reservation are left out. */
  balances?(accounts: readonly string[]): Promise<readonly Balance[]>;
  /** Appends raw provider bytes of an attempt (`journal.keepWire`); repeated calls for one attempt form one stream. */
  keepWire?(run: string, piece: KeptWire): Promise<void>;
  /** One entry per attempt, in starting order; see `joinWires`. */
  wire?(run: string): Promise<KeptWire[]>;
  /** Blobs referred to by hash. Without it, content stays inline in requests and events. */
  readonly blobs?: BlobStore;
  /** Small values for plugins. Without it, what they keep is lost with the process. */
  readonly keyValues?: KeyValues;
  /**
   * Rejects with `journal_failed` when the engine is unavailable; with `bytes`, also when it cannot store that much now (an empty
   * transaction succeeds even on a full disk).
   */
  ping(bytes?: number): Promise<void>;
  close(): Promise<void>;
}
export const Journal = token<Journal>("Journal");
