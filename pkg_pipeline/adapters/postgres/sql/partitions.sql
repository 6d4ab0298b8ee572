-- name: due
-- Keys whose marks or leftovers are due, each with the version and attempt of its run key.
WITH found AS (
    SELECT partition_key, max(id) AS version FROM dirty_partitions
    WHERE asset = %(asset)s AND due_at <= %(now)s GROUP BY partition_key
    UNION ALL
    SELECT partition_key, processed_version FROM partition_states
    WHERE asset = %(asset)s AND pending > 0 AND due_at <= %(now)s
)
SELECT f.partition_key, max(f.version), coalesce(max(s.attempts), 0)
FROM found f LEFT JOIN partition_states s ON s.asset = %(asset)s AND s.partition_key = f.partition_key
GROUP BY f.partition_key ORDER BY f.partition_key LIMIT %(limit)s

-- name: begin
SELECT partition_key, array_agg(id) FROM dirty_partitions
WHERE asset = %(asset)s AND partition_key = ANY(%(keys)s) GROUP BY partition_key

-- name: finish
WITH done AS (DELETE FROM dirty_partitions WHERE id = ANY(%(marks)s))
INSERT INTO partition_states AS s (asset, partition_key, processed_version, attempts, pending, due_at)
VALUES (%(asset)s, %(key)s, %(version)s, 1, %(pending)s, %(due_at)s)
ON CONFLICT (asset, partition_key) DO UPDATE SET
    processed_version = greatest(s.processed_version, excluded.processed_version), attempts = s.attempts + 1,
    pending = excluded.pending, due_at = excluded.due_at, attempted_at = clock_timestamp()

-- name: reserve
-- One call and its price, or no row: the caps are looked at and taken in one statement.
INSERT INTO budgets AS b (day, lane, task, calls, reserved_usd)
SELECT (clock_timestamp() AT TIME ZONE %(timezone)s)::date, %(lane)s, %(task)s, 1, %(usd)s
WHERE coalesce(%(calls_cap)s::int, 1) >= 1 AND %(usd)s::numeric <= %(usd_cap)s::numeric
ON CONFLICT (day, lane, task) DO UPDATE SET calls = b.calls + 1, reserved_usd = b.reserved_usd + excluded.reserved_usd
WHERE (%(calls_cap)s::int IS NULL OR b.calls < %(calls_cap)s::int)
  AND b.reserved_usd + b.spent_usd + excluded.reserved_usd <= %(usd_cap)s::numeric
RETURNING calls

-- name: budget_today
SELECT calls, reserved_usd + spent_usd FROM budgets
WHERE day = (clock_timestamp() AT TIME ZONE %(timezone)s)::date AND lane = %(lane)s AND task = %(task)s

-- name: settle
UPDATE budgets SET reserved_usd = greatest(reserved_usd - %(reserved)s, 0), spent_usd = spent_usd + %(spent)s,
                   calls = calls - CASE WHEN %(used)s THEN 0 ELSE 1 END
WHERE day = (clock_timestamp() AT TIME ZONE %(timezone)s)::date AND lane = %(lane)s AND task = %(task)s
