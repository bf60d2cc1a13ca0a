import type { Digest, EndOfRun } from "./digest.ts";
import { VenturiError } from "./errors.ts";
import type { EventBody, RunEvent, RunInput } from "./events.ts";
import type { Message } from "./messages.ts";
import type { Native, NativeRequest } from "./native.ts";
import type { GenerationOptions, OutputFormat, ToolChoice, ToolSpec } from "./provider.ts";
import type { SignalKind } from "./signals.ts";
import { token } from "./token.ts";

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

/**
 * `ready`: can be claimed. `running`: under a lease. `waiting`: parked until a signal or a timeout. `done`: has its terminal
 * event.
 */
export type RunState = "ready" | "running" | "waiting" | "done";

/** Tenant of runs without an authenticated caller: no `server.auth`, the command line, the library. */
export const defaultTenant = "default";

/** A run's request as stored: everything another replica needs to execute it. */
export interface RunRequest {
  readonly agent: string;
  readonly input: RunInput;
  /** Instructions from the client for this run only: appended to the agent's, not kept in the session. */
  readonly instructions?: Message;
  readonly session?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly limits?: Readonly<Record<string, unknown>>;
  /** Overrides the agent's model; a name from the config. */
  readonly model?: string;
  readonly options?: GenerationOptions;
  /** Client tools: offered to the model, never executed here, returned as calls. */
  readonly clientTools?: readonly ToolSpec[];
  readonly toolChoice?: ToolChoice;
  readonly output?: OutputFormat;
  /** Fields of the client's wire that nothing above carries, for providers that speak the same wire. */
  readonly native?: NativeRequest;
  readonly nativeChoice?: Native;
  /** Fields the channel cannot express; reported together with those the provider cannot. */
  readonly unsent?: readonly string[];
  /** Calls no model: the run adds its input to the session and ends. */
  readonly remember?: true;
  /** Notes of the channel that started the run, under the channel's key, for rendering the run later. */
  readonly channel?: Readonly<Record<string, unknown>>;
  /** W3C trace context and baggage of the incoming request. */
  readonly traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
  readonly parent?: { readonly run: string; readonly call: string; readonly depth: number };
  /** Set on a forked run. */
  readonly fork?: ForkOrigin;
  /** What happens to the run when the client that started it disconnects. */
  readonly onDisconnect?: "continue" | "cancel";
  /** Caller of the run, or of its root run. `concurrentRuns` limits the caller's running and queued runs. */
  readonly caller?: { readonly id: string; readonly concurrentRuns?: number };
  /** What the run brings for its agent's tools and hooks. Never shown to the model. */
  readonly context?: unknown;
  /** Revision of the agent that accepted the request; `claim` can filter by revision. */
  readonly revision?: string;
}

/** Of a forked run: where it comes from, and what differs while it executes. */
export interface ForkOrigin {
  readonly run: string;
  readonly after: number;
  readonly tools: "recorded" | "run" | "ask";
  /** In place of the agent's own. */
  readonly instructions?: string;
}

export interface Append {
  readonly ownership: Ownership;
  readonly events: readonly RunEvent[];
  readonly state?: "ready" | "waiting" | "done";
  /** With `state: "waiting"`: parks only if no signal beyond this count has arrived; otherwise the run stays ready. */
  readonly seenSignals?: number;
  /** With `state: "waiting"`: the run becomes claimable after this many ms of engine time even without a signal. */
  readonly wakeAfter?: number;
  /** With a terminal event: the run's digest. A journal that keeps digests stores it in the same transaction. */
  readonly end?: EndOfRun;
}

export interface Enqueue {
  readonly run: string;
  /** Owner of the run. Sessions and idempotency keys are scoped to a tenant. */
  readonly tenant: string;
  readonly session: string | undefined;
  readonly request: RunRequest;
  /** Idempotency key: a second enqueue by the tenant with this key returns the first run. */
  readonly key?: string;
  /** If the session is busy: queue (default), or reject with `conflict`. */
  readonly whenBusy?: "wait" | "conflict";
  /** Claims the run for this worker in the same transaction if its session is free. */
  readonly claimFor?: string;
}

/** The rejection of `enqueue` when the caller has reached its run limit. */
export const tooManyRuns = (most: number): VenturiError =>
  new VenturiError(
    "journal.enqueue",
    "rate_limited",
    `this key has ${most} active or queued runs, which is its limit`,
    {
      details: { retryAfterMs: 1000 },
    },
  );

/** A complete run from elsewhere, to be restored. */
export interface Recording {
  readonly run: string;
  readonly tenant: string;
  readonly session: string | undefined;
  readonly request: RunRequest;
  readonly signals: readonly Omit<Signal, "number">[];
  readonly wires: readonly KeptWire[];
  /** From seq 1, without gaps. */
  readonly events: readonly RunEvent[];
  /** State of a run without a terminal event; `waiting` when absent. */
  readonly state?: "ready" | "waiting";
}

/** Raw provider bytes of one attempt at a round. */
export interface KeptWire {
  readonly round: number;
  readonly attempt: number;
  readonly wire: string;
  readonly bytes: Uint8Array;
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

export interface Signal {
  /** Order of arrival within the run, from 1. */
  readonly number: number;
  readonly id: string;
  readonly kind: SignalKind;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface RunRow {
  readonly run: string;
  readonly tenant: string;
  readonly agent: string;
  readonly session: string | undefined;
  readonly state: RunState;
  /** From the terminal event, once there is one. */
  readonly outcome: "finished" | "failed" | undefined;
  readonly head: number;
  /** Number of unanswered approvals: the sum of `questionsOpened` over its events. */
  readonly asking: number;
  readonly epoch: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly request: RunRequest;
  /** Of an ended run, in a journal that keeps digests. */
  readonly digest?: Digest;
}

export interface ListQuery {
  readonly tenant?: string;
  readonly agent?: string;
  /** Only runs of these agents; an empty list matches nothing. */
  readonly agents?: readonly string[];
  readonly session?: string;
  readonly state?: RunState;
  readonly outcome?: "finished" | "failed";
  /** True: only unfinished runs that are parked or have an open question. False: only the others. */
  readonly waiting?: boolean;
  readonly cursor?: string;
  readonly limit?: number;
  /** Oldest first; newest first when absent. */
  readonly oldestFirst?: boolean;
  /** The answer may lag behind, also behind this process's own writes: an engine may ask a read replica. */
  readonly mayLag?: boolean;
  /** Created at or after, and before; ms since the epoch. */
  readonly since?: number;
  readonly until?: number;
  /** Id of the key that started it. */
  readonly by?: string;
  /** Ended runs whose input or output has all these words, or words that begin with them. */
  readonly text?: string;
  /** Ended runs that called this tool, used this model, failed with this code, took at least this long. */
  readonly tool?: string;
  readonly model?: string;
  readonly code?: string;
  readonly minMs?: number;
  /** Runs whose request has these values at the top of its metadata: texts, or numbers and booleans as JSON writes them. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Only ended runs, in this order instead of that of their arrival; `costliest`: only those whose cost is known. */
  readonly sort?: "longest" | "costliest";
}

/** Metadata as filters compare it: undefined for what is no text, number or boolean. */
export const metadataText = (value: unknown): string | undefined =>
  typeof value === "string"
    ? value
    : typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : undefined;

/** Position in a sorted list: the value of its last run, and the run's place. */
export function sortCursor(cursor: string): { readonly value: number; readonly id: number } {
  const [value, id] = cursor.split("_").map(Number);
  if (value === undefined || id === undefined || Number.isNaN(value) || !Number.isInteger(id)) {
    throw new VenturiError("journal.list", "invalid_input", "the cursor belongs to a list in another order");
  }
  return { value, id };
}

/** Whether the query asks about what only digests tell. */
export const asksDigests = ({ text, tool, model, code, minMs, sort }: ListQuery): boolean =>
  [text, tool, model, code, minMs, sort].some((asked) => asked !== undefined);

/** The rejection of such a query by a journal without them. */
export const noDigests = (why: string): VenturiError =>
  new VenturiError("journal.list", "invalid_input", `runs cannot be searched: ${why}`);

/** An auditable action. Holds no secrets and no content. */
export interface AuditEntry {
  /** Such as `auth.failed`, `approval.given`, `run.cancelled`, `config.reloaded`. */
  readonly action: string;
  /** Id of the key, subject of the token, or the surface: `cli`, `library`, an address. */
  readonly by: string;
  readonly tenant?: string;
  readonly run?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface AuditRecord extends AuditEntry {
  /** Increases with each record. */
  readonly number: number;
  readonly at: number;
}

export interface AuditQuery {
  readonly tenant?: string;
  readonly action?: string;
  readonly run?: string;
  readonly cursor?: string;
  readonly limit?: number;
}

export interface PruneOptions {
  readonly olderThan?: number;
  readonly keep?: number;
  readonly runs?: readonly string[];
}

export interface Cursor {
  readonly run: string;
  readonly after: number;
}

/** Content-addressed blobs (SHA-256) beside the events: stored once, kept as long as any run refers to them. */
export interface BlobStore {
  /** Durable when it resolves. The run may not exist yet; a later prune removes blobs that no run refers to. */
  put(run: string, hash: string, bytes: Uint8Array): Promise<void>;
  get(hash: string): Promise<Uint8Array | undefined>;
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
  /** Releases an unfinished run so that it can be claimed again. */
  release(ownership: Ownership): Promise<void>;
  /** False when the run has ended or the id is a duplicate. Rejects with `not_found` for unknown runs. */
  signal(run: string, id: string, kind: Signal["kind"], body: Signal["body"]): Promise<boolean>;
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
  /** Appends raw provider bytes of an attempt (`journal.keepWire`); repeated calls for one attempt form one stream. */
  keepWire?(run: string, round: number, attempt: number, wire: string, bytes: Uint8Array): Promise<void>;
  /** One entry per attempt, in starting order; see `joinWires`. */
  wire?(run: string): Promise<KeptWire[]>;
  /** Content referred to by hash. Without it, content stays inline in requests and events. */
  readonly blobs?: BlobStore;
  /** Rejects with `journal_failed` when the engine is unavailable. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
export const Journal = token<Journal>("Journal");

/**
 * Signals of one run, each once, in order. Those after `after` that were present at the claim are delivered before `subscribe`
 * returns, so that a run cancelled in the queue never starts.
 */
export interface SignalFeed {
  subscribe(after: number, callback: (signal: Signal) => void): () => void;
}

/** The write side of a run. Assigns `seq`, `run` and `at`. A log belongs to one owner and ends with its ownership. */
export interface RunLog {
  readonly ownership: Ownership;
  /** The seq of the last event written, committed or not. */
  readonly head: number;
  /** Aborts when the owner is fenced or the journal gave up. */
  readonly signal: AbortSignal;
  /** Backpressure: set while the run's uncommitted events exceed the high-water mark. Await it before writing more. */
  readonly pressure: Promise<void> | undefined;
  /** Joins the next group commit. Takes ownership of the object: pass a fresh one. A no-op once ownership has ended. */
  write(event: EventBody): RunEvent;
  /** Resolves when everything written so far is durable; rejects when the owner is fenced. */
  flush(): Promise<void>;
  /** Writes and waits for durability: for events that are acted upon. */
  step(event: EventBody): Promise<RunEvent>;
  /**
   * Parks the run until a signal beyond `seenSignals` arrives or `wakeAfter` ms have passed. This ends the ownership; the run
   * is claimed again later.
   */
  park(seenSignals: number, wakeAfter?: number): Promise<void>;
}

/** Concatenates the chunks given to `keepWire` into one stream per attempt. */
export function joinWires(pieces: readonly KeptWire[]): KeptWire[] {
  const attempts = new Map<string, KeptWire[]>();
  for (const piece of pieces) {
    const key = `${piece.round} ${piece.attempt} ${piece.wire}`;
    const known = attempts.get(key);
    if (known === undefined) attempts.set(key, [piece]);
    else known.push(piece);
  }
  return [...attempts.values()].flatMap((all) => {
    const [first] = all;
    if (first === undefined || all.length === 1) return all;
    return [{ ...first, bytes: Buffer.concat(all.map(({ bytes }) => bytes)) }];
  });
}
