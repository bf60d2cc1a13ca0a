/** Time is the engine's: the one clock that all processes of the file share. */
const now = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
const runId = "(SELECT id FROM runs WHERE run = :run)";
const row =
  "r.id, r.run, r.agent, r.session, r.state, r.outcome, r.head, r.epoch, r.created_at, r.updated_at, q.request";

export const advance = `UPDATE runs SET head = ?, updated_at = ${now}
  WHERE run = ? AND epoch = ? AND head = ? AND state = 'running' RETURNING id, session, state`;

/** Parking compares the signals in the same statement, or a signal that comes between would wake nobody. */
export const advanceAndEnd = `UPDATE runs SET head = :head, updated_at = ${now},
    state = CASE WHEN :state = 'waiting' AND signals > :seenSignals THEN 'ready' ELSE :state END,
    outcome = :outcome, ended_at = CASE :state WHEN 'done' THEN ${now} END
  WHERE run = :run AND epoch = :epoch AND head = :base AND state = 'running' RETURNING id, session, state`;

export const insertRecord = "INSERT INTO records (run, first, last, epoch, body) VALUES (?, ?, ?, ?, ?)";

export const findRecord = `SELECT 1 FROM records WHERE run = (SELECT id FROM runs WHERE run = ?)
  AND first = ? AND epoch = ? AND body = ?`;

export const findLeft = "SELECT 1 FROM runs WHERE run = ? AND epoch = ? AND head = ? AND state <> 'running'";

/** Seqs have no gaps, so a page is a range: from the record that holds the first wanted event to the last one's. */
export const readRecords = `SELECT first, body FROM records WHERE run = ${runId}
  AND first >= (SELECT max(first) FROM records WHERE run = ${runId} AND first <= :after + 1)
  AND first <= :after + :limit AND last > :after ORDER BY first`;

export const findKey = "SELECT run FROM runs WHERE key = ?";
export const findRun = "SELECT id, state FROM runs WHERE run = ?";
export const findOpenInSession = "SELECT 1 FROM runs WHERE session = ? AND state <> 'done' LIMIT 1";

export const insertRun = `INSERT INTO runs (run, key, session, agent, state, created_at, updated_at)
  VALUES (?, ?, ?, ?, 'ready', ${now}, ${now}) RETURNING id`;
export const insertRequest = "INSERT INTO requests (run, request) VALUES (?, ?)";

/** Under an epoch that nobody has: whoever wrote it did so elsewhere. */
export const restoreRun = `INSERT INTO runs
    (run, session, agent, state, outcome, epoch, head, signals, cancelled, created_at, updated_at, ended_at)
  VALUES (:run, :session, :agent, :state, :outcome, 1, :head, :signals, :cancelled, ${now}, ${now},
    CASE :state WHEN 'done' THEN ${now} END) RETURNING id`;

/** The only statement that starts an epoch. */
export const claimRun = `UPDATE runs SET epoch = epoch + 1, worker = ?, state = 'running', updated_at = ${now}
  WHERE id = ? RETURNING run, session, epoch, head, signals`;

/** A lease seen in the future was left by a clock that has jumped back; it counts as lost, or it would last for ever. */
export const findClaimable = `SELECT r.id, q.request FROM runs r JOIN requests q ON q.run = r.id
  WHERE r.state IN ('ready', 'running')
    AND (r.state = 'ready' OR abs(${now} - r.updated_at) > :lease AND NOT EXISTS (
      SELECT 1 FROM workers w WHERE w.worker = r.worker AND abs(${now} - w.seen_at) <= :lease))
    AND (r.session IS NULL OR r.cancelled = 1 OR NOT EXISTS (
      SELECT 1 FROM runs e WHERE e.session = r.session AND e.id < r.id AND e.state <> 'done'))
  ORDER BY r.id LIMIT :limit`;

export const beat = `INSERT INTO workers (worker, seen_at) VALUES (?, ${now})
  ON CONFLICT (worker) DO UPDATE SET seen_at = excluded.seen_at`;

export const findHeld = "SELECT run, session, epoch, head FROM runs WHERE state = 'running' AND worker = :worker";

export const releaseRun = `UPDATE runs SET state = 'ready', updated_at = ${now}
  WHERE run = ? AND epoch = ? AND state = 'running' RETURNING id`;

export const findSignal = "SELECT 1 FROM signals WHERE run = ? AND signal = ?";
export const countSignal = `UPDATE runs SET signals = signals + 1, cancelled = max(cancelled, ?),
    state = CASE state WHEN 'waiting' THEN 'ready' ELSE state END
  WHERE id = ? RETURNING signals, state`;
export const insertSignal = "INSERT INTO signals (run, number, signal, kind, body) VALUES (?, ?, ?, ?, ?)";
export const readSignals = `SELECT number, signal, kind, body FROM signals
  WHERE run = ${runId} AND number > :after ORDER BY number`;

export const findRow = `SELECT ${row} FROM runs r JOIN requests q ON q.run = r.id WHERE r.run = ?`;

const fits = `(:agent IS NULL OR r.agent = :agent) AND (:session IS NULL OR r.session = :session)
  AND (:state IS NULL OR r.state = :state) AND (:outcome IS NULL OR r.outcome = :outcome)`;
export const listNewest = `SELECT ${row} FROM runs r JOIN requests q ON q.run = r.id
  WHERE ${fits} AND (:cursor IS NULL OR r.id < :cursor) ORDER BY r.id DESC LIMIT :limit`;
export const listOldest = `SELECT ${row} FROM runs r JOIN requests q ON q.run = r.id
  WHERE ${fits} AND (:cursor IS NULL OR r.id > :cursor) ORDER BY r.id LIMIT :limit`;

export const findPrunable = `SELECT id FROM runs WHERE state = 'done' AND (ended_at < ${now} - :olderThan
    OR id <= (SELECT id FROM runs WHERE state = 'done' AND :keep IS NOT NULL ORDER BY id DESC LIMIT 1 OFFSET coalesce(:keep, 0)))
  LIMIT :limit`;
export const deleteRun = [
  "DELETE FROM records WHERE run = ?",
  "DELETE FROM signals WHERE run = ?",
  "DELETE FROM wires WHERE run = ?",
  "DELETE FROM requests WHERE run = ?",
  "DELETE FROM runs WHERE id = ?",
];
/** Long enough that no lease hangs on them. */
export const forgetWorkers = `DELETE FROM workers WHERE seen_at < ${now} - 86400000`;

export const insertWire = `INSERT INTO wires (round, attempt, wire, bytes, run)
  SELECT ?, ?, ?, ?, id FROM runs WHERE run = ?`;
export const readWire = `SELECT round, attempt, wire, bytes FROM wires WHERE run = ${runId} ORDER BY id`;

export const lookForChanges = `SELECT EXISTS (SELECT 1 FROM runs WHERE state = 'ready') AS work,
  (SELECT max(id) FROM signals) AS signal`;
