-- name: lock_lane
-- Who takes from a lane's budget does so alone: a cap is the sum of several rows. A statement of its own, because the
-- sums of the next one must be seen after the lock was got.
SELECT pg_advisory_xact_lock(hashtext('budgets'), hashtext(%(lane)s))

-- name: reserve
-- One call and the most it can cost, or no row. Money is over all tasks of the lane's day, calls are the task's own over
-- its period. Days and Sunday-based weeks are local, by the database's clock.
WITH clock AS MATERIALIZED (SELECT (clock_timestamp() AT TIME ZONE %(timezone)s)::date AS day),
period AS (
    SELECT day, CASE %(period)s WHEN 'week' THEN day - extract(dow FROM day)::int ELSE day END AS first_day,
           CASE %(period)s WHEN 'week' THEN 7 ELSE 1 END AS days
    FROM clock
)
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
RETURNING day, clock_timestamp()

-- name: state
-- What is taken: money of the lane's day, calls of the task's period; and the seconds to the next day and to the next
-- period (a day may have 23 or 25 hours).
WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS at),
period AS (
    SELECT c.at, d.day, CASE %(period)s WHEN 'week' THEN d.day - extract(dow FROM d.day)::int ELSE d.day END AS first_day,
           CASE %(period)s WHEN 'week' THEN 7 ELSE 1 END AS days
    FROM clock c CROSS JOIN LATERAL (SELECT (c.at AT TIME ZONE %(timezone)s)::date AS day) d
)
SELECT (SELECT coalesce(sum(o.reserved_usd + o.spent_usd), 0) FROM budgets o
        WHERE o.day = p.day AND o.lane = %(lane)s)::float8,
       (SELECT coalesce(sum(o.calls), 0) FROM budgets o
        WHERE o.day >= p.first_day AND o.day < p.first_day + p.days AND o.lane = %(lane)s AND o.task = %(task)s)::int,
       extract(epoch FROM (p.day + 1)::timestamp AT TIME ZONE %(timezone)s - p.at)::float8,
       extract(epoch FROM (p.first_day + p.days)::timestamp AT TIME ZONE %(timezone)s - p.at)::float8
FROM period p

-- name: settle
-- The reservation gives way to what the ledger holds, on the day it was taken: budget and ledger cannot disagree.
-- An update or a merge is paid by the budget of what it is a part of: its task begins with that one's name.
WITH billed AS (
    SELECT coalesce(sum(c.cost_usd), 0) AS usd, count(*) FILTER (WHERE c.input_tokens + c.output_tokens > 0) AS calls
    FROM llm_call_subjects s JOIN llm_calls c ON c.id = s.call_id
    WHERE s.subject_kind = %(subject_kind)s AND s.subject_id = %(subject_id)s
      AND c.created_at >= %(taken_at)s AND starts_with(c.task, %(task)s) AND c.lane = %(lane)s
)
UPDATE budgets b SET reserved_usd = greatest(b.reserved_usd - %(reserved)s::numeric(12, 6), 0),
    spent_usd = b.spent_usd + billed.usd, calls = b.calls - 1 + billed.calls
FROM billed WHERE b.day = %(day)s AND b.lane = %(lane)s AND b.task = %(task)s
RETURNING billed.usd::float8
