-- What models and rules made of conversations goes, to be made again (B8). What people said and decided stays, and every answer.

-- name: count
SELECT (SELECT count(*) FROM interaction_summaries) AS summaries, (SELECT count(*) FROM interaction_readings) AS readings,
       (SELECT count(*) FROM items) AS items,
       (SELECT count(*) FROM entity_facts WHERE interaction_id IS NOT NULL) AS facts,
       (SELECT count(*) FROM entity_relationship_profiles) AS profiles,
       (SELECT count(*) FROM llm_calls WHERE outcome IN ('ok', 'quarantined') AND reply IS NOT NULL) AS kept_answers

-- name: lock
-- As whoever folds items does, and whoever saves profiles.
SELECT pg_advisory_xact_lock(hashtext('items')), pg_advisory_xact_lock(7310527)

-- name: mark
-- All that has been worked on is due again; pieces for search are compared, and vectors of the same words stay.
INSERT INTO dirty_partitions (asset, partition_key, reason)
SELECT a.asset, day_key(i.day), 'made anew' FROM interactions i
CROSS JOIN unnest('{interaction_summaries,memory_chunks}'::text[]) AS a (asset) GROUP BY a.asset, i.day
UNION ALL
SELECT 'entity_relationship_profiles', to_char(week, 'YYYY-MM-DD'), 'made anew' FROM entity_relationship_profiles GROUP BY week

-- name: clear
WITH summaries AS (DELETE FROM interaction_summaries), untold AS (DELETE FROM summary_attempts),
     readings AS (DELETE FROM interaction_readings), unread AS (DELETE FROM reading_attempts), items AS (DELETE FROM items),
     facts AS (DELETE FROM entity_facts WHERE interaction_id IS NOT NULL),
     profiles AS (DELETE FROM entity_relationship_profiles), unmade AS (DELETE FROM profile_attempts)
DELETE FROM chunk_states
