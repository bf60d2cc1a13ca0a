/** Grants a group of reservations at once if all fit; only near an account's limit are they checked one by one. */
export const reserveFunction = `
  CREATE OR REPLACE FUNCTION $.reserve(items jsonb) RETURNS jsonb LANGUAGE plpgsql AS $body$
    DECLARE item jsonb; hold jsonb; a $.accounts%ROWTYPE; over jsonb; reached jsonb; answers jsonb := '[]'; near boolean; past boolean;
      runs text[] := ARRAY(SELECT i->>'run' FROM jsonb_array_elements(items) i); owned text[]; room boolean;
    BEGIN
      INSERT INTO $.accounts AS known (account, until)
        SELECT h->>'account', max((h->>'until')::float8) FROM jsonb_array_elements(items) i CROSS JOIN jsonb_array_elements(i->'holds') h
        GROUP BY 1 ORDER BY 1 ON CONFLICT (account) DO UPDATE SET until = excluded.until WHERE excluded.until > known.until + 60000;
      PERFORM 1 FROM $.accounts t WHERE t.account IN (SELECT h.account FROM $.holds h WHERE h.run = ANY (runs)
        UNION SELECT h->>'account' FROM jsonb_array_elements(items) i CROSS JOIN jsonb_array_elements(i->'holds') h)
        ORDER BY t.account FOR UPDATE;
      owned := ARRAY(SELECT r.run FROM jsonb_to_recordset(items) AS i (run text, epoch int)
        JOIN $.runs r ON r.run = i.run AND r.epoch = i.epoch AND r.state = 'running');
      PERFORM $.give_back(owned);
      room := (SELECT count(DISTINCT run) FROM unnest(runs) AS run) = cardinality(runs) AND NOT EXISTS (
        SELECT 1 FROM $.accounts t JOIN (
          SELECT h.account, sum(h.nanos) AS nanos, sum(h.tokens) AS tokens,
            min(coalesce(h."maxNanos", 'Infinity')) AS most_nanos, min(coalesce(h."maxTokens", 'Infinity')) AS most_tokens
          FROM jsonb_to_recordset(items) AS i (run text, holds jsonb) CROSS JOIN jsonb_to_recordset(i.holds)
            AS h (account text, nanos bigint, tokens bigint, "maxNanos" float8, "maxTokens" float8)
          WHERE i.run = ANY (owned) GROUP BY 1) s ON s.account = t.account
        WHERE t.nanos + t.held_nanos + s.nanos > s.most_nanos OR t.tokens + t.held_tokens + s.tokens > s.most_tokens
          OR (t.level < 80 AND (t.nanos >= 0.8 * s.most_nanos OR t.tokens >= 0.8 * s.most_tokens)));
      IF room THEN
        INSERT INTO $.holds (run, account, nanos, tokens) SELECT i.run, h.account, h.nanos, h.tokens
          FROM jsonb_to_recordset(items) AS i (run text, holds jsonb)
            CROSS JOIN jsonb_to_recordset(i.holds) AS h (account text, nanos bigint, tokens bigint) WHERE i.run = ANY (owned);
        UPDATE $.accounts t SET held_nanos = t.held_nanos + s.nanos, held_tokens = t.held_tokens + s.tokens
          FROM (SELECT account, sum(nanos) AS nanos, sum(tokens) AS tokens FROM $.holds WHERE run = ANY (owned) GROUP BY account) s
          WHERE t.account = s.account;
        RETURN (SELECT jsonb_agg(CASE WHEN i->>'run' = ANY (owned) THEN '{"kind": "held", "reached": []}'::jsonb
          ELSE '{"kind": "fenced"}'::jsonb END ORDER BY place) FROM jsonb_array_elements(items) WITH ORDINALITY AS e (i, place));
      END IF;
      FOR item IN SELECT * FROM jsonb_array_elements(items) LOOP
        IF NOT EXISTS (SELECT 1 FROM $.runs r WHERE r.run = item->>'run' AND r.epoch = (item->>'epoch')::int AND r.state = 'running') THEN
          answers := answers || '{"kind": "fenced"}'::jsonb;
          CONTINUE;
        END IF;
        PERFORM $.give_back(ARRAY[item->>'run']);
        over := '[]';
        reached := '[]';
        FOR hold IN SELECT * FROM jsonb_array_elements(item->'holds') LOOP
          SELECT * INTO a FROM $.accounts WHERE account = hold->>'account';
          past := a.nanos + a.held_nanos + (hold->>'nanos')::bigint > coalesce((hold->>'maxNanos')::float8, 'Infinity')
            OR a.tokens + a.held_tokens + (hold->>'tokens')::bigint > coalesce((hold->>'maxTokens')::float8, 'Infinity');
          near := a.nanos >= 0.8 * coalesce((hold->>'maxNanos')::float8, 'Infinity')
            OR a.tokens >= 0.8 * coalesce((hold->>'maxTokens')::float8, 'Infinity');
          IF past THEN
            over := over || jsonb_build_object('account', a.account, 'spent', jsonb_build_object('nanos', a.nanos, 'tokens', a.tokens),
              'held', jsonb_build_object('nanos', a.held_nanos, 'tokens', a.held_tokens));
          END IF;
          IF (past AND a.level < 100) OR (near AND NOT past AND a.level < 80) THEN
            reached := reached || jsonb_build_object('account', a.account, 'spent', jsonb_build_object('nanos', a.nanos, 'tokens', a.tokens),
              'level', CASE WHEN past THEN 100 ELSE 80 END);
            UPDATE $.accounts SET level = CASE WHEN past THEN 100 ELSE 80 END WHERE account = a.account;
          END IF;
        END LOOP;
        IF jsonb_array_length(over) > 0 THEN
          answers := answers || jsonb_build_object('kind', 'over', 'over', over, 'reached', reached);
          CONTINUE;
        END IF;
        INSERT INTO $.holds (run, account, nanos, tokens)
          SELECT item->>'run', h->>'account', (h->>'nanos')::bigint, (h->>'tokens')::bigint FROM jsonb_array_elements(item->'holds') h;
        UPDATE $.accounts u SET held_nanos = u.held_nanos + (h->>'nanos')::bigint, held_tokens = u.held_tokens + (h->>'tokens')::bigint
          FROM jsonb_array_elements(item->'holds') h WHERE u.account = h->>'account';
        answers := answers || jsonb_build_object('kind', 'held', 'reached', reached);
      END LOOP;
      RETURN answers;
    END $body$;
  `;
