-- name: silent_interactions
-- One look into the partial index over active interactions.
SELECT count(*) FROM interactions WHERE status = 'active' AND ended_at < %(before)s

-- name: pending
-- What attempts left undone, over all partitions of an asset.
SELECT coalesce(sum(pending), 0)::bigint FROM partition_states WHERE asset = %(asset)s
