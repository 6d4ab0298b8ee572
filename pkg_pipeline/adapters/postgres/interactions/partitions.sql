-- name: due
-- Keys with due marks or leftovers, each with the version and attempt of its run key. Marks use the memory's clock,
-- postponed rows the database's, so that a pinned PKG_NOW neither starves nor loops them. A key may have a thousand marks:
-- a loose index scan reads its first due time and newest mark only.
WITH RECURSIVE keys AS (
    (SELECT partition_key, due_at FROM dirty_partitions WHERE asset = %(asset)s ORDER BY partition_key, due_at LIMIT 1)
    UNION ALL
    SELECT d.partition_key, d.due_at
    FROM keys k CROSS JOIN LATERAL (
        SELECT n.partition_key, n.due_at FROM dirty_partitions n
        WHERE n.asset = %(asset)s AND n.partition_key > k.partition_key ORDER BY n.partition_key, n.due_at LIMIT 1
    ) d
), found AS (
    SELECT k.partition_key, (SELECT max(d.id) FROM dirty_partitions d
                             WHERE d.asset = %(asset)s AND d.partition_key = k.partition_key) AS version
    FROM keys k WHERE k.due_at <= %(now)s
    UNION ALL
    SELECT partition_key, processed_version FROM partition_states
    WHERE asset = %(asset)s AND pending > 0 AND (due_at <= %(now)s OR resume_at <= clock_timestamp())
)
SELECT %(asset)s AS asset, f.partition_key AS key, max(f.version) AS version, coalesce(max(s.attempts), 0) + 1 AS attempt
FROM found f LEFT JOIN partition_states s ON s.asset = %(asset)s AND s.partition_key = f.partition_key
GROUP BY f.partition_key ORDER BY f.partition_key LIMIT %(limit)s

-- name: begin
SELECT partition_key, array_agg(id) FILTER (WHERE id IS NOT NULL) AS marks
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
FROM unnest(%(key)s::text[], %(versions)s::bigint[], %(pending)s::int[], %(due_at)s::timestamptz[],
            %(resume_at)s::timestamptz[], %(rest_seconds)s::float8[]) AS g (key, version, pending, due_at, resume_at, rest)
ORDER BY g.key
ON CONFLICT (asset, partition_key) DO UPDATE SET
    processed_version = greatest(s.processed_version, excluded.processed_version), attempts = s.attempts + 1,
    pending = excluded.pending, due_at = excluded.due_at, resume_at = excluded.resume_at, attempted_at = clock_timestamp()

-- name: outdated_marts
-- Keys of the source attempted since their mart was built, by the attempt count read before the build: later commits
-- increase it.
SELECT s.partition_key, s.attempts FROM partition_states s
LEFT JOIN partition_states m ON m.asset = %(mart)s AND m.partition_key = s.partition_key
WHERE s.asset = %(source)s AND m.processed_version IS DISTINCT FROM s.attempts ORDER BY s.partition_key

-- name: marts_built
INSERT INTO partition_states AS s (asset, partition_key, processed_version)
SELECT %(mart)s, g.key, g.attempts FROM unnest(%(keys)s::text[], %(attempts)s::bigint[]) AS g (key, attempts)
ORDER BY g.key
ON CONFLICT (asset, partition_key) DO UPDATE SET
    processed_version = excluded.processed_version, attempted_at = clock_timestamp()
