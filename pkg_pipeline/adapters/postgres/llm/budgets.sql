-- name: lock_lane
-- Serializes reservations of a lane: a cap is the sum of several rows. A separate statement, so that the next one sees sums
-- committed before the lock was got.
SELECT pg_advisory_xact_lock(hashtext('budgets'), hashtext(%(lane)s))

-- name: settle_lost
-- Reservations whose lease ended: unless the ledger has the call, it is recorded under the reservation's id with unknown
-- outcome at the full reserved amount. Idempotent.
WITH lost AS (
    DELETE FROM budget_reservations WHERE lane = %(lane)s AND expires_at <= clock_timestamp() RETURNING *
), known AS (
    SELECT l.id, coalesce(sum(c.cost_usd), 0) AS usd,
           count(*) FILTER (WHERE c.input_tokens + c.output_tokens > 0 OR c.outcome = 'unknown') AS calls,
           coalesce(bool_or(c.request_hash = l.request_hash AND c.outcome NOT IN ('unavailable', 'truncated', 'unknown')),
                    false) AS is_answered
    FROM lost l
    LEFT JOIN (llm_call_subjects s JOIN llm_calls c ON c.id = s.call_id)
        ON s.subject_kind = l.subject_kind AND s.subject_id = l.subject_id AND c.created_at >= l.taken_at
        AND starts_with(c.task, l.task) AND c.lane = l.lane
    GROUP BY l.id
), guessed AS (
    INSERT INTO llm_calls (id, request_hash, task, model, prompt_version, lane, outcome, error, run_id, backfill_id,
        input_tokens, output_tokens, is_usage_estimated, cost_usd, duration_seconds)
    SELECT l.id, l.request_hash, l.asked_task, l.model, l.prompt_version, l.lane, 'unknown',
           'its process ended before the answer, booked at its reservation', l.run_id, l.backfill_id,
           0, 0, true, l.usd - k.usd, extract(epoch FROM clock_timestamp() - l.taken_at)
    FROM lost l JOIN known k USING (id) WHERE NOT k.is_answered AND l.usd > k.usd
    RETURNING id, cost_usd
), about AS (
    INSERT INTO llm_call_subjects (call_id, subject_kind, subject_id)
    SELECT g.id, l.subject_kind, l.subject_id FROM guessed g JOIN lost l USING (id)
)
UPDATE budgets b SET reserved_usd = greatest(b.reserved_usd - s.reserved, 0), spent_usd = b.spent_usd + s.spent,
    calls = b.calls + s.calls
FROM (
    SELECT l.day, l.lane, l.task, sum(l.usd) AS reserved, sum(k.usd + coalesce(g.cost_usd, 0)) AS spent,
           sum(k.calls + (g.id IS NOT NULL)::int - 1) AS calls
    FROM lost l JOIN known k USING (id) LEFT JOIN guessed g USING (id) GROUP BY l.day, l.lane, l.task
) s WHERE b.day = s.day AND b.lane = s.lane AND b.task = s.task

-- name: unanswered
-- Failures in a row of the lane, and for how many seconds it stops after the last one.
SELECT calls, extract(epoch FROM last_at - clock_timestamp())::float8 + %(rest_seconds)s AS seconds_left
FROM unanswered_calls WHERE lane = %(lane)s

-- name: reserve
-- Reserves the most that one call can cost, or returns no row. Money: all tasks of the lane's day; calls: the task's
-- period. Days and Sunday-based weeks are local, by the database's clock.
WITH clock AS MATERIALIZED (SELECT (clock_timestamp() AT TIME ZONE %(timezone)s)::date AS day),
period AS (
    SELECT day, CASE %(period)s WHEN 'week' THEN day - extract(dow FROM day)::int ELSE day END AS first_day,
           CASE %(period)s WHEN 'week' THEN 7 ELSE 1 END AS days
    FROM clock
), taken AS (
INSERT INTO budgets AS b (day, lane, task, calls, reserved_usd)
SELECT p.day, %(lane)s, %(task)s, 1, %(usd)s
FROM period p
WHERE %(usd)s::numeric(12, 6) + (
        SELECT coalesce(sum(o.reserved_usd + o.spent_usd), 0) FROM budgets o WHERE o.day = p.day AND o.lane = %(lane)s
    ) <= %(usd_cap)s::numeric
  AND (%(calls_cap)s::int IS NULL OR %(calls_cap)s::int > (
        SELECT coalesce(sum(o.calls), 0) FROM budgets o
        WHERE o.day >= p.first_day AND o.day < p.first_day + p.days AND o.lane = %(lane)s AND o.task = %(task)s
    ))
ON CONFLICT (day, lane, task) DO UPDATE SET calls = b.calls + 1, reserved_usd = b.reserved_usd + excluded.reserved_usd
RETURNING day
)
INSERT INTO budget_reservations (day, lane, task, usd, asked_task, subject_kind, subject_id, request_hash, model,
    prompt_version, run_id, backfill_id, expires_at)
SELECT day, %(lane)s, %(task)s, %(usd)s, %(asked_task)s, %(subject_kind)s, %(subject_id)s, %(request_hash)s, %(model)s,
       %(prompt_version)s, %(run_id)s, %(backfill_id)s, clock_timestamp() + make_interval(secs => %(lease_seconds)s)
FROM taken
RETURNING id, day, usd::float8, taken_at

-- name: state
-- Used money of the lane's day and calls of the task's period, and the seconds to the next day and period (days may have 23
-- or 25 hours).
WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS at),
period AS (
    SELECT c.at, d.day, CASE %(period)s WHEN 'week' THEN d.day - extract(dow FROM d.day)::int ELSE d.day END AS first_day,
           CASE %(period)s WHEN 'week' THEN 7 ELSE 1 END AS days
    FROM clock c CROSS JOIN LATERAL (SELECT (c.at AT TIME ZONE %(timezone)s)::date AS day) d
)
SELECT (SELECT coalesce(sum(o.reserved_usd + o.spent_usd), 0) FROM budgets o
        WHERE o.day = p.day AND o.lane = %(lane)s)::float8 AS usd,
       (SELECT coalesce(sum(o.calls), 0) FROM budgets o
        WHERE o.day >= p.first_day AND o.day < p.first_day + p.days AND o.lane = %(lane)s AND o.task = %(task)s)::int AS calls,
       extract(epoch FROM (p.day + 1)::timestamp AT TIME ZONE %(timezone)s - p.at)::float8 AS day_ends_in_seconds,
       extract(epoch FROM (p.first_day + p.days)::timestamp AT TIME ZONE %(timezone)s - p.at)::float8 AS period_ends_in_seconds
FROM period p

-- name: settle_batched
-- Of a question in a batch, whose row in the ledger bears the id of its reservation: the cost, told apart, takes the place
-- of the reservation or of the guess of settle_lost.
WITH given AS (
    DELETE FROM budget_reservations WHERE id = %(id)s RETURNING usd AS reserved, 0::numeric AS guessed
), late AS (
    DELETE FROM llm_calls WHERE id = %(id)s AND outcome = 'unknown' RETURNING 0::numeric AS reserved, cost_usd AS guessed
)
UPDATE budgets b SET reserved_usd = greatest(b.reserved_usd - g.reserved, 0),
    spent_usd = greatest(b.spent_usd - g.guessed, 0) + %(usd)s, calls = b.calls - 1 + %(billed)s
FROM (SELECT * FROM given UNION ALL SELECT * FROM late) g
WHERE b.day = %(day)s AND b.lane = %(lane)s AND starts_with(%(task)s, b.task)

-- name: end_reservations
-- They are settled as lost.
UPDATE budget_reservations SET expires_at = clock_timestamp() WHERE id = ANY(%(ids)s)

-- name: settle
-- The ledger row replaces the reservation, on its day, so that both agree. Updates and merges are paid by the budget of the
-- task that begins their name. A late answer replaces the guess of settle_lost.
WITH mine AS (
    DELETE FROM budget_reservations WHERE id = %(id)s RETURNING taken_at, usd AS reserved, 0::numeric AS guessed, 1 AS calls
), late AS (
    DELETE FROM llm_calls WHERE id = %(id)s AND outcome = 'unknown'
    RETURNING created_at AS taken_at, 0::numeric AS reserved, cost_usd AS guessed, 1 AS calls
), given AS (SELECT * FROM mine UNION ALL SELECT * FROM late),
billed AS (
    SELECT coalesce(sum(c.cost_usd), 0) AS usd,
           count(*) FILTER (WHERE c.input_tokens + c.output_tokens > 0 OR c.outcome = 'unknown') AS calls
    FROM given g CROSS JOIN llm_call_subjects s JOIN llm_calls c ON c.id = s.call_id
    WHERE s.subject_kind = %(subject_kind)s AND s.subject_id = %(subject_id)s
      AND c.created_at >= g.taken_at AND starts_with(c.task, %(task)s) AND c.lane = %(lane)s AND c.id <> %(id)s
)
UPDATE budgets b SET reserved_usd = greatest(b.reserved_usd - g.reserved, 0),
    spent_usd = greatest(b.spent_usd - g.guessed, 0) + billed.usd, calls = b.calls - g.calls + billed.calls
FROM given g, billed WHERE b.day = %(day)s AND b.lane = %(lane)s AND b.task = %(task)s
RETURNING billed.usd::float8 AS usd
