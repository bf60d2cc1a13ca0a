import type { ListQuery } from "venturi/plugin";

/** The engine's clock: the only one all processes of the file share. */
const now = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
const runId = "(SELECT id FROM runs WHERE run = :run)";
const row =
  "r.id, r.run, r.tenant, r.agent, r.session, r.state, r.outcome, r.head, r.asking, r.epoch, r.created_at, r.updated_at, q.request, d.digest";
const joined = "runs r CROSS JOIN requests q ON q.run = r.id LEFT JOIN digests d ON d.run = r.id";

export const readClock = `SELECT ${now} AS now`;

/** Fence and insert, in one statement. Without numbered parameters, which SQLite in Node 24.0 and 22.19 refuses. */
export const insertRecord = `INSERT INTO records (run, first, last, epoch, previous, body)
  SELECT id, ? + 1, ?, ?, tail, ? FROM runs WHERE id = ? AND epoch = ? AND head = ? AND state = 'running'`;

/** For a run that was just inserted. */
export const restoreRecord = `INSERT INTO records (run, first, last, epoch, previous, body)
  SELECT id, ?, ?, epoch, tail, ? FROM runs WHERE id = ?`;
export const restoreTail = "UPDATE runs SET tail = last_insert_rowid() WHERE id = ?";

/** After `insertRecord`, in its transaction. By id and with a bound time, because it runs for every record. */
export const advance = "UPDATE runs SET head = ?, tail = ?, updated_at = ? WHERE id = ?";

/** Separate from `advance`, because it touches the index of runs with open questions. */
export const ask = "UPDATE runs SET asking = asking + ? WHERE id = ?";

/** Parking compares the signal count in the same statement, or a signal in between would be lost. */
export const leave = `UPDATE runs SET updated_at = ${now},
    state = CASE WHEN :state = 'waiting' AND signals > :seenSignals THEN 'ready' ELSE :state END,
    outcome = :outcome, ended_at = CASE :state WHEN 'done' THEN ${now} END, wake_at = ${now} + :wakeAfter
  WHERE id = :id AND epoch = :epoch AND head = :head AND state = 'running' RETURNING session, state`;

/**
 * Seqs have no gaps: walks back from the first marked record at or past the wanted ones, or from the last, to where they begin.
 */
const back = (run: string) => `WITH RECURSIVE back (id, first, last, epoch, previous) AS (
    SELECT id, first, last, epoch, previous FROM records WHERE last > :after AND id = coalesce(
      (SELECT id FROM records WHERE run = ${run} AND last >= :after + :limit AND (first - 1) / 64 <> last / 64
        ORDER BY last LIMIT 1),
      (SELECT tail FROM runs WHERE id = ${run}))
    UNION ALL
    SELECT r.id, r.first, r.last, r.epoch, r.previous FROM back JOIN records r ON r.id = back.previous WHERE r.last > :after
  )`;

export const readRecords = `${back(runId)}
  SELECT r.first, r.body FROM back JOIN records r ON r.id = back.id WHERE back.first <= :after + :limit ORDER BY back.first`;

export const findRecord = `${back(":id")}
  SELECT 1 FROM back JOIN records r ON r.id = back.id
  WHERE back.first = :after + 1 AND back.epoch = :epoch AND r.body = :body`;

export const findLeft = "SELECT 1 FROM runs WHERE id = ? AND epoch = ? AND head = ? AND state <> 'running'";

export const findKey = "SELECT run FROM runs WHERE tenant = ? AND key = ?";
export const findRun = "SELECT id, state FROM runs WHERE run = ?";
export const findOpenInSession = "SELECT 1 FROM runs WHERE tenant = ? AND session = ? AND state <> 'done' LIMIT 1";

export const insertRun = `INSERT INTO runs (run, tenant, key, session, agent, caller, revision, state, created_at, updated_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, 'ready', ${now}, ${now}) RETURNING id`;
export const countOpen = `SELECT count(*) AS open FROM runs
  WHERE tenant = ? AND caller = ? AND state <> 'done' AND state <> 'waiting'`;
export const insertRequest = "INSERT INTO requests (run, request) VALUES (?, ?)";

/** With an epoch but no owner: it was written elsewhere. */
export const restoreRun = `INSERT INTO runs
    (run, tenant, session, agent, caller, revision, state, outcome, epoch, head, asking, signals, cancelled, created_at, updated_at, ended_at)
  VALUES (:run, :tenant, :session, :agent, :caller, :revision, :state, :outcome, 1, :head, :asking, :signals, :cancelled, ${now}, ${now},
    CASE :state WHEN 'done' THEN ${now} END) RETURNING id`;

/** The only statement that starts an epoch. */
export const claimRun = `UPDATE runs SET epoch = epoch + 1, worker = ?, state = 'running', wake_at = NULL, updated_at = ${now}
  WHERE id = ? RETURNING run, tenant, session, agent, epoch, head, signals`;

export const wake = `UPDATE runs SET state = 'ready', wake_at = NULL WHERE wake_at <= ${now} AND state = 'waiting'`;

/**
 * SQLite uses a partial index only if its condition is in the statement (`state <> 'done'`), even where it follows from the rest. Without
 * the index these would read every ended run. A lease in the future was left by a clock that was set back; it counts as expired, or it
 * would last forever.
 */
export const findClaimable = `SELECT r.id, q.request FROM runs r INDEXED BY runs_open JOIN requests q ON q.run = r.id
  WHERE r.state <> 'done' AND r.state IN ('ready', 'running')
    AND (r.state = 'ready' OR abs(${now} - r.updated_at) > :lease AND NOT EXISTS (
      SELECT 1 FROM workers w WHERE w.worker = r.worker AND abs(${now} - w.seen_at) <= :lease))
    AND (r.cancelled = 1 OR ((:agents IS NULL OR r.agent IN (SELECT value FROM json_each(:agents)))
        AND (:revisions IS NULL OR r.revision IS NULL OR r.revision IN (SELECT value FROM json_each(:revisions)))
        OR r.run IN (SELECT value FROM json_each(:runs)))
      AND (r.session IS NULL OR NOT EXISTS (
        SELECT 1 FROM runs e WHERE e.tenant = r.tenant AND e.session = r.session AND e.id < r.id AND e.state <> 'done')))
  ORDER BY r.id LIMIT :limit`;

export const beat = `INSERT INTO workers (worker, seen_at) VALUES (?, ${now})
  ON CONFLICT (worker) DO UPDATE SET seen_at = excluded.seen_at`;

export const findHeld = `SELECT run, session, epoch, head FROM runs INDEXED BY runs_open
  WHERE state <> 'done' AND state = 'running' AND worker = :worker`;

export const listWorkers = `SELECT w.worker, ${now} - w.seen_at AS silentMs,
    (SELECT count(*) FROM runs r INDEXED BY runs_open WHERE r.state <> 'done' AND r.state = 'running' AND r.worker = w.worker) AS runs
  FROM workers w WHERE w.seen_at > ${now} - 3600000 OR runs > 0 ORDER BY w.seen_at DESC LIMIT 1000`;

/** A called agent's question is asked again by its calling run, so only the first run of each family counts. */
export const countBacklog = `SELECT r.agent, r.state, count(*) AS runs,
    sum(CASE WHEN r.asking > 0 AND (SELECT json_extract(q.request, '$.parent') FROM requests q WHERE q.run = r.id) IS NULL
      THEN r.asking ELSE 0 END) AS asking
  FROM runs r INDEXED BY runs_open WHERE r.state <> 'done' GROUP BY r.agent, r.state`;

export const releaseRun = `UPDATE runs SET state = 'ready', updated_at = ${now}
  WHERE run = ? AND epoch = ? AND state = 'running' RETURNING id`;

export const freeRuns = `UPDATE runs INDEXED BY runs_open SET state = 'ready', updated_at = ${now}
  WHERE state <> 'done' AND state = 'running' AND worker = ?`;

export const findSignal = "SELECT 1 FROM signals WHERE run = ? AND signal = ?";
export const countSignal = `UPDATE runs SET signals = signals + 1, cancelled = max(cancelled, ?),
    state = CASE state WHEN 'waiting' THEN 'ready' ELSE state END
  WHERE id = ? RETURNING signals, state`;
export const insertSignal = "INSERT INTO signals (run, number, signal, kind, body) VALUES (?, ?, ?, ?, ?)";
export const readSignals = `SELECT number, signal, kind, body FROM signals
  WHERE run = ${runId} AND number > :after ORDER BY number`;

export const findRow = `SELECT ${row} FROM ${joined} WHERE r.run = ?`;

/** A run whose stored request is damaged has no metadata; it must not fail the list. */
const metadata = "json_each(CASE WHEN json_valid(q.request) THEN q.request ELSE '{}' END, '$.metadata')";
const metadataText = "CASE m.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE CAST(m.atom AS TEXT) END";

const sorts = { longest: "d.ms", costliest: "d.cost" } as const;

const waits = "(r.state = 'waiting' OR r.asking > 0)";

/** Only requested filters are compared, so that indexes are used; there are few combinations, each prepared once. */
export function listRuns(query: ListQuery): string {
  const conditions = [
    // `shadowTenant`, which this thread cannot import.
    query.tenant === undefined ? "r.tenant <> '(shadow)'" : "r.tenant = :tenant",
    query.agent !== undefined && "r.agent = :agent",
    query.agents !== undefined && "r.agent IN (SELECT value FROM json_each(:agents))",
    query.session !== undefined && "r.session = :session",
    query.state !== undefined && "r.state = :state",
    query.state !== undefined && query.state !== "done" && "r.state <> 'done'",
    query.outcome !== undefined && "r.outcome = :outcome",
    // A literal, which the partial index of failed runs needs.
    query.outcome === "failed" && "r.outcome = 'failed'",
    query.outcome === "cancelled" && "r.outcome = 'cancelled'",
    query.waiting === true && `r.state <> 'done' AND ${waits}`,
    query.waiting === false && `NOT (r.state <> 'done' AND ${waits})`,
    query.since !== undefined && "r.created_at >= :since",
    query.until !== undefined && "r.created_at < :until",
    query.by !== undefined && "r.caller = :by",
    query.tool !== undefined && "EXISTS (SELECT 1 FROM json_each(d.tools) WHERE value = :tool)",
    query.model !== undefined && "EXISTS (SELECT 1 FROM json_each(d.models) WHERE value = :model)",
    query.code !== undefined && "d.code = :code",
    query.minMs !== undefined && "d.ms >= :minMs",
    query.text !== undefined && "r.id IN (SELECT rowid FROM search WHERE search MATCH :text)",
    query.metadata !== undefined &&
      `NOT EXISTS (SELECT 1 FROM json_each(:metadata) w WHERE NOT EXISTS (
        SELECT 1 FROM ${metadata} m WHERE m.key = w.key AND ${metadataText} = w.value))`,
    query.sort !== undefined && `${sorts[query.sort]} IS NOT NULL`,
    query.sort !== undefined && query.cursor !== undefined && `(${sorts[query.sort]}, r.id) < (:value, :cursor)`,
    query.sort === undefined && query.cursor !== undefined && (query.oldestFirst ? "r.id > :cursor" : "r.id < :cursor"),
  ].filter((condition) => condition !== false);
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  const order =
    query.sort === undefined ? `r.id ${query.oldestFirst ? "ASC" : "DESC"}` : `${sorts[query.sort]} DESC, d.run DESC`;
  // Waiting runs are few among many, which SQLite does not know. Sorted lists read the digests, whose index gives the order.
  const from =
    query.sort === undefined
      ? joined.replace("runs r", query.waiting === true ? "runs r INDEXED BY runs_open" : "runs r")
      : "digests d CROSS JOIN runs r ON r.id = d.run CROSS JOIN requests q ON q.run = r.id";
  return `SELECT ${row}${query.sort === undefined ? "" : `, ${sorts[query.sort]} AS value`} FROM ${from} ${where}
    ORDER BY ${order} LIMIT :limit`;
}

export const insertAudit = `INSERT INTO audit (at, action, actor, tenant, run, details) VALUES (${now}, ?, ?, ?, ?, ?)`;
export const listAudit = `SELECT number, at, action, actor, tenant, run, details FROM audit
  WHERE (:tenant IS NULL OR tenant = :tenant) AND (:action IS NULL OR action = :action) AND (:run IS NULL OR run = :run)
    AND (:cursor IS NULL OR number < :cursor)
  ORDER BY number DESC LIMIT :limit`;

const ended = "SELECT id, tail, run, tenant, key FROM runs WHERE state = 'done'";
export const findNamed = `${ended} AND run IN (SELECT value FROM json_each(:runs)) LIMIT :limit`;
export const findOld = `${ended} AND ended_at < ${now} - :olderThan LIMIT :limit`;
export const findUpTo = `${ended} AND id <= :upTo LIMIT :limit`;
export const findBoundary = "SELECT id FROM runs WHERE state = 'done' ORDER BY id DESC LIMIT 1 OFFSET ?";
/** Everything except the records. */
export const deleteRun = [
  "DELETE FROM signals WHERE run = ?",
  "DELETE FROM wires WHERE run = ?",
  "DELETE FROM digests WHERE run = ?",
  "DELETE FROM search WHERE rowid = ?",
  "DELETE FROM requests WHERE run = ?",
  "DELETE FROM blob_uses WHERE run = (SELECT run FROM runs WHERE id = ?)",
  "DELETE FROM runs WHERE id = ?",
];
export const doom = "INSERT INTO doomed (run, tail, sweeper) VALUES (?, ?, ?)";
/** `keyMemory` of the port, which the store's thread does not load. */
const keyMemory = 86_400_000;
export const rememberKey = `INSERT OR REPLACE INTO removed_keys (name, run, removed_at) VALUES (?, ?, ${now})`;
export const findRemovedKey = `SELECT run FROM removed_keys WHERE name = ? AND removed_at > ${now} - ${keyMemory}`;
export const forgetKeys = `DELETE FROM removed_keys WHERE removed_at <= ${now} - ${keyMemory}`;
export const countDoomed = "SELECT count(*) AS runs, coalesce(max(tail), 0) AS tail FROM doomed WHERE sweeper = ?";
export const adoptDoomed =
  "UPDATE doomed SET sweeper = ? WHERE sweeper NOT IN (SELECT value FROM json_each(?)) AND (sweeper < 0) = (? < 0)";
export const forgetDoomed = "DELETE FROM doomed WHERE sweeper = ?";
export const forgetDoomedRun = "DELETE FROM doomed WHERE run = ?";
export const findDoomed = "SELECT run, tail FROM doomed WHERE sweeper = ? LIMIT 1";
export const moveTail = "UPDATE doomed SET tail = ? WHERE run = ?";
/** Record ids are reused, run ids are not. */
export const walkBack = `WITH RECURSIVE back (id, previous) AS (
    SELECT id, previous FROM records WHERE id = :tail AND run = :run
    UNION ALL SELECT r.id, r.previous FROM back JOIN records r ON r.id = back.previous AND r.run = :run LIMIT :limit
  ) SELECT id FROM back`;
export const deleteRecords = "DELETE FROM records WHERE id IN (SELECT value FROM json_each(?))";
export const findNextRecord = "SELECT min(id) AS id FROM records WHERE id > ?";
/** Only runs of this sweep: another process may follow a run's records back from the last, and would stop at a gap. */
export const deleteStretch = `DELETE FROM records WHERE id BETWEEN ? AND ?
  AND EXISTS (SELECT 1 FROM doomed WHERE doomed.run = records.run AND sweeper = ?)`;
export const insertDigest =
  "REPLACE INTO digests (run, ms, code, cost, tools, models, digest) VALUES (?, ?, ?, ?, ?, ?, ?)";
export const insertText = "REPLACE INTO search (rowid, text) VALUES (?, ?)";

/** Long after any lease has expired. */
export const forgetWorkers = `DELETE FROM workers WHERE seen_at < ${now} - 86400000`;

/** Node 22 binds an empty Uint8Array as NULL, here and for blobs. */
export const insertWire = `INSERT INTO wires (round, attempt, wire, bytes, run)
  SELECT ?, ?, ?, coalesce(?, x''), id FROM runs WHERE run = ?`;
export const readWire = `SELECT round, attempt, wire, bytes FROM wires WHERE run = ${runId} ORDER BY id`;

export const touchBlob = `UPDATE blobs SET put_at = ${now} WHERE hash = ? RETURNING id`;
export const insertBlob = `INSERT INTO blobs (hash, put_at, parts, bytes) VALUES (?, ${now}, ?, coalesce(?, x''))`;
export const insertBlobPart = `INSERT INTO blob_parts (hash, part, put_at, bytes) VALUES (?, ?, ${now}, ?)
  ON CONFLICT (hash, part) DO UPDATE SET put_at = excluded.put_at`;
/** Used by nobody; one left behind is pruned. */
export const insertTrial = `INSERT INTO blobs (hash, put_at, bytes) VALUES ('trial', ${now}, zeroblob(?)) ON CONFLICT (hash) DO UPDATE SET bytes = excluded.bytes`;
export const deleteTrial = "DELETE FROM blobs WHERE hash = 'trial'";
export const useBlob = "INSERT OR IGNORE INTO blob_uses (run, hash) VALUES (?, ?)";
export const readBlob = "SELECT bytes, parts FROM blobs WHERE hash = ?";
export const readBlobPart = "SELECT bytes FROM blob_parts WHERE hash = ? AND part = ?";
export const listBlobs = "SELECT hash FROM blob_uses WHERE run = :run ORDER BY hash";
/** An hour, to protect content just put for a run that is about to be enqueued. */
export const forgetBlobs = [
  `DELETE FROM blob_uses WHERE run NOT IN (SELECT run FROM runs)
    AND hash IN (SELECT hash FROM blobs WHERE put_at < ${now} - 3600000)`,
  `DELETE FROM blobs WHERE put_at < ${now} - 3600000 AND NOT EXISTS (SELECT 1 FROM blob_uses u WHERE u.hash = blobs.hash)`,
  `DELETE FROM blob_parts WHERE put_at < ${now} - 3600000 AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.hash = blob_parts.hash)`,
];

/**
 * Runs queued behind others of their session are ready but not claimable. Bounded, because it runs after every commit of another process;
 * polling finds the rest.
 */
export const findWork = `SELECT EXISTS (
    SELECT 1 FROM (
      SELECT * FROM runs INDEXED BY runs_open WHERE state <> 'done' AND state = 'ready' ORDER BY id LIMIT 100
    ) r
    WHERE r.cancelled = 1 OR r.session IS NULL OR NOT EXISTS (
      SELECT 1 FROM runs e WHERE e.tenant = r.tenant AND e.session = r.session AND e.id < r.id AND e.state <> 'done')
  ) AS work`;
export const lastRecord = "SELECT coalesce(max(id), 0) AS id FROM records";
export const lastSignal = "SELECT coalesce(max(id), 0) AS id FROM signals";
export const newRecords = "SELECT run FROM records WHERE id > :after LIMIT :limit";
export const newSignals =
  "SELECT DISTINCT r.run FROM signals s JOIN runs r ON r.id = s.run WHERE s.id > :after LIMIT :limit";
export const nameRun = "SELECT run FROM runs WHERE id = ?";

export const getValue = "SELECT key, value, version FROM key_values WHERE space = ? AND key = ?";
export const insertValue = "INSERT OR IGNORE INTO key_values (space, key, version, value) VALUES (?, ?, ?, ?)";
export const updateValue = "UPDATE key_values SET version = ?, value = ? WHERE space = ? AND key = ? AND version = ?";
export const removeValue = "DELETE FROM key_values WHERE space = ? AND key = ? AND version = ?";
/** Keys are compared byte by byte, the order the port requires. */
export const listValues = `SELECT key, value, version FROM key_values WHERE space = :space AND key > :after
  AND substr(key, 1, length(:prefix)) = :prefix AND key >= :prefix ORDER BY key LIMIT :limit`;
