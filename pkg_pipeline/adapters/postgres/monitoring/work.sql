-- name: silent_interactions
-- One look into the partial index over active interactions.
SELECT count(*) FROM interactions WHERE status = 'active' AND ended_at < %(before)s

-- name: pending
-- What attempts left undone, over all partitions of an asset.
SELECT coalesce(sum(pending), 0)::bigint FROM partition_states WHERE asset = %(asset)s

-- name: live_summaries
-- One is enough to know.
SELECT count(*) FROM (SELECT FROM live_summaries LIMIT 1) found

-- name: keep_setting
-- What is fixed when the memory is made.
INSERT INTO installation (key, value) VALUES (%(key)s, %(value)s) ON CONFLICT DO NOTHING

-- name: carry_setting
INSERT INTO installation (key, value) VALUES (%(key)s, %(value)s)
ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE installation.value <> excluded.value

-- name: runs_table
SELECT to_regclass('dagster.runs')

-- name: unfinished_runs
SELECT EXISTS (
    SELECT FROM dagster.runs WHERE status IN ('QUEUED', 'NOT_STARTED', 'STARTING', 'STARTED', 'CANCELING')
)

-- name: has_messages
SELECT EXISTS (SELECT FROM messages)

-- name: installed
-- All that opening a memory has to know of it.
SELECT
    (SELECT version_num FROM alembic_version) AS revision,
    (SELECT value FROM installation WHERE key = 'timezone') AS timezone

-- name: kept_setting
SELECT value FROM installation WHERE key = %(key)s

-- name: change_setting
-- What may become another: by what the memory was indexed last.
INSERT INTO installation (key, value) VALUES (%(key)s, %(value)s) ON CONFLICT (key) DO UPDATE SET value = excluded.value

-- name: leave_unreported
INSERT INTO unreported_work (asset, counts) VALUES (%(asset)s, %(counts)s)

-- name: unreported
SELECT id, counts FROM unreported_work WHERE asset = %(asset)s ORDER BY id

-- name: drop_reported
DELETE FROM unreported_work WHERE id = ANY(%(ids)s)

-- name: first_day
-- The first day that anything is filed under or waits for, and the month in which partitions began when last asked for.
SELECT least(
        (SELECT min(day) FROM interactions),
        (SELECT min(partition_key) FROM dirty_partitions WHERE asset = 'interaction_summaries')::date,
        (SELECT min(partition_key) FROM dirty_partitions WHERE asset = 'memory_chunks')::date
    ) AS day,
    (SELECT value FROM installation WHERE key = 'partitions_start')::date AS known

-- name: move_first_month
-- Never forward: what was worked off under a month stays below it.
INSERT INTO installation (key, value) VALUES ('partitions_start', %(month)s)
ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE installation.value > excluded.value
