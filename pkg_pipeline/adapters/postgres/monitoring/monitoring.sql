-- Figures and queues (P30, P31). Days of the memory stand in the statistics as they were counted last; those that changed
-- since are counted while they are read, the newest %(most_days)s of them: up to so many every answer is exact, and beyond
-- it the others stand as they were. Only the statements at the end write.

-- name: figures
-- Sums over all days: those that stand as they were counted, and the marked ones counted now.
WITH changed AS MATERIALIZED (
    SELECT day FROM day_statistics_marks
    UNION
    SELECT day FROM day_statistics WHERE minimum_messages <> %(minimum)s
), marked AS MATERIALIZED (
    SELECT day FROM changed ORDER BY day DESC LIMIT %(most_days)s
), days AS MATERIALIZED (
    SELECT interactions, eligible, summarized, pending, failed, oldest_pending_at, summaries, generation_seconds,
           compression_ratios, cost_usd, key_points, decisions, open_action_items, versions
    FROM day_statistics d WHERE NOT EXISTS (SELECT FROM marked m WHERE m.day = d.day)
    UNION ALL
    SELECT interactions, eligible, summarized, pending, failed, oldest_pending_at, summaries, generation_seconds,
           compression_ratios, cost_usd, key_points, decisions, open_action_items, versions
    FROM count_days((SELECT array_agg(day) FROM marked), %(minimum)s)
)
SELECT coalesce(sum(interactions), 0)::bigint, coalesce(sum(eligible), 0)::bigint, coalesce(sum(summarized), 0)::bigint,
       coalesce(sum(pending), 0)::bigint, coalesce(sum(failed), 0)::bigint, min(oldest_pending_at),
       coalesce(sum(summaries), 0)::bigint, coalesce(sum(generation_seconds), 0), coalesce(sum(compression_ratios), 0)::float8,
       coalesce(sum(cost_usd), 0)::float8, coalesce(sum(key_points), 0)::bigint, coalesce(sum(decisions), 0)::bigint,
       coalesce(sum(open_action_items), 0)::bigint,
       (SELECT coalesce(sum(message_count), 0)::bigint FROM archive_months WHERE state = 'kept'),
       (SELECT count(*) FROM marked), (SELECT count(*) FROM changed) - (SELECT count(*) FROM marked),
       (SELECT coalesce(jsonb_object_agg(version, number), '{}') FROM (
            SELECT v.key AS version, sum(v.value::bigint) AS number
            FROM days d CROSS JOIN LATERAL jsonb_each_text(d.versions) v GROUP BY v.key) made)
FROM days

-- name: ledger
-- Every sort of call with its totals, and what it cost today and this month by the database's clock.
WITH clock AS MATERIALIZED (SELECT (clock_timestamp() AT TIME ZONE %(timezone)s)::date AS today),
marked AS MATERIALIZED (
    SELECT (hour AT TIME ZONE %(timezone)s)::date AS day FROM ledger_statistics_marks
    UNION
    SELECT ((hour + interval '1 hour - 1 microsecond') AT TIME ZONE %(timezone)s)::date FROM ledger_statistics_marks
), days AS (
    SELECT day, lane, task, model, outcome, calls, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
           cost_usd, duration_seconds
    FROM ledger_statistics l WHERE NOT EXISTS (SELECT FROM marked m WHERE m.day = l.day)
    UNION ALL
    SELECT day, lane, task, model, outcome, calls, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
           cost_usd, duration_seconds
    FROM count_ledger((SELECT array_agg(day) FROM marked), %(timezone)s)
)
SELECT lane, task, model, outcome, sum(calls)::bigint, sum(input_tokens)::bigint, sum(output_tokens)::bigint,
       sum(cache_read_tokens)::bigint, sum(cache_write_tokens)::bigint, sum(duration_seconds), sum(cost_usd)::float8,
       coalesce(sum(cost_usd) FILTER (WHERE day = today), 0)::float8,
       coalesce(sum(cost_usd) FILTER (WHERE day >= date_trunc('month', today) AND day <= today), 0)::float8
FROM days CROSS JOIN clock GROUP BY lane, task, model, outcome ORDER BY lane, task, model, outcome

-- name: budgets
-- What each lane and task took today and this week (which begins on Sunday), and when day and week end; one row without
-- a lane where nothing was taken. Reservations of calls under way count.
WITH clock AS MATERIALIZED (SELECT (clock_timestamp() AT TIME ZONE %(timezone)s)::date AS today),
period AS (SELECT today, today - extract(dow FROM today)::int AS sunday FROM clock)
SELECT b.lane, b.task, coalesce(sum(b.calls) FILTER (WHERE b.day = p.today), 0)::int, coalesce(sum(b.calls), 0)::int,
       coalesce(sum(b.reserved_usd + b.spent_usd) FILTER (WHERE b.day = p.today), 0)::float8,
       (p.today + 1)::timestamp AT TIME ZONE %(timezone)s, (p.sunday + 7)::timestamp AT TIME ZONE %(timezone)s
FROM period p LEFT JOIN budgets b ON b.day >= p.sunday AND b.day < p.sunday + 7
GROUP BY b.lane, b.task, p.today, p.sunday ORDER BY b.lane, b.task

-- name: stopped_lanes
-- Lanes that rest since their last calls in a row brought no whole answer, and until when.
SELECT lane, calls, last_at + make_interval(secs => %(rest_seconds)s) AS until FROM unanswered_calls
WHERE calls >= %(limit)s AND last_at + make_interval(secs => %(rest_seconds)s) > clock_timestamp() ORDER BY lane

-- name: leftovers
-- What attempts left undone, by asset: partitions and rows, how many of them are put off by the database's clock, until
-- when, and when the first of what is too young comes of age by the memory's.
SELECT asset, count(*)::int, sum(pending)::bigint,
       coalesce(sum(pending) FILTER (WHERE resume_at > clock_timestamp()), 0)::bigint,
       min(resume_at) FILTER (WHERE resume_at > clock_timestamp()), min(due_at)
FROM partition_states WHERE pending > 0 GROUP BY asset ORDER BY asset

-- name: counts
-- How many are worked on, are given up, or are under way as a backfill. What waits is in the figures.
SELECT (SELECT count(*) FROM held_leases WHERE kind = 'summary'),
       (SELECT count(*) FROM held_leases WHERE kind <> 'summary'),
       (SELECT count(*) FROM profile_attempts WHERE state = 'waiting'),
       (SELECT count(*) FROM profile_attempts WHERE state = 'failed'),
       (SELECT count(*) FROM backfills WHERE state IN ('requested', 'running'))

-- name: waiting
-- Interactions that wait, by day and end. The days that fill a page are found first, by what each has pending.
WITH changed AS MATERIALIZED (
    SELECT day FROM day_statistics_marks
    UNION
    SELECT day FROM day_statistics WHERE minimum_messages <> %(minimum)s
), marked AS MATERIALIZED (
    SELECT day FROM changed ORDER BY day DESC LIMIT %(most_days)s
), days AS (
    SELECT day, pending FROM day_statistics d
    WHERE pending > 0 AND day >= %(after_day)s AND NOT EXISTS (SELECT FROM marked m WHERE m.day = d.day)
    UNION ALL
    SELECT day, pending
    FROM count_days((SELECT array_agg(day) FROM marked WHERE day >= %(after_day)s), %(minimum)s) WHERE pending > 0
), chosen AS MATERIALIZED (
    -- the first day may be used up by the page before, and what is worked on is pending too
    SELECT day FROM (
        SELECT day, sum(CASE WHEN day > %(after_day)s THEN pending ELSE 0 END)
                    OVER (ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
        FROM days
    ) d WHERE coalesce(before, 0) < %(limit)s + (SELECT count(*) FROM leases WHERE kind = 'summary')
)
SELECT i.id, c.source, c.external_id, i.day, i.started_at, i.ended_at, i.message_count, coalesce(a.attempts, 0),
       CASE WHEN a.retry_at > clock_timestamp() THEN a.retry_at END, a.last_error,
       EXISTS (SELECT FROM dirty_partitions d WHERE is_near(d, i.chat_id, i.started_at, i.ended_at, %(gap)s)),
       s.status
FROM interactions i
JOIN eligible_chats c ON c.id = i.chat_id
LEFT JOIN live_summaries s ON s.interaction_id = i.id
LEFT JOIN summary_attempts a ON a.interaction_id = i.id AND a.input_hash = i.input_hash
WHERE i.day = ANY (ARRAY(SELECT day FROM chosen)) AND i.status = 'completed' AND i.message_count >= %(minimum)s
  AND (is_unsummarised(s.status, s.input_hash, i.input_hash)) AND a.state IS DISTINCT FROM 'failed'
  AND NOT EXISTS (SELECT FROM held_leases l WHERE l.kind = 'summary' AND l.subject_id = i.id)
  AND (i.day, i.ended_at, i.id) > (%(after_day)s, %(after_at)s, %(after_id)s)
ORDER BY i.day, i.ended_at, i.id LIMIT %(limit)s

-- name: active
-- Leases in force, by kind and subject; a profile's subject is no interaction.
SELECT l.kind, l.subject_id, l.holder, l.expires_at, c.source, c.external_id, i.started_at, i.ended_at, i.message_count,
       coalesce(a.attempts, 0)
FROM held_leases l
LEFT JOIN interactions i ON l.kind = 'summary' AND i.id = l.subject_id
LEFT JOIN chats c ON c.id = i.chat_id
LEFT JOIN summary_attempts a ON a.interaction_id = i.id AND a.input_hash = i.input_hash
WHERE (l.kind, l.subject_id) > (%(after_kind)s, %(after_id)s)
ORDER BY l.kind, l.subject_id LIMIT %(limit)s

-- name: failed
-- What was given up, in the order in which it was; an attempt at what the interaction no longer says is none.
SELECT i.id, c.source, c.external_id, i.day, i.started_at, i.ended_at, i.message_count, a.attempts, a.updated_at, a.last_error
FROM summary_attempts a
JOIN interactions i ON i.id = a.interaction_id AND i.input_hash = a.input_hash
JOIN eligible_chats c ON c.id = i.chat_id
LEFT JOIN live_summaries s ON s.interaction_id = i.id
WHERE a.state = 'failed' AND (a.updated_at, a.interaction_id) > (%(after_at)s, %(after_id)s)
  AND i.status = 'completed' AND i.message_count >= %(minimum)s
  AND (is_unsummarised(s.status, s.input_hash, i.input_hash))
ORDER BY a.updated_at, a.interaction_id LIMIT %(limit)s

-- name: partitions
SELECT asset, partition_key, pending, attempts, due_at, CASE WHEN resume_at > clock_timestamp() THEN resume_at END,
       attempted_at
FROM partition_states
WHERE pending > 0 AND (asset, partition_key) > (%(after_asset)s, %(after_key)s)
ORDER BY asset, partition_key LIMIT %(limit)s

-- name: backfills
-- Open ones, oldest first, with what is left of each.
SELECT b.id, b.asset, b.state, b.request, b.forecast, b.requested_by, b.requested_at,
       (SELECT count(*) FROM backfill_interactions x WHERE x.backfill_id = b.id AND x.done_at IS NULL)
FROM backfills b
WHERE b.state IN ('requested', 'running') AND (b.requested_at, b.id) > (%(after_at)s, %(after_id)s)
ORDER BY b.requested_at, b.id LIMIT %(limit)s

-- name: lock
-- One counter at a time, held by the connection: the snapshot that counts must be taken after the lock was got.
SELECT pg_try_advisory_lock(7310526)

-- name: unlock
SELECT pg_advisory_unlock(7310526)

-- name: days_to_count
SELECT day FROM day_statistics_marks
UNION
SELECT day FROM day_statistics WHERE minimum_messages <> %(minimum)s
ORDER BY day

-- name: drop_day_marks
DELETE FROM day_statistics_marks WHERE day = ANY (%(days)s)

-- name: drop_days
DELETE FROM day_statistics WHERE day = ANY (%(days)s)

-- name: keep_days
INSERT INTO day_statistics (day, minimum_messages, interactions, eligible, summarized, pending, failed, oldest_pending_at,
    summaries, generation_seconds, compression_ratios, cost_usd, key_points, decisions, open_action_items, versions)
SELECT day, %(minimum)s, interactions, eligible, summarized, pending, failed, oldest_pending_at,
    summaries, generation_seconds, compression_ratios, cost_usd, key_points, decisions, open_action_items, versions
FROM count_days(%(days)s::date[], %(minimum)s)

-- name: hours_to_count
SELECT DISTINCT hour FROM ledger_statistics_marks ORDER BY hour

-- name: drop_hour_marks
-- Gives the local days that the hours touch: two where midnight is within the hour.
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
