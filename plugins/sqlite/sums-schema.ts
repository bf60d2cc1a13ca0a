/** What a digest adds to the sums. Durations use the floors of `nextFloor`. */
const figuresOf = (input: string, output: string) => `
  CREATE VIEW digest_figures AS SELECT d.run, r.tenant, r.agent, d.models, coalesce(r.caller, '') AS caller,
    coalesce(r.outcome, '') AS outcome, coalesce(d.code, '') AS code, r.created_at AS at,
    CAST(CASE WHEN json_valid(d.digest) THEN coalesce(${input}, 0) ELSE 0 END AS REAL) AS input_tokens,
    CAST(CASE WHEN json_valid(d.digest) THEN coalesce(${output}, 0) ELSE 0 END AS REAL) AS output_tokens,
    CASE WHEN d.cost IS NULL THEN 0 ELSE CAST(min(d.cost, 1e6) * 1e9 + 0.5 AS INTEGER) END AS nanos,
    d.cost IS NOT NULL AS priced,
    (SELECT max(floor) FROM sum_floors WHERE floor <= max(d.ms, 0)) AS floor
  FROM digests d JOIN runs r ON r.id = d.run;`;

const same = ["tenant", "agent", "models", "caller", "outcome", "code"]
  .map((name) => `g.${name} = f.${name}`)
  .join(" AND ");

/** Adds a digest to the sums, times `sign`. The JSON path of its duration is cut from `{"FLOOR":1}`. */
const change = (run: string, sign: 1 | -1) => `
  INSERT INTO sums (grp, span, at, runs, input_tokens, output_tokens, nanos, priced, spread)
    SELECT g.id, s.span, f.at - f.at % s.span, ${sign}, ${sign} * f.input_tokens, ${sign} * f.output_tokens, ${sign} * f.nanos,
      ${sign} * f.priced, '{"' || f.floor || '":${sign}}'
    FROM digest_figures f CROSS JOIN sum_groups g CROSS JOIN sum_spans s WHERE f.run = ${run} AND ${same}
    ON CONFLICT (grp, span, at) DO UPDATE SET runs = runs + excluded.runs, input_tokens = input_tokens + excluded.input_tokens,
      output_tokens = output_tokens + excluded.output_tokens, nanos = nanos + excluded.nanos, priced = priced + excluded.priced,
      spread = json_set(spread, ${path}, coalesce(json_extract(spread, ${path}), 0) + ${sign});`;
const path = "'$.' || substr(excluded.spread, 2, instr(excluded.spread, ':') - 2)";

const add = `
  INSERT INTO sum_groups (tenant, agent, models, caller, outcome, code)
    SELECT tenant, agent, models, caller, outcome, code FROM digest_figures f
    WHERE f.run = NEW.run AND NOT EXISTS (SELECT 1 FROM sum_groups g WHERE ${same});
  ${change("NEW.run", 1)}`;

const subtract = (run: string) => `
  ${change(run, -1)}
  DELETE FROM sums WHERE (grp, span, at) IN (SELECT g.id, s.span, f.at - f.at % s.span
      FROM digest_figures f CROSS JOIN sum_groups g CROSS JOIN sum_spans s WHERE f.run = ${run} AND ${same}) AND runs <= 0;
  DELETE FROM sum_groups WHERE id IN (SELECT g.id FROM digest_figures f CROSS JOIN sum_groups g WHERE f.run = ${run} AND ${same})
    AND NOT EXISTS (SELECT 1 FROM sums WHERE grp = sum_groups.id);`;

/**
 * Sums of ended runs by what lists filter and group by, maintained by triggers: whoever writes or removes a digest, even a process of an
 * older version, changes them in the same transaction. A replaced row is subtracted first, because REPLACE fires no DELETE trigger.
 */
export const sumsMigration = `
  CREATE TABLE sum_spans (span INTEGER PRIMARY KEY) STRICT;
  INSERT INTO sum_spans VALUES (1), (60000), (3600000), (86400000), (1382400000);
  CREATE TABLE sum_floors (floor INTEGER PRIMARY KEY) STRICT;
  INSERT INTO sum_floors WITH RECURSIVE f (floor) AS (
    SELECT 0 UNION ALL SELECT max(floor + 1, (floor * 11 + 9) / 10) FROM f WHERE floor < 10000000000) SELECT floor FROM f;
  CREATE TABLE sum_groups (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL, agent TEXT NOT NULL, models TEXT NOT NULL, caller TEXT NOT NULL, outcome TEXT NOT NULL, code TEXT NOT NULL,
    UNIQUE (tenant, agent, models, caller, outcome, code)
  ) STRICT;
  CREATE TABLE sums (
    grp INTEGER NOT NULL, span INTEGER NOT NULL, at INTEGER NOT NULL,
    runs INTEGER NOT NULL, input_tokens REAL NOT NULL, output_tokens REAL NOT NULL, nanos REAL NOT NULL, priced INTEGER NOT NULL,
    spread TEXT NOT NULL,
    PRIMARY KEY (grp, span, at)
  ) STRICT, WITHOUT ROWID;
  ${figuresOf("d.digest ->> '$.usage.inputTokens'", "d.digest ->> '$.usage.outputTokens'")}
  INSERT INTO sum_groups (tenant, agent, models, caller, outcome, code)
    SELECT DISTINCT tenant, agent, models, caller, outcome, code FROM digest_figures;
  INSERT INTO sums SELECT grp, span, at, sum(n), sum(i), sum(o), sum(c), sum(p), json_group_object(CAST(floor AS TEXT), n) FROM (
    SELECT g.id AS grp, s.span, f.at - f.at % s.span AS at, f.floor, count(*) AS n, sum(f.input_tokens) AS i,
      sum(f.output_tokens) AS o, sum(f.nanos) AS c, sum(f.priced) AS p
    FROM digest_figures f CROSS JOIN sum_groups g CROSS JOIN sum_spans s WHERE ${same} GROUP BY 1, 2, 3, 4
  ) GROUP BY 1, 2, 3;
  CREATE TRIGGER digests_replaced BEFORE INSERT ON digests WHEN EXISTS (SELECT 1 FROM digests WHERE run = NEW.run)
    BEGIN ${subtract("NEW.run")} END;
  CREATE TRIGGER digests_added AFTER INSERT ON digests BEGIN ${add} END;
  CREATE TRIGGER digests_removed BEFORE DELETE ON digests BEGIN ${subtract("OLD.run")} END;
`;

const own = (kind: string) =>
  `iif(d.digest -> '$.ownUsage' IS NULL, d.digest -> '$.usage', d.digest -> '$.ownUsage') ->> '$.${kind}'`;

/** Counts what a run's tools spent in the called runs only. Digests without `ownUsage` stay as they were counted. */
export const ownUsageMigration = `DROP VIEW digest_figures; ${figuresOf(own("inputTokens"), own("outputTokens"))}`;
