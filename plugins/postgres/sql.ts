import { keyMemory, pageBytes, usageFigures } from "venturi/internal";

const now = "clock_timestamp()";
const millis = (column: string) => `(extract(epoch FROM ${column}) * 1000)::float8`;
const row = `id::text, run, tenant, agent, session, state, outcome, head, asking, epoch, request,
  ${millis("created_at")} AS created_at, ${millis("updated_at")} AS updated_at`;
const digestOf = (schema: string) => `(SELECT d.digest::text FROM ${schema}.digests d WHERE d.run = runs.id) AS digest`;

/** Columns of digests passed as one JSON parameter. */
const digestColumns = "ms float8, code text, cost float8, tools jsonb, models jsonb, digest jsonb, text text";
const digestValues = "d.ms, d.code, d.cost, d.tools, d.models, d.digest, to_tsvector('simple', d.text)";
const replaceDigest = `ON CONFLICT (run) DO UPDATE SET ms = excluded.ms, code = excluded.code, cost = excluded.cost, tools = excluded.tools,
  models = excluded.models, digest = excluded.digest, search = excluded.search`;

/** A time in the future was left by a clock that was set back; it counts as past, or leases would last forever. */
const silent = (column: string) => `(abs(${millis(`(${now} - ${column})`)}) > $2::float8)`;

/** What remains of a removed run's key, hashed because it may be a person's name. The length keeps ("a", "b c") and ("a b", "c") apart. */
const keyName = (tenant: string, key: string) =>
  `sha256(convert_to(length(${tenant}) || ' ' || ${tenant} || ' ' || ${key}, 'UTF8'))`;
const isTaken = `(removed_at > now() - ${keyMemory} * interval '1 millisecond')`;

/** One text with separators costs a fraction of an array's quoting on both sides. JSON never contains this byte. */
const bodies = "string_to_array($5::text, chr(30))";

/** Fence, head update, record and notification in one statement. `also` handles runs that stop. */
const append = (
  schema: string,
  also: { columns: string; names: string; changes: string; digested: string; billed: string },
): string =>
  `WITH item AS (
    SELECT * FROM unnest($1::text[], $2::int[], $3::int[], $4::int[], ${bodies}${also.columns})
      WITH ORDINALITY AS item (run, epoch, base, head, body${also.names}, place)
  ), moved AS (
    UPDATE ${schema}.runs r SET head = i.head, updated_at = ${now}${also.changes}
    FROM item i WHERE r.run = i.run AND r.epoch = i.epoch AND r.head = i.base AND r.state = 'running'
    RETURNING r.id, r.run, i.base, i.head, i.epoch, i.body, i.place
  ), added AS (
    INSERT INTO ${schema}.records (run, first, last, epoch, body)
      SELECT id, base + 1, head, epoch, body FROM moved WHERE head > base
  )${also.digested}, notified AS (SELECT pg_notify($6, $7) AS notified)
  SELECT count(*)::int AS moved, (SELECT notified::text FROM notified) AS notified,${also.billed}
    CASE WHEN count(*) < cardinality($1::text[]) THEN array_agg(place::int) END AS places FROM moved`;

export type Statements = ReturnType<typeof statements>;

/** All statements for one schema. Each is its own transaction, so they work behind a transaction pooler. */
export const statements = (schema: string) => ({
  /** For batches in which all runs continue, as nearly all do: an eighth less work for the server. */
  append: append(schema, { columns: "", names: "", changes: "", digested: "", billed: "" }),
  /** For batches in which runs end, park or ask. */
  appendStops: append(schema, {
    columns: ", $8::text[], $9::int[], $10::text[], $11::float8[], $12::int[]",
    names: ", next, seen, outcome, wake, asks",
    changes: `, outcome = coalesce(i.outcome, r.outcome), asking = r.asking + i.asks,
      state = CASE WHEN i.next = '' THEN r.state WHEN i.next = 'waiting' AND r.signals > i.seen THEN 'ready' ELSE i.next END,
      ended_at = CASE WHEN i.next = 'done' THEN ${now} END, wake_at = ${now} + i.wake * interval '1 millisecond'`,
    digested: `, digested AS (
      INSERT INTO ${schema}.digests (run, ms, code, cost, tools, models, digest, search)
        SELECT m.id, ${digestValues} FROM moved m
        JOIN jsonb_to_recordset($13::jsonb) AS d (place int, ${digestColumns}) ON d.place = m.place ${replaceDigest}
    )`,
    // Only for runs that advanced: what was fenced or already stored is not billed.
    billed: `
    CASE WHEN $14::jsonb <> '[]' THEN ${schema}.bill((SELECT coalesce(jsonb_agg(b.item || jsonb_build_object('run', m.run)), '[]')
      FROM moved m JOIN jsonb_to_recordset($14::jsonb) AS b (place int, item jsonb) ON b.place = m.place)) END AS billed,`,
  }),
  /** The digest of an ended run. */
  keepDigest: `INSERT INTO ${schema}.digests (run, ms, code, cost, tools, models, digest, search)
    SELECT r.id, ${digestValues} FROM ${schema}.runs r CROSS JOIN jsonb_to_record($2::jsonb) AS d (${digestColumns})
    WHERE r.run = $1 AND r.state = 'done' ${replaceDigest}`,

  /** Of the refused appends, those already stored identically: only their response was lost. */
  storedPlaces: `SELECT coalesce(array_agg(i.place::int), '{}') AS places
    FROM unnest($1::text[], $2::int[], $3::int[], $4::int[], ${bodies})
      WITH ORDINALITY AS i (run, epoch, base, head, body, place)
    JOIN ${schema}.runs r ON r.run = i.run
    WHERE (i.head = i.base AND r.epoch = i.epoch AND r.head = i.base AND r.state <> 'running')
      OR EXISTS (SELECT 1 FROM ${schema}.records c
        WHERE c.run = r.id AND i.head > i.base AND c.first = i.base + 1 AND c.epoch = i.epoch AND c.body = i.body)`,

  /** Seqs have no gaps, so a page is a range: from the record with the first wanted event to that with the last. */
  read: `SELECT run, first, body FROM (SELECT i.run, c.first, c.body,
      sum(octet_length(c.body)) OVER (PARTITION BY i.run ORDER BY c.first) - octet_length(c.body) AS before
    FROM unnest($1::text[], $2::int[]) AS i (run, after)
    JOIN ${schema}.runs r ON r.run = i.run AND r.head > i.after
    CROSS JOIN LATERAL (
      SELECT first, body FROM ${schema}.records WHERE run = r.id AND last > i.after AND first <= i.after + $3::int
        AND first >= (SELECT max(first) FROM ${schema}.records WHERE run = r.id AND first <= i.after + 1)
    ) c) p WHERE before < ${pageBytes} ORDER BY run, first`,

  /** The run that has this key, or had it before it was removed. */
  findKey: `SELECT run FROM ${schema}.runs WHERE tenant = $1 AND key = $2
    UNION ALL SELECT run FROM ${schema}.removed_keys WHERE name = ${keyName("$1::text", "$2::text")} AND ${isTaken}`,
  findRun: `SELECT state FROM ${schema}.runs WHERE run = $1`,
  /** Needs `lock` on the caller, or two concurrent enqueues would both find room. */
  countOpen: `SELECT count(*)::int AS open FROM ${schema}.runs
    WHERE tenant = $1 AND caller = $2 AND state <> 'done' AND state <> 'waiting'`,
  wake: `UPDATE ${schema}.runs SET state = 'ready', wake_at = NULL WHERE wake_at <= ${now} AND state = 'waiting'`,
  /** Serialises enqueues of one session, so that each sees those before it. */
  lockSession: "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))",
  enqueue: `WITH busy AS (
      SELECT EXISTS (SELECT 1 FROM ${schema}.runs WHERE tenant = $10 AND session = $3 AND state <> 'done') AS busy
    ), added AS (
      INSERT INTO ${schema}.runs (run, tenant, key, session, agent, revision, caller, request, state, epoch, worker)
      SELECT $1, $10, $2, $3, $4, $11, $12, $5,
        CASE WHEN busy OR $6::text IS NULL THEN 'ready' ELSE 'running' END,
        CASE WHEN busy OR $6::text IS NULL THEN 0 ELSE 1 END,
        CASE WHEN busy THEN NULL ELSE $6::text END
      FROM busy WHERE NOT (busy AND $7::boolean)
        AND NOT EXISTS (SELECT 1 FROM ${schema}.removed_keys WHERE name = ${keyName("$10::text", "$2::text")} AND ${isTaken})
      ON CONFLICT DO NOTHING RETURNING state
    )
    SELECT added.state, busy.busy, CASE WHEN added.state = 'ready' AND NOT busy.busy THEN pg_notify($8, $9)::text END AS notified
    FROM added CROSS JOIN busy`,

  /**
   * The only other statement that starts an epoch. A run that was just updated is not free, whatever the workers table says: of
   * two concurrent claimers, the second may see the first's claim but not yet its heartbeat.
   */
  claim: `WITH beat AS (
      INSERT INTO ${schema}.workers (worker, seen_at) VALUES ($1, ${now})
        ON CONFLICT (worker) DO UPDATE SET seen_at = excluded.seen_at
    ), free AS (
      SELECT r.id FROM ${schema}.runs r
      WHERE r.state IN ('ready', 'running')
        AND (r.state = 'ready' OR (r.worker <> $1 AND ${silent("r.updated_at")} AND NOT EXISTS (
          SELECT 1 FROM ${schema}.workers w WHERE w.worker = r.worker AND NOT ${silent("w.seen_at")})))
        AND (r.cancelled OR (($4::text[] IS NULL OR r.agent = ANY ($4::text[]))
            AND ($5::text[] IS NULL OR r.revision IS NULL OR r.revision = ANY ($5::text[])) OR r.run = ANY ($6::text[]))
          AND (r.session IS NULL OR NOT EXISTS (SELECT 1 FROM ${schema}.runs e
            WHERE e.tenant = r.tenant AND e.session = r.session AND e.id < r.id AND e.state <> 'done')))
      ORDER BY r.id LIMIT $3 FOR UPDATE OF r SKIP LOCKED
    )
    UPDATE ${schema}.runs r SET epoch = r.epoch + 1, worker = $1, state = 'running', wake_at = NULL, updated_at = ${now}
    FROM free WHERE r.id = free.id RETURNING r.id::float8 AS place, r.run, r.tenant, r.session, r.agent, r.epoch, r.head, r.signals, r.request`,

  heartbeat: `INSERT INTO ${schema}.workers (worker, seen_at) VALUES ($1, ${now})
    ON CONFLICT (worker) DO UPDATE SET seen_at = excluded.seen_at`,
  held: `SELECT run, session, epoch, head FROM ${schema}.runs WHERE state = 'running' AND worker = $1 ORDER BY id`,
  workers: `SELECT w.worker, ${millis(`(${now} - w.seen_at)`)} AS "silentMs",
      (SELECT count(*)::int FROM ${schema}.runs r WHERE r.state = 'running' AND r.worker = w.worker) AS runs
    FROM ${schema}.workers w WHERE w.seen_at > ${now} - interval '1 hour'
      OR EXISTS (SELECT 1 FROM ${schema}.runs r WHERE r.state = 'running' AND r.worker = w.worker)
    ORDER BY w.seen_at DESC LIMIT 1000`,
  /** A called agent's question is asked again by its calling run, so only the first run of each family counts. */
  backlog: `SELECT r.agent, r.state, count(*)::int AS runs,
      coalesce(sum(CASE WHEN r.asking > 0 AND (r.request::json -> 'parent') IS NULL THEN r.asking ELSE 0 END), 0)::int AS asking
    FROM ${schema}.runs r WHERE r.state <> 'done' GROUP BY r.agent, r.state`,
  release: `WITH freed AS (
      UPDATE ${schema}.runs SET state = 'ready', updated_at = ${now}
      WHERE run = $1 AND epoch = $2 AND state = 'running' RETURNING id
    ) SELECT pg_notify($3, $4)::text AS notified FROM freed`,

  free: `WITH freed AS (
      UPDATE ${schema}.runs SET state = 'ready', updated_at = ${now} WHERE state = 'running' AND worker = $1 RETURNING id
    ) SELECT count(*)::int AS freed, CASE WHEN count(*) > 0 THEN pg_notify($2, $3)::text END AS told FROM freed`,

  signal: `WITH counted AS (
      UPDATE ${schema}.runs r SET signals = signals + 1, cancelled = cancelled OR $3 = 'cancel',
        state = CASE state WHEN 'waiting' THEN 'ready' ELSE state END
      WHERE run = $1 AND state <> 'done'
        AND NOT EXISTS (SELECT 1 FROM ${schema}.signals s WHERE s.run = r.id AND s.signal = $2)
      RETURNING id, signals, state
    ), added AS (
      INSERT INTO ${schema}.signals (run, number, signal, kind, body) SELECT id, signals, $2, $3, $4 FROM counted
    )
    SELECT state, pg_notify($5, CASE state WHEN 'ready' THEN $7 ELSE $6 END)::text AS notified FROM counted`,
  signals: `SELECT i.run, s.number, s.signal, s.kind, s.body
    FROM unnest($1::text[], $2::int[]) AS i (run, after)
    JOIN ${schema}.runs r ON r.run = i.run AND r.signals > i.after
    JOIN ${schema}.signals s ON s.run = r.id AND s.number > i.after ORDER BY i.run, s.number`,

  get: `SELECT ${row}, ${digestOf(schema)} FROM ${schema}.runs WHERE run = $1`,
  list: (query: { readonly conditions: string; readonly order: "ASC" | "DESC" }) =>
    `SELECT * FROM (
      SELECT ${row}, ${digestOf(schema)}, runs.id AS place, count(*) OVER ()::int AS found,
        sum(octet_length(request)) OVER (ORDER BY runs.id ${query.order}) - octet_length(request) AS before
      FROM (SELECT * FROM ${schema}.runs ${query.conditions} ORDER BY runs.id ${query.order} LIMIT $1) runs
    ) p WHERE before < ${pageBytes} ORDER BY place ${query.order}`,

  /** Sorted by a digest value, largest first. */
  listSorted: (query: { readonly conditions: string; readonly by: "ms" | "cost" }) =>
    `SELECT * FROM (
      SELECT ${row}, ${digestOf(schema)}, runs.id AS place, sorted_by AS value, count(*) OVER ()::int AS found,
        sum(octet_length(request)) OVER (ORDER BY sorted_by DESC, runs.id DESC) - octet_length(request) AS before
      FROM (
        SELECT runs.*, s.${query.by} AS sorted_by FROM ${schema}.digests s JOIN ${schema}.runs ON runs.id = s.run
        ${query.conditions} ORDER BY s.${query.by} DESC, s.run DESC LIMIT $1
      ) runs
    ) p WHERE before < ${pageBytes} ORDER BY value DESC, place DESC`,

  /** With an epoch but no owner: it was written elsewhere. */
  restore: `INSERT INTO ${schema}.runs (run, tenant, revision, caller, session, agent, request, state, outcome, epoch, head, signals, cancelled, asking, ended_at)
    SELECT $1::text, $10::text, $11::text, $12::text, $2::text, $3::text, $4::text, $5::text, $6::text, 1, $7::int, $8::int, $9::boolean, $13::int,
      CASE WHEN $5::text = 'done' THEN ${now} END
    WHERE NOT EXISTS (SELECT 1 FROM ${schema}.runs WHERE tenant = $10 AND session = $2 AND state <> 'done') ON CONFLICT DO NOTHING
    RETURNING id::text`,
  restoreRecord: `INSERT INTO ${schema}.records (run, first, last, epoch, body) VALUES ($1, $2, $3, 1, $4)`,
  restoreSignals: `INSERT INTO ${schema}.signals (run, number, signal, kind, body)
    SELECT $1, place, signal, kind, body
    FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS s (signal, kind, body, place)`,

  prune: `WITH old AS (
      SELECT id FROM ${schema}.runs WHERE state = 'done' AND (ended_at < ${now} - $1::float8 * interval '1 millisecond'
        OR id <= (SELECT id FROM ${schema}.runs WHERE state = 'done' AND $2::int IS NOT NULL ORDER BY id DESC LIMIT 1 OFFSET $2::int)
        OR run = ANY($4::text[]))
      LIMIT $3
    ), uses AS (DELETE FROM ${schema}.blob_uses u USING old, ${schema}.runs r WHERE r.id = old.id AND u.run = r.run
    ), keys AS (INSERT INTO ${schema}.removed_keys (name, run, removed_at)
      SELECT ${keyName("r.tenant", "r.key")}, r.run, ${now} FROM old JOIN ${schema}.runs r ON r.id = old.id WHERE r.key IS NOT NULL
      ON CONFLICT (name) DO UPDATE SET run = excluded.run, removed_at = excluded.removed_at
    ), records AS (DELETE FROM ${schema}.records c USING old WHERE c.run = old.id
    ), digests AS (DELETE FROM ${schema}.digests d USING old WHERE d.run = old.id
    ), signals AS (DELETE FROM ${schema}.signals s USING old WHERE s.run = old.id
    ), wires AS (DELETE FROM ${schema}.wires w USING old WHERE w.run = old.id
    ) DELETE FROM ${schema}.runs r USING old WHERE r.id = old.id RETURNING 1`,
  reserve: `SELECT ${schema}.reserve($1::jsonb)::text AS answers`,
  balances: `SELECT account, nanos::float8 AS nanos, tokens::float8 AS tokens, held_nanos::float8 AS "heldNanos",
    held_tokens::float8 AS "heldTokens" FROM ${schema}.accounts WHERE account = ANY($1::text[])`,
  usage: ({
    keys,
    order,
    conditions,
  }: {
    readonly keys: string;
    readonly order: string;
    readonly conditions: string;
  }) =>
    `SELECT ${keys}${usageFigures.map((figure) => `coalesce(sum("${figure}"), 0)::float8 AS "${figure}"`).join(", ")}
     FROM ${schema}.usage ${conditions} ${order === "" ? "HAVING count(*) > 0" : `GROUP BY ${order} ORDER BY ${order}`}`,
  forgetAccounts: `DELETE FROM ${schema}.accounts a WHERE until < extract(epoch FROM ${now}) * 1000
    AND NOT EXISTS (SELECT 1 FROM ${schema}.holds h WHERE h.account = a.account)`,
  forgetKeys: `DELETE FROM ${schema}.removed_keys WHERE NOT ${isTaken}`,
  /** Long after any lease has expired. */
  forgetWorkers: `DELETE FROM ${schema}.workers WHERE seen_at < ${now} - interval '1 day'`,

  /** Whether the bytes are already stored, so that they need not be sent. */
  useBlob: `WITH touched AS (UPDATE ${schema}.blobs SET put_at = ${now} WHERE hash = $2 RETURNING hash
    ), used AS (INSERT INTO ${schema}.blob_uses (run, hash) SELECT $1, hash FROM touched ON CONFLICT DO NOTHING
    ) SELECT 1 AS there FROM touched`,
  putBlob: `WITH put AS (INSERT INTO ${schema}.blobs (hash, put_at, bytes) VALUES ($2, ${now}, $3)
      ON CONFLICT (hash) DO UPDATE SET put_at = excluded.put_at
    ) INSERT INTO ${schema}.blob_uses (run, hash) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
  insertTrial: `INSERT INTO ${schema}.blobs (hash, put_at, bytes) VALUES ($1, ${now}, $2)`,
  deleteTrial: `DELETE FROM ${schema}.blobs WHERE hash = $1`,
  blob: `SELECT bytes FROM ${schema}.blobs WHERE hash = $1`,
  blobPiece: `SELECT substring(bytes FROM $2::int + 1 FOR $3::int) AS bytes, octet_length(bytes) AS size
    FROM ${schema}.blobs WHERE hash = $1`,
  blobsOf: `SELECT hash FROM ${schema}.blob_uses WHERE run = $1 ORDER BY hash`,
  /** An hour, to protect content just put for a run that is about to be enqueued. */
  forgetUses: `DELETE FROM ${schema}.blob_uses u USING ${schema}.blobs b
    WHERE b.hash = u.hash AND b.put_at < ${now} - interval '1 hour'
      AND NOT EXISTS (SELECT 1 FROM ${schema}.runs r WHERE r.run = u.run)`,
  forgetBlobs: `DELETE FROM ${schema}.blobs b WHERE b.put_at < ${now} - interval '1 hour'
    AND NOT EXISTS (SELECT 1 FROM ${schema}.blob_uses u WHERE u.hash = b.hash)`,
  getValue: `SELECT key, value, version::float8 AS version FROM ${schema}.key_values WHERE space = $1 AND key = $2`,
  insertValue: `INSERT INTO ${schema}.key_values (space, key, value) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
    RETURNING version::float8 AS version`,
  updateValue: `UPDATE ${schema}.key_values SET value = $3, version = nextval('${schema}.key_versions')
    WHERE space = $1 AND key = $2 AND version = $4 RETURNING version::float8 AS version`,
  removeValue: `DELETE FROM ${schema}.key_values WHERE space = $1 AND key = $2 AND version = $3 RETURNING 1`,
  listValues: `SELECT key, value, version::float8 AS version FROM ${schema}.key_values
    WHERE space = $1 AND key > $2 AND key >= $3 AND starts_with(key, $3) ORDER BY key LIMIT $4`,
  audit: `INSERT INTO ${schema}.audit (action, actor, tenant, run, details) VALUES ($1, $2, $3, $4, $5)`,
  audits: `SELECT number::float8 AS number, ${millis("at")} AS at, action, actor, tenant, run, details FROM ${schema}.audit
    WHERE ($1::text IS NULL OR tenant = $1) AND ($2::text IS NULL OR action = $2) AND ($3::text IS NULL OR run = $3)
      AND ($4::bigint IS NULL OR number < $4) ORDER BY audit.number DESC LIMIT $5`,

  keepWire: `INSERT INTO ${schema}.wires (run, round, attempt, wire, bytes)
    SELECT id, $2, $3, $4, $5 FROM ${schema}.runs WHERE run = $1`,
  wire: `SELECT round, attempt, wire, bytes FROM ${schema}.wires
    WHERE run = (SELECT id FROM ${schema}.runs WHERE run = $1) ORDER BY id`,
});
