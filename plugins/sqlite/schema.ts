import type { DatabaseSync } from "node:sqlite";
import { ownUsageMigration, sumsMigration } from "./sums-schema.ts";

/** Counts the approval events in a record's body; a quote inside a value would be escaped. */
function occurrences(action: string): string {
  const mark = `"type":"approval.${action}"`;
  return `(length(r.body) - length(replace(r.body, '${mark}', ''))) / ${mark.length}`;
}

/**
 * Each entry migrates the file from version index to index + 1. Append only: files in the field may be at any earlier version.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL UNIQUE,
    key TEXT UNIQUE,
    session TEXT,
    agent TEXT NOT NULL,
    state TEXT NOT NULL,
    outcome TEXT,
    epoch INTEGER NOT NULL DEFAULT 0,
    worker TEXT,
    head INTEGER NOT NULL DEFAULT 0,
    signals INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    ended_at INTEGER
  ) STRICT;
  CREATE INDEX runs_open ON runs (state, id) WHERE state <> 'done';
  CREATE INDEX runs_session ON runs (session, id) WHERE session IS NOT NULL;
  CREATE INDEX runs_agent ON runs (agent, id);
  CREATE INDEX runs_ended ON runs (ended_at) WHERE ended_at IS NOT NULL;
  -- Apart from runs, whose rows are rewritten with every append.
  CREATE TABLE requests (run INTEGER PRIMARY KEY, request TEXT NOT NULL) STRICT;
  -- One row is what one append brought: JSON lines of the events first to last.
  CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (run, first)
  ) STRICT;
  CREATE TABLE signals (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL,
    number INTEGER NOT NULL,
    signal TEXT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (run, number),
    UNIQUE (run, signal)
  ) STRICT;
  CREATE TABLE workers (worker TEXT PRIMARY KEY, seen_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE wires (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    round INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    wire TEXT NOT NULL,
    bytes BLOB NOT NULL
  ) STRICT;
  CREATE INDEX wires_run ON wires (run);
  `,
  // An index over all records would have a page per long run and rewrite them all with every commit. So each record refers to
  // the previous one and a run to its last, and the index holds only those that reach a multiple of 64.
  `
  ALTER TABLE runs ADD COLUMN tail INTEGER NOT NULL DEFAULT 0;
  UPDATE runs SET tail = coalesce((SELECT id FROM records WHERE run = runs.id ORDER BY first DESC LIMIT 1), 0);
  CREATE TABLE chain (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    -- 0 for a run's first. Without a default, so that a process of an older version, still running, can add none.
    previous INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  INSERT INTO chain SELECT id, run, first, last, epoch,
    coalesce((SELECT id FROM records p WHERE p.run = r.run AND p.first < r.first ORDER BY p.first DESC LIMIT 1), 0), body
    FROM records r ORDER BY id;
  DROP TABLE records;
  ALTER TABLE chain RENAME TO records;
  CREATE UNIQUE INDEX records_marks ON records (run, last) WHERE (first - 1) / 64 <> last / 64;
  `,
  // Put before the run exists, so keyed by the run's name.
  `
  CREATE TABLE blobs (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, put_at INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT;
  CREATE TABLE blob_uses (run TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (run, hash)) STRICT, WITHOUT ROWID;
  CREATE INDEX blob_uses_hash ON blob_uses (hash);
  `,
  // Every run gets an owner, and sessions and keys are scoped to it. Until now keys began with the id of the caller's API key,
  // which identifies the owner; the others belong to "default". Keys of sub-runs ("agent:") had no such prefix.
  `
  CREATE TABLE owned (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL UNIQUE,
    -- Without a default, so that a process of an older version, still running, can add none.
    tenant TEXT NOT NULL,
    key TEXT,
    session TEXT,
    agent TEXT NOT NULL,
    caller TEXT,
    revision TEXT,
    state TEXT NOT NULL,
    outcome TEXT,
    epoch INTEGER NOT NULL DEFAULT 0,
    worker TEXT,
    wake_at INTEGER,
    head INTEGER NOT NULL DEFAULT 0,
    tail INTEGER NOT NULL DEFAULT 0,
    signals INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    ended_at INTEGER
  ) STRICT;
  INSERT INTO owned SELECT id, run,
    CASE WHEN instr(key, ':') < 2 OR key IS NULL OR key LIKE 'agent:%' OR key LIKE 'anyone:%' THEN 'default'
      ELSE substr(key, 1, instr(key, ':') - 1) END,
    CASE WHEN instr(key, ':') < 2 OR key LIKE 'agent:%' THEN key ELSE 'caller:' || substr(key, instr(key, ':') + 1) END,
    session, agent, NULL, NULL, state, outcome, epoch, worker, NULL, head, tail, signals, cancelled, created_at, updated_at, ended_at
    FROM runs ORDER BY id;
  -- Ids are never given twice, not even those of runs that were pruned.
  INSERT INTO sqlite_sequence (name, seq) SELECT 'owned', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'owned');
  UPDATE sqlite_sequence SET seq = coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'runs'), 0) WHERE name = 'owned';
  DROP TABLE runs;
  ALTER TABLE owned RENAME TO runs;
  CREATE UNIQUE INDEX runs_key ON runs (tenant, key) WHERE key IS NOT NULL;
  CREATE INDEX runs_open ON runs (state, id) WHERE state <> 'done';
  CREATE INDEX runs_caller ON runs (tenant, caller) WHERE caller IS NOT NULL AND state <> 'done';
  CREATE INDEX runs_wake ON runs (wake_at) WHERE wake_at IS NOT NULL;
  CREATE INDEX runs_tenant ON runs (tenant, id);
  CREATE INDEX runs_session ON runs (tenant, session, id) WHERE session IS NOT NULL;
  CREATE INDEX runs_agent ON runs (agent, id);
  CREATE INDEX runs_ended ON runs (ended_at) WHERE ended_at IS NOT NULL;
  CREATE TABLE audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    action TEXT NOT NULL,
    actor TEXT NOT NULL,
    tenant TEXT,
    run TEXT,
    details TEXT
  ) STRICT;
  CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
  CREATE TRIGGER audit_kept BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
  `,
  // Open questions are counted with the run, so that runs waiting for approval can be listed.
  `
  ALTER TABLE runs ADD COLUMN asking INTEGER NOT NULL DEFAULT 0;
  UPDATE runs SET asking = max(0, (
    WITH RECURSIVE back (id) AS (
      SELECT runs.tail UNION ALL SELECT r.previous FROM back JOIN records r ON r.id = back.id
    )
    SELECT coalesce(sum(${occurrences("requested")} - ${occurrences("resolved")}), 0)
    FROM back JOIN records r ON r.id = back.id
  )) WHERE state <> 'done';
  CREATE INDEX runs_asking ON runs (id) WHERE asking > 0;
  `,
  // Digests of ended runs; `venturi reindex` writes those of runs that ended before. The text itself is not stored twice.
  `
  CREATE TABLE digests (
    run INTEGER PRIMARY KEY,
    ms REAL NOT NULL,
    code TEXT,
    tools TEXT NOT NULL,
    models TEXT NOT NULL,
    digest TEXT NOT NULL
  ) STRICT;
  CREATE VIRTUAL TABLE search USING fts5 (text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2');
  `,
  // Failures are rare: without this index, listing them would read all runs.
  "CREATE INDEX runs_failed ON runs (id) WHERE outcome = 'failed'",
  // Ended runs by duration and by cost. Runs without a cost are not in that index.
  `
  ALTER TABLE digests ADD COLUMN cost REAL;
  CREATE INDEX digests_ms ON digests (ms);
  CREATE INDEX digests_cost ON digests (cost) WHERE cost IS NOT NULL;
  `,
  // Removed runs whose records remain, with the last record and who is removing them.
  "CREATE TABLE doomed (run INTEGER PRIMARY KEY, tail INTEGER NOT NULL, sweeper INTEGER NOT NULL) STRICT",
  // Large blobs in pieces, each written in its own transaction, so that appends get their turn in between.
  `
  ALTER TABLE blobs ADD COLUMN parts INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE blob_parts (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL,
    part INTEGER NOT NULL,
    put_at INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    UNIQUE (hash, part)
  ) STRICT;
  `,
  // Small values for plugins; the version changes with every write.
  `
  CREATE TABLE key_values (
    space TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (space, key)
  ) STRICT, WITHOUT ROWID;
  `,
  // Usage of generations in sums that outlive their runs; budget accounts, and what runs hold of them.
  `
  CREATE TABLE usage (
    day TEXT NOT NULL, tenant TEXT NOT NULL, agent TEXT NOT NULL, model TEXT NOT NULL, "key" TEXT NOT NULL, "user" TEXT NOT NULL,
    generations INTEGER NOT NULL, failed INTEGER NOT NULL, unpriced INTEGER NOT NULL, nanos INTEGER NOT NULL,
    inputTokens INTEGER NOT NULL, outputTokens INTEGER NOT NULL, cacheReadTokens INTEGER NOT NULL,
    cacheWriteTokens INTEGER NOT NULL, reasoningTokens INTEGER NOT NULL,
    PRIMARY KEY (day, tenant, agent, model, "key", "user")
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE accounts (
    account TEXT PRIMARY KEY,
    nanos INTEGER NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL DEFAULT 0,
    held_nanos INTEGER NOT NULL DEFAULT 0,
    held_tokens INTEGER NOT NULL DEFAULT 0,
    level INTEGER NOT NULL DEFAULT 0,
    until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE holds (
    run INTEGER NOT NULL,
    account TEXT NOT NULL,
    nanos INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (run, account)
  ) STRICT, WITHOUT ROWID;
  `,
  // Cancelled runs did not fail.
  `
  UPDATE runs SET outcome = 'cancelled'
    WHERE outcome = 'failed' AND id IN (SELECT run FROM digests WHERE code = 'stream_interrupted');
  CREATE INDEX runs_cancelled ON runs (id) WHERE outcome = 'cancelled';
  `,
  // Hashed keys of removed runs: for a day, a repeated request is answered with the removed run's id.
  `
  CREATE TABLE removed_keys (name TEXT PRIMARY KEY, run TEXT NOT NULL, removed_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX removed_keys_at ON removed_keys (removed_at);
  `,
  sumsMigration,
  ownUsageMigration,
];

/** "vntr": identifies a file as our journal before anything is written to it. */
const applicationId = 0x766e7472;

/** A file that cannot be used as a journal; the message is for people. */
export class UnusableFile extends Error {}

/** Returns the file's previous version if it was an older one; undefined for a new file. */
export function migrate(database: DatabaseSync): number | undefined {
  if (versionOf(database) === migrations.length) return undefined;
  database.exec("BEGIN IMMEDIATE");
  try {
    // Checked again under the lock.
    const version = versionOf(database);
    for (const migration of migrations.slice(version)) database.exec(migration);
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}`);
    database.exec("COMMIT");
    return version === 0 || version === migrations.length ? undefined : version;
  } catch (thrown) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw thrown;
  }
}

function versionOf(database: DatabaseSync): number {
  // In one statement: another process might migrate between two.
  const row = database.prepare(state).get();
  const version = Number(row?.version);
  if (Number(row?.application) !== applicationId && (row?.application !== 0 || version !== 0 || row?.tables !== 0)) {
    throw new UnusableFile("it is a database of something else; choose another journal.path");
  }
  if (version > migrations.length) {
    throw new UnusableFile(
      `it was written by a newer Venturi (journal version ${version}, this one knows up to ${migrations.length}); update Venturi`,
    );
  }
  return version;
}

const state = `SELECT (SELECT user_version FROM pragma_user_version) AS version,
  (SELECT application_id FROM pragma_application_id) AS application, (SELECT count(*) FROM sqlite_schema) AS tables`;
