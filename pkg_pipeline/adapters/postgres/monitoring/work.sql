-- name: silent_interactions
-- One probe of the partial index over active interactions.
SELECT count(*) FROM interactions WHERE status = 'active' AND ended_at < %(before)s

-- name: pending
-- Unfinished rows of all attempts of an asset.
SELECT coalesce(sum(pending), 0)::bigint FROM partition_states WHERE asset = %(asset)s

-- name: live_summaries
-- One is enough.
SELECT count(*) FROM (SELECT FROM live_summaries LIMIT 1) found

-- name: keep_setting
-- Settings fixed when the memory is created.
INSERT INTO installation (key, value) VALUES (%(key)s, %(value)s) ON CONFLICT DO NOTHING

-- name: carry_setting
INSERT INTO installation (key, value) VALUES (%(key)s, %(value)s)
ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE installation.value <> excluded.value

-- name: runs_table
SELECT to_regclass('dagster.runs')

-- name: is_resting
SELECT EXISTS (SELECT FROM partition_states WHERE asset = %(asset)s AND resume_at > clock_timestamp())

-- name: unfinished_runs
SELECT EXISTS (
    SELECT FROM dagster.runs WHERE status IN ('QUEUED', 'NOT_STARTED', 'STARTING', 'STARTED', 'CANCELING')
)

-- name: has_messages
SELECT EXISTS (SELECT FROM messages)

-- name: installed
-- What opening a memory needs.
SELECT
    (SELECT version_num FROM alembic_version) AS revision,
    (SELECT value FROM installation WHERE key = 'timezone') AS timezone

-- name: kept_setting
SELECT value FROM installation WHERE key = %(key)s

-- name: change_setting
-- Settings that may change, such as the version of the index.
INSERT INTO installation (key, value) VALUES (%(key)s, %(value)s) ON CONFLICT (key) DO UPDATE SET value = excluded.value

-- name: leave_unreported
INSERT INTO unreported_work (asset, counts) VALUES (%(asset)s, %(counts)s)

-- name: unreported
SELECT id, counts FROM unreported_work WHERE asset = %(asset)s ORDER BY id

-- name: drop_reported
DELETE FROM unreported_work WHERE id = ANY(%(ids)s)

-- name: first_day
-- The first day with interactions or marks, and the stored first month of partitions.
SELECT least(
        (SELECT min(day) FROM interactions),
        (SELECT min(partition_key) FROM dirty_partitions WHERE asset = 'interaction_summaries')::date,
        (SELECT min(partition_key) FROM dirty_partitions WHERE asset = 'memory_chunks')::date
    ) AS day,
    (SELECT value FROM installation WHERE key = 'partitions_start')::date AS known

-- name: move_first_month
-- Never later: processed months stay partitions.
INSERT INTO installation (key, value) VALUES ('partitions_start', %(month)s)
ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE installation.value > excluded.value
