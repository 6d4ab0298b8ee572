-- name: lock
-- Serializes requests, so that equal ones become one.
SELECT pg_advisory_xact_lock(hashtext('backfills'))

-- name: same
SELECT id FROM backfills
WHERE state IN ('requested', 'running') AND request - 'ended_before' = %(request)s::jsonb
ORDER BY requested_at LIMIT 1

-- name: choose
-- Matching interactions, oldest first. Stale: of another prompt, model or schema (B5); given up ones only on request.
SELECT i.id, i.day, i.message_count AS messages, i.token_count AS message_tokens,
       ceil(i.message_count::numeric / %(window)s)::int AS prompts,
       %(most)s > 1 AND s.id IS NULL AND coalesce(a.attempts, 0) = 0 AND i.token_count <= %(short)s AND i.message_count <= %(window)s AS joins
FROM interactions i
JOIN eligible_chats c ON c.id = i.chat_id
LEFT JOIN live_summaries s ON s.interaction_id = i.id
LEFT JOIN summary_attempts a ON a.interaction_id = i.id AND a.input_hash = i.input_hash
    AND a.prompt_version = %(prompt_version)s AND a.model_version = %(model)s AND a.state = 'failed'
WHERE i.day BETWEEN %(first_day)s AND %(last_day)s
  AND i.message_count >= %(minimum)s AND i.token_count >= (SELECT least_summarised())
  AND is_of_age(i.ended_at, %(now)s, %(due_after)s, %(gap)s)
  AND CASE WHEN %(redo_stale)s
      THEN is_stale(s.prompt_version, s.model_version, s.schema_version, %(current)s, %(model)s, %(schema)s)
      ELSE is_unsummarised(s.status, s.input_hash, i.input_hash) END
  AND (a.interaction_id IS NOT NULL) = %(retry_failed)s
ORDER BY i.ended_at, i.id
LIMIT %(limit)s

-- name: create
INSERT INTO backfills (asset, request, forecast, requested_by)
VALUES ('interaction_summaries', %(request)s::jsonb || jsonb_build_object('ended_before', %(ended_before)s::timestamptz),
        %(forecast)s::jsonb, %(requested_by)s)
RETURNING id

-- name: create_interactions
INSERT INTO backfill_interactions (backfill_id, interaction_id, day)
SELECT %(backfill)s, id, day FROM unnest(%(id)s::uuid[], %(day)s::date[]) AS g (id, day)

-- name: request_of
SELECT request - 'ended_before' AS request, state FROM backfills WHERE id = %(backfill)s

-- name: begin
UPDATE backfills SET state = 'running', resume_at = NULL, waits_for = NULL
WHERE id = %(backfill)s AND state IN ('requested', 'running')

-- name: rest
UPDATE backfills SET resume_at = clock_timestamp() + make_interval(secs => %(seconds)s), waits_for = %(reason)s
WHERE id = %(backfill)s AND state IN ('requested', 'running')

-- name: cancel
UPDATE backfills SET state = 'cancelled', finished_at = clock_timestamp(), resume_at = NULL, waits_for = NULL
WHERE id = %(backfill)s AND state IN ('requested', 'running') RETURNING id

-- name: follow_days
-- An older export may have moved an interaction's start and day.
UPDATE backfill_interactions b SET day = i.day FROM interactions i
WHERE b.backfill_id = %(backfill)s AND b.done_at IS NULL AND i.id = b.interaction_id AND i.day <> b.day

-- name: tick_off
-- Done: has the requested summary, was given up, is gone, or was continued since (then the live lane's). Derived from
-- current rows, so a killed run makes no difference.
UPDATE backfill_interactions b SET done_at = clock_timestamp()
FROM backfills f
WHERE f.id = %(backfill)s AND b.backfill_id = f.id AND b.done_at IS NULL AND b.day BETWEEN %(first_day)s AND %(last_day)s
  AND NOT EXISTS (
      SELECT FROM interactions i
      JOIN eligible_chats c ON c.id = i.chat_id
      LEFT JOIN live_summaries s ON s.interaction_id = i.id
      LEFT JOIN summary_attempts a ON a.interaction_id = i.id AND a.input_hash = i.input_hash
          AND a.prompt_version = %(prompt_version)s AND a.model_version = %(model)s AND a.state = 'failed'
          AND NOT (%(retry_failed)s AND a.updated_at <= f.requested_at)
      WHERE i.id = b.interaction_id AND i.message_count >= %(minimum)s AND i.token_count >= (SELECT least_summarised())
        AND i.ended_at <= (f.request ->> 'ended_before')::timestamptz
        AND (is_unsummarised(s.status, s.input_hash, i.input_hash)
             OR (%(redo_stale)s AND is_stale(s.prompt_version, s.model_version, s.schema_version, %(current)s, %(model)s, %(schema)s)))
        AND a.interaction_id IS NULL)

-- name: end
UPDATE backfills f SET state = 'done', finished_at = clock_timestamp(), resume_at = NULL, waits_for = NULL
WHERE f.id = %(backfill)s AND f.state IN ('requested', 'running')
  AND NOT EXISTS (SELECT FROM backfill_interactions b WHERE b.backfill_id = f.id AND b.done_at IS NULL)

-- name: left
SELECT count(*) FROM backfill_interactions WHERE backfill_id = %(backfill)s AND done_at IS NULL

-- name: ready_days
-- Conditions of the claim: too young, postponed, leased, or in a dirty chat are asked for later.
SELECT DISTINCT i.day
FROM backfill_interactions b
JOIN interactions i ON i.id = b.interaction_id
LEFT JOIN summary_attempts a ON a.interaction_id = i.id AND a.input_hash = i.input_hash
    AND a.prompt_version = %(prompt_version)s AND a.model_version = %(model)s
WHERE b.backfill_id = %(backfill)s AND b.done_at IS NULL
  AND i.ended_at < %(now)s::timestamptz - make_interval(secs => %(gap)s)
  AND (a.interaction_id IS NULL OR (a.state = 'waiting' AND a.retry_at <= clock_timestamp())
       OR (a.state = 'failed' AND %(retry_failed)s))
  AND NOT EXISTS (SELECT FROM held_leases l WHERE l.kind = 'summary' AND l.subject_id = i.id)
  AND NOT EXISTS (SELECT FROM dirty_partitions d WHERE is_near(d, i.chat_id, i.started_at, i.ended_at, %(gap)s))
ORDER BY i.day

-- name: open
SELECT id, CASE WHEN resume_at > clock_timestamp() THEN resume_at END AS resume_at
FROM backfills WHERE state IN ('requested', 'running') ORDER BY requested_at, id

-- name: listed
SELECT f.id, f.state, f.request - 'ended_before' AS request, f.forecast, f.requested_by, f.requested_at, f.finished_at, f.resume_at,
       f.waits_for, p.summarized, p.failed, p.done - p.summarized - p.failed AS dropped, p.remaining AS left, y.in_batches, x.calls, x.tokens, x.usd
FROM (
    SELECT * FROM backfills WHERE %(only)s::uuid IS NULL OR id = %(only)s::uuid
    ORDER BY requested_at DESC, id LIMIT %(limit)s
) f
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE b.done_at IS NULL) AS remaining, count(b.done_at) AS done,
           count(*) FILTER (WHERE b.done_at IS NOT NULL AND s.id IS NOT NULL) AS summarized,
           count(*) FILTER (WHERE b.done_at IS NOT NULL AND s.id IS NULL AND a.interaction_id IS NOT NULL) AS failed
    FROM backfill_interactions b
    LEFT JOIN live_summaries s ON s.interaction_id = b.interaction_id
        AND s.generated_at >= f.requested_at
    LEFT JOIN summary_attempts a ON a.interaction_id = b.interaction_id AND a.state = 'failed'
    WHERE b.backfill_id = f.id
) p
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE l.input_tokens + l.output_tokens > 0) AS calls,
           coalesce(sum(l.input_tokens + l.output_tokens + l.cache_read_tokens + l.cache_write_tokens), 0)::bigint AS tokens,
           coalesce(sum(l.cost_usd), 0)::float8 AS usd
    FROM llm_calls l WHERE l.backfill_id = f.id
) x
CROSS JOIN LATERAL (
    SELECT count(DISTINCT s.subject_id)::int AS in_batches
    FROM llm_batches t JOIN llm_batch_items i ON i.batch_id = t.id AND i.worked_at IS NULL
    JOIN llm_batch_subjects s ON s.item_id = i.id
    WHERE t.backfill_id = f.id AND t.state NOT IN ('done', 'dropped')
) y
ORDER BY f.requested_at DESC, f.id

-- name: stale_count
-- A loose index scan over versions; only stale ones are counted.
WITH RECURSIVE made AS (
    (SELECT prompt_version, model_version, schema_version FROM live_summaries
     ORDER BY prompt_version, model_version, schema_version LIMIT 1)
    UNION ALL
    SELECT n.prompt_version, n.model_version, n.schema_version FROM made m CROSS JOIN LATERAL (
        SELECT s.prompt_version, s.model_version, s.schema_version FROM live_summaries s
        WHERE (s.prompt_version, s.model_version, s.schema_version)
              > (m.prompt_version, m.model_version, m.schema_version)
        ORDER BY s.prompt_version, s.model_version, s.schema_version LIMIT 1
    ) n
)
SELECT count(*)
FROM made m
JOIN live_summaries s ON s.prompt_version = m.prompt_version
    AND s.model_version = m.model_version AND s.schema_version = m.schema_version
JOIN interactions i ON i.id = s.interaction_id AND i.message_count >= %(minimum)s AND i.token_count >= (SELECT least_summarised())
JOIN eligible_chats c ON c.id = i.chat_id
WHERE is_stale(m.prompt_version, m.model_version, m.schema_version, %(current)s, %(model)s, %(schema)s)
