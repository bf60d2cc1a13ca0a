import { performance } from "node:perf_hooks";
import { wrap } from "../../core/errors/errors.ts";
import type { Append, Journal, Ownership } from "../../core/journal/journal.ts";
import { attributes } from "../base/names.ts";
import { noAttributes } from "../metrics/instruments.ts";
import { errorType, failedWith } from "./outcome.ts";
import type { Tracing } from "./traces.ts";

/** An append slower than this is logged, since it delays every run of the process, ms. */
const slow = 1_000;

/** Wraps the journal to measure appends. Runs claimed later than enqueued are marked as queued. */
export function measuredJournal(measure: Tracing, journal: Journal, queued: WeakSet<Ownership>): Journal {
  const { keepWire, keepDigest, totals, wire, workers, blobs, keyValues, free, backlog, usage, reserve, balances } =
    journal;
  const appends = new Appends();
  // Looked up once: every commit records in it.
  const took = measure.sdk.instruments.appendDuration(noAttributes);
  return {
    lease: journal.lease,
    append(batch) {
      const start = performance.now();
      try {
        const answer = journal.append(batch);
        if (!(answer instanceof Promise)) {
          took.record(noteAppend(measure, batch, appends.succeeded(batch, start)));
          return answer;
        }
        return answer.then(
          (fenced) => {
            took.record(noteAppend(measure, batch, appends.succeeded(batch, start)));
            return fenced;
          },
          (thrown: unknown) => {
            noteFailure(measure, batch, appends.failed(batch, start), thrown);
            throw thrown;
          },
        );
      } catch (thrown) {
        noteFailure(measure, batch, appends.failed(batch, start), thrown);
        throw thrown;
      }
    },
    async claim(worker, limit, filter) {
      const claims = await journal.claim(worker, limit, filter);
      for (const claim of claims) queued.add(claim.ownership);
      return claims;
    },
    read: (run, after, limit) => journal.read(run, after, limit),
    readMany: (cursors, limit) => journal.readMany(cursors, limit),
    onHint: (callback, only) => journal.onHint(callback, only),
    enqueue: (item) => journal.enqueue(item),
    heartbeat: (worker) => journal.heartbeat(worker),
    held: (worker) => journal.held(worker),
    release(ownership) {
      // After a release, another process traces the run.
      measure.traces.open.get(ownership.run)?.abandon();
      return journal.release(ownership);
    },
    signal: (run, signal) => journal.signal(run, signal),
    signals: (run, after) => journal.signals(run, after),
    signalsMany: (cursors) => journal.signalsMany(cursors),
    get: (run) => journal.get(run),
    list: (query) => journal.list(query),
    restore: (recording) => journal.restore(recording),
    prune: (options) => journal.prune(options),
    audit: (entry) => journal.audit(entry),
    audits: (query) => journal.audits(query),
    ping: (bytes) => journal.ping(bytes),
    close: () => journal.close(),
    ...(keepWire === undefined ? {} : { keepWire: keepWire.bind(journal) }),
    ...(keepDigest === undefined ? {} : { keepDigest: keepDigest.bind(journal) }),
    ...(totals === undefined ? {} : { totals: totals.bind(journal) }),
    // The worker was another process, so this one has no traces of its runs.
    ...(free === undefined ? {} : { free: free.bind(journal) }),
    ...(blobs === undefined ? {} : { blobs }),
    ...(keyValues === undefined ? {} : { keyValues }),
    ...(wire === undefined ? {} : { wire: wire.bind(journal) }),
    ...(backlog === undefined ? {} : { backlog: backlog.bind(journal) }),
    ...(usage === undefined ? {} : { usage: usage.bind(journal) }),
    ...(reserve === undefined ? {} : { reserve: reserve.bind(journal) }),
    ...(balances === undefined ? {} : { balances: balances.bind(journal) }),
    ...(workers === undefined ? {} : { workers: workers.bind(journal) }),
  };
}

interface Tried {
  /** When the first try and this one began. */
  readonly first: number;
  readonly start: number;
  /** Number of tries, including this one. */
  readonly tries: number;
}

/** A failed append is retried with the same batch: for its runs it lasts from the first try to the successful one. */
class Appends {
  readonly #open = new WeakMap<readonly Append[], { readonly first: number; tries: number }>();
  /** A field, because every commit reads it. */
  #any = 0;

  succeeded(batch: readonly Append[], start: number): Tried {
    const open = this.#any === 0 ? undefined : this.#open.get(batch);
    if (open === undefined) return { first: start, start, tries: 1 };
    this.#open.delete(batch);
    this.#any--;
    return { first: open.first, start, tries: open.tries + 1 };
  }

  failed(batch: readonly Append[], start: number): Tried {
    let open = this.#open.get(batch);
    if (open === undefined) {
      open = { first: start, tries: 0 };
      this.#open.set(batch, open);
      this.#any++;
    }
    open.tries++;
    return { first: open.first, start, tries: open.tries };
  }
}

/** Returns the append's duration, s. */
function noteAppend(measure: Tracing, batch: readonly Append[], { first, tries }: Tried): number {
  const end = performance.now();
  if (end - first >= slow) measure.slowAppend(end - first, batch.length, tries);
  for (const { ownership, events } of batch) {
    if (events.length > 0)
      measure.traces.open.get(ownership.run)?.appends.succeeded(events.length, batch.length, first, end);
  }
  return (end - first) / 1_000;
}

/** Each failed try gets a span and a value; the successful one covers the whole time. */
function noteFailure(measure: Tracing, batch: readonly Append[], { start, tries }: Tried, thrown: unknown): void {
  const end = performance.now();
  const { instruments, sets } = measure.sdk;
  const outcome = failedWith(wrap("journal.append", thrown, "record_invalid"));
  const set = sets.of({ [attributes.errorType]: errorType(outcome) });
  instruments.appendDuration(set).record((end - start) / 1_000);
  for (const { ownership, events } of batch) {
    measure.traces.open
      .get(ownership.run)
      ?.appends.failed(outcome, { events: events.length, runs: batch.length, tries, start, end });
  }
}
