import { VenturiError } from "./errors.ts";
import type { EventBody, RunEvent, RunInput } from "./events.ts";
import type { Message } from "./messages.ts";
import type { Native, NativeRequest } from "./native.ts";
import type { GenerationOptions, OutputFormat, ToolChoice, ToolSpec } from "./provider.ts";
import type { SignalKind } from "./signals.ts";
import { token } from "./token.ts";

/**
 * One worker's claim on a run. The epoch grows by one with every claim; `head` is the seq of its last committed event, moved
 * on by whoever appends once the append has resolved.
 */
export interface Ownership {
  readonly run: string;
  readonly session: string | undefined;
  readonly epoch: number;
  readonly worker: string;
  head: number;
}

/** `ready`: to be claimed. `running`: under a lease. `waiting`: parked until a signal or its time comes. `done`: has its terminal event. */
export type RunState = "ready" | "running" | "waiting" | "done";

/** Owner of the runs that nobody authenticated started: without `server.auth`, from the command line, in a program. */
export const defaultTenant = "default";

/** What a run was asked, as it is stored: everything another replica needs to take it up. */
export interface RunRequest {
  readonly agent: string;
  readonly input: RunInput;
  /** What the client tells the model for this run alone: after the agent's instructions, not kept in the session. */
  readonly instructions?: Message;
  readonly session?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly limits?: Readonly<Record<string, unknown>>;
  /** Instead of the agent's model, as the config names it. */
  readonly model?: string;
  readonly options?: GenerationOptions;
  /** Tools of the client: offered to the model, never run here, returned as calls. */
  readonly clientTools?: readonly ToolSpec[];
  readonly toolChoice?: ToolChoice;
  readonly output?: OutputFormat;
  /** What the client said in its own wire and nothing above carries: for providers that speak the same one. */
  readonly native?: NativeRequest;
  readonly nativeChoice?: Native;
  /** Fields that the channel itself has no place for; reported with those that the provider has none for. */
  readonly unsent?: readonly string[];
  /** Asks no model: the run adds its input to the session, and ends. */
  readonly remember?: true;
  /** Notes of the channel that started the run, under the channel's own key, for when it shows the run again. */
  readonly channel?: Readonly<Record<string, unknown>>;
  /** W3C trace context and baggage that came in with the request. */
  readonly traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
  readonly parent?: { readonly run: string; readonly call: string; readonly depth: number };
  /** What becomes of the run when the client that started it goes away. */
  readonly onDisconnect?: "continue" | "cancel";
  /** Who started it, or started the run it is a part of. With `concurrentRuns` a limit on what it has under way or in line. */
  readonly caller?: { readonly id: string; readonly concurrentRuns?: number };
  /** Revision of the agent that took the request; `claim` can be told to leave those of other revisions alone. */
  readonly revision?: string;
}

export interface Append {
  readonly ownership: Ownership;
  readonly events: readonly RunEvent[];
  readonly state?: "ready" | "waiting" | "done";
  /** With `state: "waiting"`: parks only if no more signals than these have come; otherwise the run stays ready. */
  readonly seenSignals?: number;
  /** With `state: "waiting"`: the run can be claimed after so many ms by the engine's clock, though no signal has come. */
  readonly wakeAfter?: number;
}

export interface Enqueue {
  readonly run: string;
  /** Owner of the run. Sessions and keys are names within a tenant: the same name of two tenants is two things. */
  readonly tenant: string;
  readonly session: string | undefined;
  readonly request: RunRequest;
  /** Idempotency key: a second enqueue of the tenant with it finds the first's run. */
  readonly key?: string;
  /** With the session busy: wait in line (default), or be refused with `conflict`. */
  readonly whenBusy?: "wait" | "conflict";
  /** Claims it for this worker in the same transaction if its session is free. */
  readonly claimFor?: string;
}

/** What `enqueue` rejects with when the caller has as many runs as it may have. */
export const tooManyRuns = (most: number): VenturiError =>
  new VenturiError(
    "journal.enqueue",
    "rate_limited",
    `this key has ${most} runs under way or in line, the most it may have`,
    {
      details: { retryAfterMs: 1000 },
    },
  );

/** A run from somewhere else, whole. */
export interface Recording {
  readonly run: string;
  readonly tenant: string;
  readonly session: string | undefined;
  readonly request: RunRequest;
  readonly signals: readonly Omit<Signal, "number">[];
  readonly wires: readonly KeptWire[];
  /** From seq 1, without a gap. */
  readonly events: readonly RunEvent[];
}

/** Raw provider bytes of one attempt at a round. */
export interface KeptWire {
  readonly round: number;
  readonly attempt: number;
  readonly wire: string;
  readonly bytes: Uint8Array;
}

/** Which runs a worker can work on; any when absent. Cancelled ones are always among them: they only have to end. */
export interface ClaimFilter {
  /** Runs of these agents. Those of others stay for a worker that has their agent. */
  readonly agents?: readonly string[];
  /** Runs whose request has one of these revisions, or none. */
  readonly revisions?: readonly string[];
}

export interface Claim {
  readonly ownership: Ownership;
  readonly tenant: string;
  readonly request: RunRequest;
  /** How many signals had come when it was claimed. */
  readonly signals: number;
  /** The stored request cannot be read, and `request` only names the agent: the run can only be ended. */
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
  /** Terminal event's type once there is one. */
  readonly outcome: "finished" | "failed" | undefined;
  readonly head: number;
  /** Questions to people that nobody has answered yet; the sum of `questionsOpened` over its events. */
  readonly asking: number;
  readonly epoch: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly request: RunRequest;
}

export interface ListQuery {
  readonly tenant?: string;
  readonly agent?: string;
  /** Runs of these agents only; of none when empty. */
  readonly agents?: readonly string[];
  readonly session?: string;
  readonly state?: RunState;
  readonly outcome?: "finished" | "failed";
  /** True: only runs that have not ended and are parked or have a question open. False: only the others. */
  readonly waiting?: boolean;
  readonly cursor?: string;
  readonly limit?: number;
  /** Oldest first; newest first when absent. */
  readonly oldestFirst?: boolean;
}

/** Something done that someone may have to answer for. Holds no secrets and no content. */
export interface AuditEntry {
  /** Such as `auth.failed`, `approval.given`, `run.cancelled`, `config.reloaded`. */
  readonly action: string;
  /** Id of the key or token's subject, or the surface: `cli`, `library`, an address. */
  readonly by: string;
  readonly tenant?: string;
  readonly run?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface AuditRecord extends AuditEntry {
  /** Grows with each record. */
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

/** Bytes beside the events, by their SHA-256: kept once however many runs name them, and as long as one of them is kept. */
export interface BlobStore {
  /** Durable when it resolves. The run need not be there yet; bytes that no run turns out to use go with a later prune. */
  put(run: string, hash: string, bytes: Uint8Array): Promise<void>;
  get(hash: string): Promise<Uint8Array | undefined>;
  /** The hashes that the run has put. */
  of(run: string): Promise<string[]>;
}

/** A lossy wake-up, never data: what may have changed. */
export interface Hint {
  /** There may be something to claim. */
  readonly work: boolean;
  /** Whether the run may have new events. */
  events(run: string): boolean;
  /** Whether the run may have new signals; absent when none has, so that nobody looks through all of them. */
  signals?(run: string): boolean;
}

/**
 * Where runs live. Engines differ, the rules do not: a record goes in only if the one before it carries the same epoch, and
 * the engine checks that in the same statement; only `claim` starts an epoch; time is the engine's own. Failures of the
 * engine that may pass reject with `journal_failed`; what it will never store, or cannot read back, with `record_invalid`.
 */
export interface Journal {
  /** A worker that has not been heard of for this long, neither by heartbeat nor by what it wrote, has lost its runs, ms. */
  readonly lease: number;
  /**
   * All or nothing per item, in order. Resolves when durable, with the owners that were fenced. May be repeated with
   * the same items after a rejection: an item that is already there, with the same epoch and events, counts as done.
   */
  append(batch: readonly Append[]): Promise<ReadonlySet<Ownership>>;
  read(run: string, after: number, limit: number): Promise<RunEvent[]>;
  readMany(cursors: readonly Cursor[], limit: number): Promise<Map<string, RunEvent[]>>;
  /** With `control` only hints of work or signals are wanted; those of events alone come with every token. */
  onHint(callback: (hint: Hint) => void, only?: "control"): () => void;
  /**
   * Rejects with `rate_limited` when `request.caller` has as many runs ready or running as it may have: those that wait for
   * their session's turn count, parked ones do not.
   */
  enqueue(item: Enqueue): Promise<{ run: string; existing: boolean; claim?: Claim }>;
  /**
   * Up to `limit` runs that are ready, parked ones whose time has come, and those whose worker's lease ran out, as far as they
   * fit the filter; sessions in order, one unfinished run at a time, except that a run with a `cancel` signal need not wait
   * for its turn to end. Renews the worker's own lease.
   */
  claim(worker: string, limit: number, filter?: ClaimFilter): Promise<Claim[]>;
  heartbeat(worker: string): Promise<void>;
  /** Everything that is running under this worker's name. A claim whose answer was lost is found here. */
  held(worker: string): Promise<Ownership[]>;
  /** Gives a run back, unfinished, to whoever claims it next. */
  release(ownership: Ownership): Promise<void>;
  /** False when the run has ended or the id was seen before. Unknown runs reject with `not_found`. */
  signal(run: string, id: string, kind: Signal["kind"], body: Signal["body"]): Promise<boolean>;
  signals(run: string, after: number): Promise<Signal[]>;
  signalsMany(cursors: readonly Cursor[]): Promise<Map<string, Signal[]>>;
  get(run: string): Promise<RunRow | undefined>;
  /** In the order they came, by the engine's time. What another replica has just changed may be seen a little later. */
  list(query: ListQuery): Promise<{ runs: RunRow[]; cursor?: string }>;
  /**
   * Takes a run in with everything it has, at once: nobody sees a part of it, and nobody claims it. It is `done` if its last
   * event says so, otherwise `waiting`. Rejects with `conflict` when the id is taken or its session has a run under way.
   */
  restore(recording: Recording): Promise<void>;
  /** Removes ended runs older than `olderThan` ms, all but the newest `keep`, and those named; answers how many. */
  prune(options: PruneOptions): Promise<number>;
  /** Adds to the audit, which nothing changes or removes: `prune` leaves it alone. */
  audit(entry: AuditEntry): Promise<void>;
  /** Newest first. */
  audits(query: AuditQuery): Promise<{ records: AuditRecord[]; cursor?: string }>;
  /** The next raw provider bytes of an attempt (`journal.keepWire`); several calls for one attempt are one stream. */
  keepWire?(run: string, round: number, attempt: number, wire: string, bytes: Uint8Array): Promise<void>;
  /** One for each attempt, in the order in which they began: see `joinWires`. */
  wire?(run: string): Promise<KeptWire[]>;
  /** Content that requests and events name by hash. Without it such content stays inside them. */
  readonly blobs?: BlobStore;
  /** Rejects with `journal_failed` when the engine cannot be used now. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
export const Journal = token<Journal>("Journal");

/**
 * Signals of one run as they come, each once, in order. Those after `after` that were there when the run was claimed are
 * given before `subscribe` returns, so that a run cancelled while it waited is never started.
 */
export interface SignalFeed {
  subscribe(after: number, callback: (signal: Signal) => void): () => void;
}

/** Where the loop writes. Assigns `seq`, `run` and `at`; a log belongs to one owner and ends with it. */
export interface RunLog {
  readonly ownership: Ownership;
  /** The seq of the last event written, committed or not. */
  readonly head: number;
  /** Aborts when the owner is fenced or the journal gave up. */
  readonly signal: AbortSignal;
  /** Set while more waits to be committed than a run may hold in memory: await it before writing on. */
  readonly pressure: Promise<void> | undefined;
  /** Goes into the next group commit. Takes the object over: pass a fresh one. A no-op once the ownership has ended. */
  write(event: EventBody): RunEvent;
  /** Resolves when everything written so far is durable; rejects when the owner was fenced. */
  flush(): Promise<void>;
  /** Writes and waits: for events that someone will act on. */
  step(event: EventBody): Promise<RunEvent>;
  /**
   * Parks the run until a signal beyond `seenSignals` comes, or `wakeAfter` ms have passed; this ends the ownership, and
   * someone will claim the run anew.
   */
  park(seenSignals: number, wakeAfter?: number): Promise<void>;
}

/** The pieces that `keepWire` was given, in order, as one stream for each attempt. */
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
