-- Recounts changed days and hours (P30). Reads are in figures.py and queues.py.

-- name: lock
-- One counter at a time, by a session-level lock: its snapshot must be taken after the lock.
SELECT pg_try_advisory_lock(7310526)

-- name: unlock
SELECT pg_advisory_unlock(7310526)

-- name: days_to_count
SELECT day FROM day_statistics_marks
UNION
SELECT day FROM day_statistics WHERE minimum_messages <> %(minimum)s
ORDER BY day

-- name: count_all_anew
-- Where what is summarised changed.
INSERT INTO day_statistics_marks (day, transaction, marked_at)
SELECT day, pg_current_xact_id()::text::bigint, transaction_timestamp() FROM day_statistics
ON CONFLICT DO NOTHING

-- name: drop_day_marks
DELETE FROM day_statistics_marks WHERE day = ANY (%(days)s)

-- name: drop_days
DELETE FROM day_statistics WHERE day = ANY (%(days)s)

-- name: keep_days
INSERT INTO day_statistics (day, minimum_messages, interactions, eligible, summarized, pending, failed, oldest_pending_at,
    summaries, generation_seconds, compression_ratios, cost_usd, key_points, decisions, versions)
SELECT day, %(minimum)s, interactions, eligible, summarized, pending, failed, oldest_pending_at,
    summaries, generation_seconds, compression_ratios, cost_usd, key_points, decisions, versions
FROM count_days(%(days)s::date[], %(minimum)s)

-- name: hours_to_count
SELECT DISTINCT hour FROM ledger_statistics_marks ORDER BY hour

-- name: drop_hour_marks
-- Returns the local days of the hours: two where midnight is within the hour.
WITH gone AS (
    DELETE FROM ledger_statistics_marks WHERE hour = ANY (%(hours)s) RETURNING hour
)
SELECT (hour AT TIME ZONE %(timezone)s)::date FROM gone
UNION
SELECT ((hour + interval '1 hour - 1 microsecond') AT TIME ZONE %(timezone)s)::date FROM gone

-- name: drop_ledger_days
DELETE FROM ledger_statistics WHERE day = ANY (%(days)s)

-- name: keep_ledger_days
INSERT INTO ledger_statistics (day, lane, task, model, outcome, calls, input_tokens, output_tokens, cache_read_tokens,
    cache_write_tokens, cost_usd, duration_seconds)
SELECT day, lane, task, model, outcome, calls, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd,
    duration_seconds
FROM count_ledger(%(days)s::date[], %(timezone)s)
