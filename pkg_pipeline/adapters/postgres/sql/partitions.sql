-- name: due
-- Keys whose marks or leftovers are due, each with the version and attempt of its run key. Marks and ages follow the
-- memory's clock; what was put off follows the database's, so that a pinned PKG_NOW neither starves it nor spins on it.
WITH found AS (
    SELECT partition_key, max(id) AS version FROM dirty_partitions
    WHERE asset = %(asset)s AND due_at <= %(now)s GROUP BY partition_key
    UNION ALL
    SELECT partition_key, processed_version FROM partition_states
    WHERE asset = %(asset)s AND pending > 0 AND (due_at <= %(now)s OR resume_at <= clock_timestamp())
)
SELECT f.partition_key, max(f.version), coalesce(max(s.attempts), 0)
FROM found f LEFT JOIN partition_states s ON s.asset = %(asset)s AND s.partition_key = f.partition_key
GROUP BY f.partition_key ORDER BY f.partition_key LIMIT %(limit)s

-- name: begin
SELECT partition_key, array_agg(id) FILTER (WHERE id IS NOT NULL)
FROM (
    SELECT partition_key, id FROM dirty_partitions WHERE asset = %(asset)s AND partition_key = ANY(%(keys)s)
    UNION ALL
    SELECT partition_key, NULL FROM partition_states
    WHERE asset = %(asset)s AND pending > 0 AND partition_key = ANY(%(keys)s)
) found GROUP BY partition_key

-- name: drop_marks
DELETE FROM dirty_partitions WHERE id = ANY(%(marks)s)

-- name: finish
INSERT INTO partition_states AS s (asset, partition_key, processed_version, attempts, pending, due_at, resume_at)
SELECT %(asset)s, g.key, g.version, 1, g.pending, g.due_at,
       CASE WHEN g.rest > 0 THEN greatest(g.resume_at, clock_timestamp() + make_interval(secs => g.rest)) ELSE g.resume_at END
FROM unnest(%(keys)s::text[], %(versions)s::bigint[], %(pending)s::int[], %(due_at)s::timestamptz[],
            %(resume_at)s::timestamptz[], %(rest)s::float8[]) AS g (key, version, pending, due_at, resume_at, rest)
ORDER BY g.key
ON CONFLICT (asset, partition_key) DO UPDATE SET
    processed_version = greatest(s.processed_version, excluded.processed_version), attempts = s.attempts + 1,
    pending = excluded.pending, due_at = excluded.due_at, resume_at = excluded.resume_at, attempted_at = clock_timestamp()

-- name: reserve
-- One call and the most it can cost, or no row: the caps are looked at and taken in one statement.
INSERT INTO budgets AS b (day, lane, task, calls, reserved_usd)
SELECT (clock_timestamp() AT TIME ZONE %(timezone)s)::date, %(lane)s, %(task)s, 1, %(usd)s
WHERE coalesce(%(calls_cap)s::int, 1) >= 1 AND %(usd)s::numeric(12, 6) <= %(usd_cap)s::numeric
ON CONFLICT (day, lane, task) DO UPDATE SET calls = b.calls + 1, reserved_usd = b.reserved_usd + excluded.reserved_usd
WHERE (%(calls_cap)s::int IS NULL OR b.calls < %(calls_cap)s::int)
  AND b.reserved_usd + b.spent_usd + excluded.reserved_usd <= %(usd_cap)s::numeric
RETURNING day, clock_timestamp()

-- name: budget_today
-- What is taken today, and the seconds to the next budget day (a day may have 23 or 25 hours).
SELECT coalesce(b.calls, 0), coalesce(b.reserved_usd + b.spent_usd, 0),
       extract(epoch FROM (t.day + 1)::timestamp AT TIME ZONE %(timezone)s - clock_timestamp())::float8
FROM (SELECT (clock_timestamp() AT TIME ZONE %(timezone)s)::date AS day) t
LEFT JOIN budgets b ON b.day = t.day AND b.lane = %(lane)s AND b.task = %(task)s

-- name: settle
-- The reservation gives way to what the ledger holds, on the day it was taken: budget and ledger cannot disagree.
WITH billed AS (
    SELECT coalesce(sum(c.cost_usd), 0) AS usd, count(*) FILTER (WHERE c.input_tokens + c.output_tokens > 0) AS calls
    FROM llm_call_subjects s JOIN llm_calls c ON c.id = s.call_id
    WHERE s.subject_kind = %(subject_kind)s AND s.subject_id = %(subject_id)s
      AND c.created_at >= %(taken_at)s AND c.task = %(task)s AND c.lane = %(lane)s
)
UPDATE budgets b SET reserved_usd = greatest(b.reserved_usd - %(reserved)s::numeric(12, 6), 0),
    spent_usd = b.spent_usd + billed.usd, calls = b.calls - 1 + billed.calls
FROM billed WHERE b.day = %(day)s AND b.lane = %(lane)s AND b.task = %(task)s
RETURNING billed.usd::float8
