/** A run's usage in its digest, as SQL. */
const whole = "d.digest -> 'usage'";
const own = "coalesce(d.digest -> 'ownUsage', d.digest -> 'usage')";

/** Adds digests to the sums, times `sign`. In one order, to avoid deadlocks: that of time, in which a range is read. */
const change = (digests: string, sign: 1 | -1, usage = whole) => `
  INSERT INTO $.sums AS c (grp, span, at, shard, runs, input_tokens, output_tokens, nanos, priced, spread)
    WITH d AS MATERIALIZED (
      SELECT d.grp, d.at, d.shard, $.floor_of(d.ms) AS floor, d.cost,
        coalesce((${usage} ->> 'inputTokens')::float8, 0) AS input_tokens,
        coalesce((${usage} ->> 'outputTokens')::float8, 0) AS output_tokens
      FROM ${digests} d WHERE d.grp IS NOT NULL
    )
    SELECT grp, span, at, shard, sum(n), sum(i), sum(o), sum(c), sum(p), jsonb_object_agg(floor, n)::text FROM (
      SELECT d.grp, s.span, d.at - d.at % s.span AS at, d.shard, d.floor, ${sign} * count(*) AS n,
        ${sign} * sum(d.input_tokens) AS i, ${sign} * sum(d.output_tokens) AS o,
        ${sign} * sum(floor(least(coalesce(d.cost, 0), 1e6) * 1e9 + 0.5)) AS c, ${sign} * count(d.cost) AS p
      FROM d CROSS JOIN $.sum_spans s GROUP BY 1, 2, 3, 4, 5
    ) f GROUP BY 1, 2, 3, 4 ORDER BY 2, 3, 1, 4
    ON CONFLICT (grp, span, at, shard) DO UPDATE SET runs = c.runs + excluded.runs,
      input_tokens = c.input_tokens + excluded.input_tokens, output_tokens = c.output_tokens + excluded.output_tokens,
      nanos = c.nanos + excluded.nanos, priced = c.priced + excluded.priced, spread = $.add_spread(c.spread, excluded.spread);`;

const clean = `
  DELETE FROM $.sums c USING gone d, $.sum_spans s
    WHERE c.grp = d.grp AND c.span = s.span AND c.at = d.at - d.at % s.span AND c.shard = d.shard AND c.runs <= 0;`;

const reaction = (event: string, body: string) => `
  CREATE OR REPLACE FUNCTION $.digests_${event}() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN ${body} RETURN NULL; END $body$;`;

const trigger = (event: string, tables: string, body: string) => `
  ${reaction(event, body)}
  CREATE TRIGGER digests_${event} AFTER ${event} ON $.digests REFERENCING ${tables}
    FOR EACH STATEMENT EXECUTE FUNCTION $.digests_${event}();`;

/**
 * A digest's duration as a floor (see `nextFloor`), and its group as a hash, because a list of models may exceed the size of an index row.
 */
const place = (digest: string, run: string) => `
  md5(jsonb_build_array(${run}.tenant, ${run}.agent, ${digest}.models, coalesce(${run}.caller, ''),
    ${outcome(digest)}, coalesce(${digest}.code, ''))::text)`;
const outcome = (digest: string) =>
  `CASE WHEN ${digest}.code = 'stream_interrupted' THEN 'cancelled' ELSE coalesce(${digest}.digest ->> 'status', '') END`;
const created = (run: string) => `floor(extract(epoch FROM ${run}.created_at) * 1000)::bigint`;
const group = (
  digest: string,
  run: string,
) => `${run}.tenant, ${run}.agent, ${digest}.models::text, coalesce(${run}.caller, ''),
  ${outcome(digest)}, coalesce(${digest}.code, '')`;

/**
 * Sums of ended runs by what lists filter and group by, maintained by triggers: whoever writes or removes a digest, even a replica of an
 * older version, changes them in the same transaction. A digest stores its group, time and shard itself, because its run is removed by the
 * same statement. Connections add to their own rows (`shard`), so that they seldom wait for each other.
 */
export const sumsMigration = `
  CREATE TABLE $.sum_spans (span bigint PRIMARY KEY);
  INSERT INTO $.sum_spans VALUES (1), (60000), (3600000), (86400000), (1382400000);
  CREATE TABLE $.sum_floors (floor bigint PRIMARY KEY);
  INSERT INTO $.sum_floors WITH RECURSIVE f (floor) AS (
    SELECT 0::bigint UNION ALL SELECT greatest(floor + 1, (floor * 11 + 9) / 10) FROM f WHERE floor < 10000000000) SELECT floor FROM f;
  CREATE FUNCTION $.floor_of(ms float8) RETURNS bigint LANGUAGE sql STABLE AS
    'SELECT max(floor) FROM $.sum_floors WHERE floor <= greatest(ms, 0)';
  CREATE FUNCTION $.add_spread(spread text, more text) RETURNS text LANGUAGE sql IMMUTABLE AS $body$
    SELECT (s || jsonb_object_agg(key, coalesce((s ->> key)::bigint, 0) + value::bigint))::text
      FROM (SELECT spread::jsonb AS s) t, jsonb_each_text(more::jsonb) GROUP BY s
  $body$;
  CREATE TABLE $.sum_groups (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    tenant text NOT NULL, agent text NOT NULL, models text NOT NULL, caller text NOT NULL, outcome text NOT NULL, code text NOT NULL
  );
  CREATE TABLE $.sums (
    grp bigint NOT NULL, span bigint NOT NULL, at bigint NOT NULL, shard int NOT NULL,
    runs bigint NOT NULL, input_tokens float8 NOT NULL, output_tokens float8 NOT NULL, nanos float8 NOT NULL, priced bigint NOT NULL,
    -- JSON that is read as text: a query concatenates ten thousands of them.
    spread text NOT NULL,
    PRIMARY KEY (grp, span, at, shard)
  ) WITH (fillfactor = 80);
  LOCK TABLE $.digests IN SHARE ROW EXCLUSIVE MODE;
  ALTER TABLE $.digests ADD COLUMN grp bigint, ADD COLUMN at bigint, ADD COLUMN shard int;
  INSERT INTO $.sum_groups (name, tenant, agent, models, caller, outcome, code)
    SELECT DISTINCT ON (1) ${place("d", "r")}, ${group("d", "r")} FROM $.digests d JOIN $.runs r ON r.id = d.run;
  UPDATE $.digests d SET grp = g.id, at = ${created("r")}, shard = 0
    FROM $.runs r, $.sum_groups g WHERE r.id = d.run AND g.name = ${place("d", "r")};
  ${change("$.digests", 1)}
  -- For queries over all groups: one range instead of a lookup per group.
  CREATE INDEX sums_time ON $.sums (span, at);
  CREATE FUNCTION $.digest_placed() RETURNS trigger LANGUAGE plpgsql AS $body$
    DECLARE r $.runs%ROWTYPE; named text;
    BEGIN
      -- Until the transaction ends: no group is removed meanwhile.
      LOCK TABLE $.sum_groups IN ROW SHARE MODE;
      SELECT * INTO r FROM $.runs WHERE id = NEW.run;
      IF NOT FOUND THEN RETURN NEW; END IF;
      named := ${place("NEW", "r")};
      NEW.at := ${created("r")};
      NEW.shard := CASE TG_OP WHEN 'INSERT' THEN pg_backend_pid() % 4 ELSE coalesce(OLD.shard, 0) END;
      SELECT id INTO NEW.grp FROM $.sum_groups WHERE name = named;
      IF NOT FOUND THEN
        INSERT INTO $.sum_groups (name, tenant, agent, models, caller, outcome, code) VALUES (named, ${group("NEW", "r")})
          ON CONFLICT (name) DO NOTHING;
        SELECT id INTO NEW.grp FROM $.sum_groups WHERE name = named;
      END IF;
      RETURN NEW;
    END $body$;
  CREATE TRIGGER digest_placed BEFORE INSERT OR UPDATE ON $.digests FOR EACH ROW EXECUTE FUNCTION $.digest_placed();
  ${trigger("insert", "NEW TABLE AS added", change("added", 1))}
  ${trigger("update", "OLD TABLE AS gone NEW TABLE AS added", change("gone", -1) + change("added", 1) + clean)}
  ${trigger("delete", "OLD TABLE AS gone", change("gone", -1) + clean)}
`;

/** Counts what a run's tools spent in the called runs only. Digests without `ownUsage` stay as they were counted. */
export const ownUsageMigration = `
  ${reaction("insert", change("added", 1, own))}
  ${reaction("update", change("gone", -1, own) + change("added", 1, own) + clean)}
  ${reaction("delete", change("gone", -1, own) + clean)}
`;
