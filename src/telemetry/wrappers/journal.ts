import { performance } from "node:perf_hooks";
import type { Append, Journal, Ownership } from "../../core/journal/journal.ts";
import type { Tracing } from "./traces.ts";

/** A slower append delays every run of the process, ms. */
const slow = 1_000;

/** Wraps the journal to time appends. Runs claimed later than they were enqueued are marked as queued. */
export function measuredJournal(measure: Tracing, journal: Journal, queued: WeakSet<Ownership>): Journal {
  const { keepWire, keepDigest, wire, workers, blobs, keyValues, free } = journal;
  return {
    lease: journal.lease,
    append(batch) {
      const start = performance.now();
      let answer: ReturnType<Journal["append"]> | undefined;
      try {
        answer = journal.append(batch);
      } finally {
        if (!(answer instanceof Promise)) noteAppend(measure, batch, start);
      }
      return answer instanceof Promise ? answer.finally(() => noteAppend(measure, batch, start)) : answer;
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
      measure.traces.get(ownership.run)?.abandon();
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
    // Of another process, so there is no trace of theirs here.
    ...(free === undefined ? {} : { free: free.bind(journal) }),
    ...(blobs === undefined ? {} : { blobs }),
    ...(keyValues === undefined ? {} : { keyValues }),
    ...(wire === undefined ? {} : { wire: wire.bind(journal) }),
    ...(workers === undefined ? {} : { workers: workers.bind(journal) }),
  };
}

function noteAppend(measure: Tracing, batch: readonly Append[], start: number): void {
  const end = performance.now();
  measure.sdk.instruments.appendDuration.record((end - start) / 1_000);
  if (end - start >= slow) measure.slowAppend(end - start, batch.length);
  for (const { ownership, events } of batch) {
    if (events.length > 0) measure.traces.get(ownership.run)?.appended(events.length, batch.length, start, end);
  }
}
