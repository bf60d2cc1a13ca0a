import type { SQLInputValue } from "node:sqlite";
import type {
  AuditQuery,
  AuditRow,
  BacklogRow,
  Balance,
  Billed,
  ClaimFilter,
  ClaimRow,
  KeptWire,
  KeyRange,
  KeyValue,
  ListQuery,
  Outcome,
  RecordRow,
  Reservation,
  Reserved,
  SignalRow,
  StoredRow,
  UsageQuery,
  UsageRow,
  WorkerRow,
} from "venturi/plugin";

/**
 * Messages between the journal and its thread. Events are sent as JSON text, encoded once. Appends are sent as columns, which
 * cost a fifth of as many objects to transfer; those that most appends have no use for are left out.
 */
export interface AppendColumns {
  readonly runs: readonly string[];
  readonly epochs: readonly number[];
  /** The heads they continue from, and their new heads. */
  readonly bases: readonly number[];
  readonly heads: readonly number[];
  /** JSON lines; empty without events. */
  readonly bodies: readonly string[];
  /** Changes in the number of open questions, by index. */
  readonly asks?: ReadonlyMap<number, number>;
  /** Appends that end the ownership, by index. */
  readonly ends?: ReadonlyMap<number, AttemptEnd>;
  /** Digests of runs that end, by index. */
  readonly digests?: ReadonlyMap<number, DigestRow>;
  /** Usage and cost of events, by index. */
  readonly billed?: ReadonlyMap<number, Billed>;
}

export interface DigestRow {
  readonly ms: number;
  readonly code: string | null;
  readonly cost: number | null;
  /** JSON. */
  readonly tools: string;
  readonly models: string;
  readonly digest: string;
  /** Null without full-text search. */
  readonly text: string | null;
}

/** `value`: the sort key of a sorted list. */
export type ListedRow = StoredRow & { readonly id: number; readonly value?: number };

export interface AttemptEnd {
  readonly state: "ready" | "waiting" | "done";
  readonly seenSignals: number;
  readonly wakeAfter: number | null;
  readonly outcome: Outcome | null;
}

export interface EnqueueRow {
  readonly run: string;
  readonly tenant: string;
  readonly session: string | null;
  readonly agent: string;
  readonly caller: string | null;
  readonly revision: string | null;
  readonly request: string;
  readonly key: string | null;
  /** The caller's limit on open runs. */
  readonly most: number | null;
  readonly refuseBusy: boolean;
  readonly claimFor: string | null;
}

export interface RestoreRow extends Omit<EnqueueRow, "key" | "most" | "refuseBusy" | "claimFor"> {
  readonly state: "done" | "ready" | "waiting";
  readonly outcome: Outcome | null;
  readonly cancelled: 0 | 1;
  readonly head: number;
  readonly asking: number;
  /** Split into records of JSON lines (events first to last), so that a page of a long run can be read without the rest. */
  readonly records: readonly { readonly first: number; readonly last: number; readonly body: string }[];
  readonly signals: readonly SignalRow[];
  readonly wires: readonly WireRow[];
  readonly end: DigestRow | null;
}

export type WireRow = KeptWire;

export interface NewValue {
  readonly space: string;
  /** With the version it replaces. */
  readonly entry: KeyValue;
  /** The new version. */
  readonly fresh: number;
}

/** A blob in one piece, or the number of its parts. */
export interface BlobRow {
  readonly bytes: Uint8Array;
  readonly parts: number;
}

export type Enqueued =
  | { readonly kind: "stored"; readonly claim?: ClaimRow; readonly work: boolean }
  | { readonly kind: "existing"; readonly run: string }
  | { readonly kind: "tooMany"; readonly most: number }
  | { readonly kind: "conflict"; readonly message: string };

export interface NewSignalRow {
  readonly id: string;
  readonly kind: string;
  /** JSON. */
  readonly body: string;
}

/** Ended runs to remove: older ones, up to an id, or named. */
export interface Prunable {
  readonly olderThan: number | undefined;
  readonly upTo: number | undefined;
  readonly runs: readonly string[];
}

/** Progress of removing records. */
export interface Sweep {
  /** Random, to distinguish it from other prunes. */
  readonly sweeper: number;
  readonly after: number;
  /** The last record to examine; undefined when few runs are followed individually instead. */
  readonly upTo: number | undefined;
}

/** The thread's operations, by name. */
export interface Operations {
  /** Undefined: nothing was fenced, and no run became claimable. */
  append(columns: AppendColumns): { fenced: number[]; work: boolean } | undefined;
  read(run: string, after: number, limit: number): RecordRow[];
  readMany(cursors: readonly { run: string; after: number }[], limit: number): { run: string; records: RecordRow[] }[];
  enqueue(rows: readonly EnqueueRow[]): Enqueued[];
  claim(worker: string, limit: number, filter: ClaimFilter): ClaimRow[];
  heartbeat(worker: string): void;
  held(worker: string): Omit<ClaimRow, "tenant" | "request" | "signals" | "agent">[];
  release(run: string, epoch: number): boolean;
  free(worker: string): number;
  signal(run: string, row: NewSignalRow): "unknown" | "ignored" | "stored" | "woken";
  signalsMany(cursors: readonly { run: string; after: number }[]): { run: string; signals: SignalRow[] }[];
  get(run: string): StoredRow | undefined;
  /** `cut`: the page has fewer rows than found, because of their size. */
  workers(): WorkerRow[];
  backlog(): BacklogRow[];
  list(query: ListQuery, limit: number): { page: ListedRow[]; cut: boolean };
  /** Runs a statement on `sums`; `values` are `$1` and so on. */
  sums(text: string, values: readonly SQLInputValue[]): Record<string, unknown>[];
  /** Returns the reason if it was refused. */
  restore(row: RestoreRow): string | undefined;
  /** The id up to which ended runs are beyond the newest `keep`. */
  pruneBoundary(keep: number): number;
  /** Removes some runs, except for their records; returns how many. */
  doomSome(which: Prunable, sweeper: number): number;
  /** Takes over what others than these have left: erasures if the sweeper's number is negative, retention's work otherwise. */
  beginSweep(sweeper: number, except: readonly number[]): Sweep | undefined;
  /** Removes some records of doomed runs; undefined when none are left. */
  sweepSome(sweep: Sweep): Sweep | undefined;
  /** After removing runs by name: also removes their content from the file's log. False: a reader was in the way. */
  forgetLog(): boolean;
  /** Copies the write-ahead log into the file, as far as no reader is in the way. */
  checkpoint(): void;
  audit(row: Omit<AuditRow, "number" | "at">): void;
  audits(query: AuditQuery, limit: number): AuditRow[];
  keepDigest(run: string, row: DigestRow): void;
  usage(query: UsageQuery): UsageRow[];
  reserve(reservations: readonly Reservation[]): Reserved[];
  balances(accounts: readonly string[]): Balance[];
  keepWire(run: string, row: WireRow): void;
  wire(run: string): WireRow[];
  /** Returns whether it exists; the run then uses it. */
  useBlob(run: string, hash: string): boolean;
  /** Does not wait for the disk; `putBlob` does. */
  putBlobPart(hash: string, part: number, bytes: Uint8Array): void;
  /** With `parts`, its bytes were already stored. */
  putBlob(run: string, hash: string, blob: BlobRow): void;
  blob(hash: string): BlobRow | undefined;
  blobPart(hash: string, part: number): Uint8Array | undefined;
  blobsOf(run: string): string[];
  getValue(space: string, key: string): KeyValue | undefined;
  putValues(entries: readonly NewValue[]): boolean[];
  removeValue(space: string, key: string, version: number): boolean;
  listValues(space: string, range: Required<KeyRange>): KeyValue[];
  ping(bytes?: number): void;
  /** Whether changes name the runs with new events. */
  watchEvents(events: "watch" | "ignore"): void;
  close(): void;
}
export type Operation = keyof Operations;

export interface ThreadOptions {
  readonly file: string;
  readonly lease: number;
  readonly busyTimeout: number;
  readonly watch: number;
  readonly maxSize?: number | undefined;
  /** Full-text search; on unless false. */
  readonly search?: boolean | undefined;
}

export interface ThreadData extends ThreadOptions {
  /** `reads`: a second thread with its own, read-only connection. `wal`: a third, which copies the write-ahead log into the file. */
  readonly role: "all" | "reads" | "wal";
  /** See `pageBytes` of venturi/plugin. */
  readonly pageBytes: number;
}

export interface Request {
  readonly id: number;
  readonly operation: Operation;
  readonly args: readonly unknown[];
}

export type Reply =
  | { readonly id: number; readonly value: unknown }
  /** `permanent`: no retry can succeed. `cause`: for the log only. */
  | { readonly id: number; readonly failure: string; readonly cause: string; readonly permanent: boolean }
  /** Why the file at the path is no longer the open one; undefined once it is again. */
  | { readonly loss: string | undefined }
  /** The file was migrated from an older version. */
  | { readonly migrated: { readonly from: number; readonly to: number } }
  /** Another process has written. */
  | { readonly changed: Changes }
  /** The write-ahead log is large enough to be copied into the file. */
  | { readonly grown: true };

/** Changes by another process that may concern this one. */
export interface Changes {
  readonly work: boolean;
  /** Runs with new signals. */
  readonly signals: readonly string[];
  /** Runs with new events, if watched; undefined when there are too many to name. */
  readonly events: readonly string[] | undefined;
}
