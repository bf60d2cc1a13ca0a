import { reserveFunction } from "./reserve-function.ts";
import { ownUsageMigration, sumsMigration } from "./sums-schema.ts";

/** Counts the approval events in a record's body; a quote inside a value would be escaped. */
function occurrences(action: string): string {
  const mark = `"type":"approval.${action}"`;
  return `(length(c.body) - length(replace(c.body, '${mark}', ''))) / ${mark.length}`;
}

/**
 * Each entry migrates the schema from version index to index + 1. Append only: databases in the field may be at any earlier
 * version. `$` is the schema's name.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE $.runs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run text NOT NULL UNIQUE,
    key text UNIQUE,
    session text,
    agent text NOT NULL,
    request text NOT NULL,
    state text NOT NULL,
    outcome text,
    epoch integer NOT NULL DEFAULT 0,
    worker text,
    head integer NOT NULL DEFAULT 0,
    signals integer NOT NULL DEFAULT 0,
    cancelled boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at timestamptz
  -- Room for every row of a page to be rewritten in one transaction without touching an index.
  ) WITH (fillfactor = 45);
  CREATE INDEX runs_open ON $.runs (state, id) WHERE state <> 'done';
  CREATE INDEX runs_session ON $.runs (session, id) WHERE session IS NOT NULL;
  CREATE INDEX runs_agent ON $.runs (agent, id);
  CREATE INDEX runs_ended ON $.runs (ended_at) WHERE ended_at IS NOT NULL;
  -- One row is what one append brought: JSON lines of the events first to last.
  CREATE TABLE $.records (
    run bigint NOT NULL,
    first integer NOT NULL,
    last integer NOT NULL,
    epoch integer NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (run, first)
  );
  CREATE TABLE $.signals (
    run bigint NOT NULL,
    number integer NOT NULL,
    signal text NOT NULL,
    kind text NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (run, number),
    UNIQUE (run, signal)
  );
  CREATE TABLE $.workers (worker text PRIMARY KEY, seen_at timestamptz NOT NULL) WITH (fillfactor = 70);
  `,
  `
  CREATE TABLE $.wires (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run bigint NOT NULL,
    round integer NOT NULL,
    attempt integer NOT NULL,
    wire text NOT NULL,
    bytes bytea NOT NULL
  );
  CREATE INDEX wires_run ON $.wires (run);
  `,
  // Put before the run exists, so keyed by the run's name.
  `
  CREATE TABLE $.blobs (hash text PRIMARY KEY, put_at timestamptz NOT NULL, bytes bytea NOT NULL);
  ALTER TABLE $.blobs ALTER COLUMN bytes SET STORAGE EXTERNAL;
  CREATE TABLE $.blob_uses (run text NOT NULL, hash text NOT NULL, PRIMARY KEY (run, hash));
  CREATE INDEX blob_uses_hash ON $.blob_uses (hash);
  `,
  // Every run gets an owner, and sessions and keys are scoped to it. Until now keys began with the id of the caller's API key,
  // which identifies the owner; the others belong to "default", as do those that older replicas still add. Keys of sub-runs
  // ("agent:") had no such prefix.
  `
  ALTER TABLE $.runs ADD COLUMN tenant text NOT NULL DEFAULT 'default', ADD COLUMN revision text,
    ADD COLUMN caller text, ADD COLUMN wake_at timestamptz;
  ALTER TABLE $.runs DROP CONSTRAINT runs_key_key;
  UPDATE $.runs SET
    tenant = CASE WHEN key LIKE 'anyone:%' THEN 'default' ELSE split_part(key, ':', 1) END,
    key = 'caller:' || substr(key, strpos(key, ':') + 1)
    WHERE strpos(key, ':') > 1 AND key NOT LIKE 'agent:%';
  CREATE UNIQUE INDEX runs_key ON $.runs (tenant, key) WHERE key IS NOT NULL;
  CREATE INDEX runs_caller ON $.runs (tenant, caller) WHERE caller IS NOT NULL AND state <> 'done';
  CREATE INDEX runs_wake ON $.runs (wake_at) WHERE wake_at IS NOT NULL;
  CREATE INDEX runs_tenant ON $.runs (tenant, id);
  DROP INDEX $.runs_session;
  CREATE INDEX runs_session ON $.runs (tenant, session, id) WHERE session IS NOT NULL;
  CREATE TABLE $.audit (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    action text NOT NULL,
    actor text NOT NULL,
    tenant text,
    run text,
    details text
  );
  CREATE FUNCTION $.audit_kept() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RAISE EXCEPTION ''the audit is append-only''; END';
  CREATE TRIGGER audit_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON $.audit
    FOR EACH STATEMENT EXECUTE FUNCTION $.audit_kept();
  `,
  // Open questions are counted with the run, so that runs waiting for approval can be listed.
  `
  ALTER TABLE $.runs ADD COLUMN asking integer NOT NULL DEFAULT 0;
  UPDATE $.runs r SET asking = greatest(0, (
    SELECT coalesce(sum(${occurrences("requested")} - ${occurrences("resolved")}), 0)
    FROM $.records c WHERE c.run = r.id
  )) WHERE r.state <> 'done';
  CREATE INDEX runs_asking ON $.runs (id) WHERE asking > 0;
  `,
  // Digests of ended runs; `venturi reindex` writes those of runs that ended before. The text itself is not stored twice.
  `
  CREATE TABLE $.digests (
    run bigint PRIMARY KEY,
    ms float8 NOT NULL,
    code text,
    tools jsonb NOT NULL,
    models jsonb NOT NULL,
    digest jsonb NOT NULL,
    search tsvector
  );
  CREATE INDEX digests_search ON $.digests USING gin (search);
  `,
  // Failures are rare: without this index, listing them would read all runs.
  "CREATE INDEX runs_failed ON $.runs (id) WHERE outcome = 'failed'",
  // Ended runs by duration and by cost; runs without a cost are not in that index. Metadata is read from the stored request, which may
  // contain escapes that jsonb refuses; they are replaced, so that the list does not fail.
  `
  ALTER TABLE $.digests ADD COLUMN cost float8;
  CREATE INDEX digests_ms ON $.digests (ms DESC, run DESC);
  CREATE INDEX digests_cost ON $.digests (cost DESC, run DESC) WHERE cost IS NOT NULL;
  CREATE FUNCTION $.metadata_of(request text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $body$
    DECLARE clean text := request;
    BEGIN
      IF strpos(request, '"metadata"') = 0 THEN RETURN NULL; END IF;
      IF strpos(request, '\\u') > 0 THEN
        clean := regexp_replace(request, '(?<!\\\\)((?:\\\\\\\\)*)\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\1?', 'g');
      END IF;
      RETURN clean::jsonb -> 'metadata';
    EXCEPTION WHEN others THEN RETURN NULL;
    END $body$;
  `,
  // Small values for plugins; a sequence gives each write its own version. Keys are compared byte by byte.
  `
  CREATE SEQUENCE $.key_versions;
  CREATE TABLE $.key_values (
    space text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    version bigint NOT NULL DEFAULT nextval('$.key_versions'),
    value text NOT NULL,
    PRIMARY KEY (space, key)
  );
  `,
  // Usage of generations in sums that outlive their runs; budget accounts, and what runs hold of them. Replicas add to their own rows
  // (`shard`), so that none waits for another. Accounts are locked in name order to avoid deadlocks.
  `
  CREATE TABLE $.usage (
    day text NOT NULL, tenant text NOT NULL, agent text NOT NULL, model text NOT NULL, "key" text NOT NULL, "user" text NOT NULL,
    shard int NOT NULL,
    generations bigint NOT NULL, failed bigint NOT NULL, unpriced bigint NOT NULL, nanos bigint NOT NULL,
    "inputTokens" bigint NOT NULL, "outputTokens" bigint NOT NULL, "cacheReadTokens" bigint NOT NULL,
    "cacheWriteTokens" bigint NOT NULL, "reasoningTokens" bigint NOT NULL,
    PRIMARY KEY (day, tenant, agent, model, "key", "user", shard)
  );
  CREATE TABLE $.accounts (
    account text PRIMARY KEY,
    nanos bigint NOT NULL DEFAULT 0,
    tokens bigint NOT NULL DEFAULT 0,
    held_nanos bigint NOT NULL DEFAULT 0,
    held_tokens bigint NOT NULL DEFAULT 0,
    level int NOT NULL DEFAULT 0,
    until float8 NOT NULL
  ) WITH (fillfactor = 50);
  CREATE TABLE $.holds (
    run text NOT NULL,
    account text NOT NULL,
    nanos bigint NOT NULL,
    tokens bigint NOT NULL,
    PRIMARY KEY (run, account)
  );
  CREATE FUNCTION $.bill(items jsonb) RETURNS int LANGUAGE plpgsql AS $body$
    DECLARE runs text[];
    BEGIN
      INSERT INTO $.usage AS u SELECT e.day, e.tenant, e.agent, e.model, e."key", e."user", e.shard,
          sum(e.generations), sum(e.failed), sum(e.unpriced), sum(e.nanos), sum(e."inputTokens"), sum(e."outputTokens"),
          sum(e."cacheReadTokens"), sum(e."cacheWriteTokens"), sum(e."reasoningTokens")
        FROM jsonb_array_elements(items) i CROSS JOIN jsonb_to_recordset(i->'usage') AS e (day text, tenant text, agent text, model text,
          "key" text, "user" text, shard int, generations bigint, failed bigint, unpriced bigint, nanos bigint, "inputTokens" bigint,
          "outputTokens" bigint, "cacheReadTokens" bigint, "cacheWriteTokens" bigint, "reasoningTokens" bigint)
        GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 5, 6, 7
        ON CONFLICT (day, tenant, agent, model, "key", "user", shard) DO UPDATE SET
          generations = u.generations + excluded.generations, failed = u.failed + excluded.failed,
          unpriced = u.unpriced + excluded.unpriced, nanos = u.nanos + excluded.nanos,
          "inputTokens" = u."inputTokens" + excluded."inputTokens", "outputTokens" = u."outputTokens" + excluded."outputTokens",
          "cacheReadTokens" = u."cacheReadTokens" + excluded."cacheReadTokens",
          "cacheWriteTokens" = u."cacheWriteTokens" + excluded."cacheWriteTokens",
          "reasoningTokens" = u."reasoningTokens" + excluded."reasoningTokens";
      SELECT array_agg(i->>'run') INTO runs FROM jsonb_array_elements(items) i WHERE (i->>'release')::boolean;
      IF runs IS NULL THEN RETURN 0; END IF;
      PERFORM 1 FROM $.accounts a WHERE a.account IN (SELECT h.account FROM $.holds h WHERE h.run = ANY (runs)
        UNION SELECT s->>'account' FROM jsonb_array_elements(items) i CROSS JOIN jsonb_array_elements(i->'spent') s)
        ORDER BY a.account FOR UPDATE;
      UPDATE $.accounts a SET nanos = a.nanos + t.nanos, tokens = a.tokens + t.tokens
        FROM (SELECT s->>'account' AS account, sum((s->>'nanos')::bigint) AS nanos, sum((s->>'tokens')::bigint) AS tokens
          FROM jsonb_array_elements(items) i CROSS JOIN jsonb_array_elements(i->'spent') s GROUP BY 1) t
        WHERE a.account = t.account;
      PERFORM $.give_back(runs);
      RETURN 1;
    END $body$;
  CREATE FUNCTION $.give_back(runs text[]) RETURNS void LANGUAGE sql AS $body$
    WITH gone AS (DELETE FROM $.holds WHERE run = ANY (runs) RETURNING account, nanos, tokens)
    UPDATE $.accounts a SET held_nanos = a.held_nanos - g.nanos, held_tokens = a.held_tokens - g.tokens
    FROM (SELECT account, sum(nanos) AS nanos, sum(tokens) AS tokens FROM gone GROUP BY account) g WHERE a.account = g.account
  $body$;
  `,
  // Cancelled runs did not fail.
  `
  UPDATE $.runs r SET outcome = 'cancelled' FROM $.digests d
    WHERE d.run = r.id AND r.outcome = 'failed' AND d.code = 'stream_interrupted';
  CREATE INDEX runs_cancelled ON $.runs (id) WHERE outcome = 'cancelled';
  `,
  // Hashed keys of removed runs: for a day, a repeated request is answered with the removed run's id.
  `
  CREATE TABLE $.removed_keys (name bytea PRIMARY KEY, run text NOT NULL, removed_at timestamptz NOT NULL);
  CREATE INDEX removed_keys_at ON $.removed_keys (removed_at);
  `,
  reserveFunction,
  sumsMigration,
  ownUsageMigration,
];
