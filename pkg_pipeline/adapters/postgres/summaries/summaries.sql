-- name: claim
-- Due interactions of the days with fencing tokens: fewest attempts, oldest day, most important first. Interactions of
-- dirty chats wait, or they would be summarised twice. A backfill takes only those it chose; stale ones are due only there
-- (B5).
WITH due AS (
    SELECT i.id
    FROM interactions i
    JOIN eligible_chats c ON c.id = i.chat_id
    LEFT JOIN live_summaries s ON s.interaction_id = i.id
    LEFT JOIN summary_attempts a ON a.interaction_id = i.id AND a.input_hash = i.input_hash
        AND a.prompt_version = %(prompt_version)s AND a.model_version = %(model)s
    WHERE i.day BETWEEN %(first_day)s AND %(last_day)s
      AND i.message_count >= %(minimum)s AND i.token_count >= (SELECT least_summarised())
      AND is_of_age(i.ended_at, %(now)s, %(due_after)s, %(gap)s)
      AND (is_unsummarised(s.status, s.input_hash, i.input_hash)
           OR (%(redo_stale)s AND is_stale(s.prompt_version, s.model_version, s.schema_version, %(current)s, %(model)s, %(schema)s)))
      AND (%(backfill)s::uuid IS NULL OR EXISTS (
          SELECT FROM backfill_interactions b
          WHERE b.backfill_id = %(backfill)s::uuid AND b.interaction_id = i.id AND b.done_at IS NULL))
      AND (a.interaction_id IS NULL OR (a.state = 'waiting' AND a.retry_at <= clock_timestamp())
           OR (a.state = 'failed' AND %(retry_failed)s))
      AND i.id <> ALL (%(without)s::uuid[])
      AND NOT EXISTS (SELECT FROM held_leases l WHERE l.kind = 'summary' AND l.subject_id = i.id)
      AND NOT EXISTS (SELECT FROM dirty_partitions d WHERE is_near(d, i.chat_id, i.started_at, i.ended_at, %(gap)s))
    ORDER BY coalesce(a.attempts, 0), i.day, i.important_count DESC, i.ended_at, i.id
    LIMIT %(limit)s
    FOR UPDATE OF i SKIP LOCKED
)
SELECT subject_id, token FROM take_leases('summary', ARRAY(SELECT id FROM due), %(holder)s, %(lease)s)

-- name: claimed
-- Read after the lease was taken, as another worker may have published in between.
SELECT i.id, i.chat_id, i.day, i.started_at, i.ended_at, i.token_count, i.language, i.input_hash,
       coalesce(a.attempts, 0) AS attempts, coalesce(a.deferrals, 0) AS deferrals, g.token, c.source, c.external_id,
       s.id AS parent_summary_id, coalesce(s.revision_count, 0) AS parent_revision, i.message_count
FROM unnest(%(ids)s::uuid[], %(tokens)s::bigint[]) AS g (id, token)
JOIN interactions i ON i.id = g.id
JOIN chats c ON c.id = i.chat_id
LEFT JOIN live_summaries s ON s.interaction_id = i.id
LEFT JOIN summary_attempts a ON a.interaction_id = i.id AND a.input_hash = i.input_hash
    AND a.prompt_version = %(prompt_version)s AND a.model_version = %(model)s
WHERE is_unsummarised(s.status, s.input_hash, i.input_hash)
   OR (%(redo_stale)s AND is_stale(s.prompt_version, s.model_version, s.schema_version, %(current)s, %(model)s, %(schema)s))
ORDER BY coalesce(a.attempts, 0), i.day, i.important_count DESC, i.ended_at, i.id

-- name: messages
SELECT g.id AS interaction_id, m.external_id, m.sender_entity_id, m.sent_at, m.content, m.importance_score, m.importance_reason,
       (SELECT g2.metadata -> 'attachments' FROM messages g2 WHERE g2.id = m.id) AS attachments
FROM unnest(%(id)s::uuid[], %(chat_id)s::uuid[], %(started_at)s::timestamptz[], %(ended_at)s::timestamptz[]) AS g (id, chat_id, started_at, ended_at)
JOIN live_texts m ON m.chat_id = g.chat_id AND m.sent_at BETWEEN g.started_at AND g.ended_at
ORDER BY m.chat_id, m.sent_at, length(m.external_id), m.external_id COLLATE "C"

-- name: people
SELECT p.interaction_id, e.id AS entity_id, e.name, e.is_self, e.type, o.name AS organization, (names_of(e.id))[2:] AS other_names
FROM interaction_participants p JOIN entities e ON e.id = p.entity_id LEFT JOIN organizations o ON o.id = e.organization_id
WHERE p.interaction_id = ANY(%(ids)s)
UNION
SELECT g.id, e.id, e.name, e.is_self, e.type, o.name, (names_of(e.id))[2:]
FROM unnest(%(wrote_in)s::uuid[], %(senders)s::uuid[]) AS g (id, sender) JOIN entities e ON e.id = g.sender
LEFT JOIN organizations o ON o.id = e.organization_id

-- name: texts
-- The messages now: if one was edited or deleted meanwhile the new summary is saved as dirty.
SELECT m.external_id, m.content_hash FROM interactions i
JOIN live_messages m ON m.chat_id = i.chat_id AND m.sent_at BETWEEN i.started_at AND i.ended_at
WHERE i.id = %(interaction)s
ORDER BY m.sent_at, length(m.external_id), m.external_id COLLATE "C"

-- name: supersede_standing
-- Supersedes the previous summary and its attempts.
WITH attempts AS (
    DELETE FROM summary_attempts WHERE interaction_id = %(interaction)s
), months AS (
    -- interactions held back from the archive for lack of a summary
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT p.asset, p.partition_key, 'summarised'
    FROM interactions i JOIN partition_states p ON p.asset = 'archived_messages' AND p.pending > 0
        AND p.partition_key = month_key(i.day)
    WHERE i.id = %(interaction)s
), searched AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'memory_chunks', day_key(day), 'summarised' FROM interactions WHERE id = %(interaction)s
)
UPDATE live_summaries SET status = 'superseded', updated_at = clock_timestamp()
WHERE interaction_id = %(interaction)s AND id <> %(id)s

-- name: insert_summary
INSERT INTO interaction_summaries (id, interaction_id, parent_summary_id, status, dirty_reason, input_hash, prompt_version,
    model_version, language, summary, key_points, tone, important_messages,
    quarantined, message_ids, message_count, source_token_count, summary_token_count, compression_ratio, cost_usd,
    generation_seconds, revision_count, method, window_count, schema_version)
VALUES (%(id)s, %(interaction)s, %(parent)s, 'completed', NULL, %(input_hash)s, %(prompt_version)s, %(model)s,
    %(language)s, %(summary)s, %(key_points)s, %(tone)s, %(important)s,
    %(quarantined)s, %(message_ids)s, %(message_count)s, %(source_tokens)s, %(summary_tokens)s,
    round(%(source_tokens)s::numeric / greatest(%(summary_tokens)s, 1), 2), 
    -- all costs of this interaction not in an earlier row, windows of killed runs included; of a question about several its share
    CASE WHEN %(is_paid)s THEN greatest(%(cost_usd)s, (
        SELECT coalesce(sum(l.cost_usd / (SELECT count(*) FROM llm_call_subjects t WHERE t.call_id = l.id)), 0) FROM llm_call_subjects x JOIN llm_calls l ON l.id = x.call_id
        WHERE x.subject_kind = 'interaction' AND x.subject_id = %(interaction)s AND l.task LIKE 'interaction_summary%%'
    ) - (
        SELECT coalesce(sum(o.cost_usd), 0) FROM interaction_summaries o WHERE o.interaction_id = %(interaction)s AND o.id <> %(id)s
    )) ELSE 0 END,
    %(seconds)s, %(revision)s, %(method)s, %(windows)s, %(schema)s)
ON CONFLICT (id) DO UPDATE SET
    status = excluded.status, dirty_reason = excluded.dirty_reason, summary = excluded.summary, key_points = excluded.key_points,
    tone = excluded.tone, important_messages = excluded.important_messages,
    quarantined = excluded.quarantined, message_ids = excluded.message_ids, summary_token_count = excluded.summary_token_count,
    compression_ratio = excluded.compression_ratio, updated_at = clock_timestamp(),
    known_from = CASE WHEN interaction_summaries.summary = excluded.summary THEN interaction_summaries.known_from ELSE known_now() END

-- name: supersede_small
-- Supersedes summaries that rest on removed messages, of conversations with too few live messages for another (P11, P29).
WITH gone AS (
    UPDATE live_summaries s SET status = 'superseded', updated_at = clock_timestamp()
    FROM interactions i
    WHERE i.day BETWEEN %(first_day)s AND %(last_day)s AND i.id = s.interaction_id AND (i.message_count < %(minimum)s OR i.token_count < (SELECT least_summarised()))
      AND (s.status = 'dirty' OR s.input_hash <> i.input_hash)
      AND NOT EXISTS (SELECT FROM dirty_partitions d WHERE is_near(d, i.chat_id, i.started_at, i.ended_at, %(gap)s))
    RETURNING s.interaction_id
), attempts AS (
    DELETE FROM summary_attempts a USING gone WHERE a.interaction_id = gone.interaction_id
), searched AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'memory_chunks', day_key(i.day), 'summary let go' FROM interactions i JOIN gone ON gone.interaction_id = i.id
)
SELECT interaction_id FROM gone

-- name: mark_stale
-- A message was edited or deleted between claim and publication (P29).
UPDATE interaction_summaries SET status = 'dirty', dirty_reason = %(reason)s WHERE id = %(id)s

-- name: attempt
INSERT INTO summary_attempts AS a (interaction_id, input_hash, prompt_version, model_version, attempts, deferrals, state, retry_at, last_error)
VALUES (%(interaction)s, %(input_hash)s, %(prompt_version)s, %(model)s, %(attempts)s, %(deferrals)s, %(state)s,
        clock_timestamp() + make_interval(secs => %(retry_after)s), %(error)s)
ON CONFLICT (interaction_id) DO UPDATE SET
    input_hash = excluded.input_hash, prompt_version = excluded.prompt_version, model_version = excluded.model_version,
    attempts = excluded.attempts, deferrals = excluded.deferrals, state = excluded.state, retry_at = excluded.retry_at, last_error = excluded.last_error,
    updated_at = clock_timestamp()

-- name: revive
-- Interactions given up under another prompt or model are reset, and their day is due. Idempotent.
WITH again AS (
    DELETE FROM summary_attempts
    WHERE state = 'failed' AND (prompt_version, model_version) <> (%(prompt_version)s, %(model)s)
    RETURNING interaction_id
), marked AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'interaction_summaries', day_key(i.day), 'prompt or model changed'
    FROM again JOIN interactions i ON i.id = again.interaction_id GROUP BY i.day
)
SELECT count(*) FROM again

-- name: quarantine
-- The refused answer, for inspection only.
INSERT INTO interaction_summaries (id, interaction_id, parent_summary_id, status, input_hash, prompt_version, model_version,
    language, summary, quarantined, message_ids, message_count, source_token_count, summary_token_count, compression_ratio,
    cost_usd, generation_seconds)
VALUES (%(id)s, %(interaction)s, %(parent)s, 'quarantined', %(input_hash)s, %(prompt_version)s, %(model)s, %(language)s,
    %(answer)s, %(reasons)s, %(message_ids)s, %(message_count)s, %(source_tokens)s, 0, 0, %(cost_usd)s, 0)
ON CONFLICT (id) DO UPDATE SET summary = excluded.summary, quarantined = excluded.quarantined,
    cost_usd = interaction_summaries.cost_usd + excluded.cost_usd, updated_at = clock_timestamp()

-- name: counts
-- Counts per day. due_at: when a too young one becomes due (memory's clock); resume_at: when a postponed, leased or
-- unsegmented one does (database's clock).
SELECT i.day,
       count(*) FILTER (WHERE s.id IS NOT NULL AND NOT w.waits) AS summarized,
       count(*) FILTER (WHERE w.waits AND NOT w.failed) AS pending,
       count(*) FILTER (WHERE w.waits AND w.failed) AS failed,
       count(*) FILTER (WHERE w.waits AND w.failed AND EXISTS (
           SELECT FROM interaction_summaries q WHERE q.interaction_id = i.id AND q.status = 'quarantined')) AS quarantined,
       min(greatest(i.ended_at + make_interval(secs => %(due_after)s),
                    i.ended_at + make_interval(secs => %(gap)s) + interval '1 microsecond'))
           FILTER (WHERE w.waits AND NOT w.failed AND NOT w.is_of_age) AS due_at,
       min(greatest(clock_timestamp(), a.retry_at, l.expires_at, d.look_at))
           FILTER (WHERE w.waits AND NOT w.failed AND w.is_of_age) AS resume_at
FROM interactions i
JOIN eligible_chats c ON c.id = i.chat_id
LEFT JOIN live_summaries s ON s.interaction_id = i.id
LEFT JOIN summary_attempts a ON a.interaction_id = i.id AND a.input_hash = i.input_hash
    AND a.prompt_version = %(prompt_version)s AND a.model_version = %(model)s
    AND NOT (a.state = 'failed' AND %(retry_failed)s)
LEFT JOIN leases l ON l.kind = 'summary' AND l.subject_id = i.id
CROSS JOIN LATERAL (
    SELECT is_unsummarised(s.status, s.input_hash, i.input_hash)
           OR (%(redo_stale)s AND is_stale(s.prompt_version, s.model_version, s.schema_version, %(current)s, %(model)s, %(schema)s)) AS waits,
           coalesce(a.state = 'failed', false) AS failed,
           is_of_age(i.ended_at, %(now)s, %(due_after)s, %(gap)s) AS is_of_age
) w
LEFT JOIN LATERAL (
    SELECT clock_timestamp() + interval '1 minute' AS look_at FROM dirty_partitions d
    WHERE w.waits AND is_near(d, i.chat_id, i.started_at, i.ended_at, %(gap)s)
    LIMIT 1
) d ON true
WHERE i.day BETWEEN %(first_day)s AND %(last_day)s AND i.message_count >= %(minimum)s AND i.token_count >= (SELECT least_summarised())
  AND (%(backfill)s::uuid IS NULL OR EXISTS (
      SELECT FROM backfill_interactions b
      WHERE b.backfill_id = %(backfill)s::uuid AND b.interaction_id = i.id AND b.done_at IS NULL))
GROUP BY i.day ORDER BY i.day

-- name: waiting
-- Interactions due now and due later (too young or postponed), without given up ones. Long ones take one prompt per window.
SELECT count(*) FILTER (WHERE is_due) AS interactions,
       coalesce(sum(ceil(message_count::numeric / %(window)s)) FILTER (WHERE is_due AND NOT joins), 0)::bigint AS prompts,
       coalesce(sum(message_count) FILTER (WHERE is_due), 0)::bigint AS messages,
       coalesce(sum(token_count) FILTER (WHERE is_due), 0)::bigint AS message_tokens,
       count(*) FILTER (WHERE NOT is_due) AS later,
       count(*) FILTER (WHERE is_due AND joins) AS joined,
       coalesce(sum(token_count) FILTER (WHERE is_due AND joins), 0)::bigint AS joined_tokens
FROM (
SELECT i.message_count, i.token_count,
       %(most)s > 1 AND s.id IS NULL AND coalesce(a.attempts, 0) = 0 AND i.token_count <= %(short)s AND i.message_count <= %(window)s AS joins,
       is_of_age(i.ended_at, %(now)s, %(due_after)s, %(gap)s)
       AND (a.interaction_id IS NULL OR a.retry_at <= clock_timestamp()) AS is_due
FROM interactions i JOIN eligible_chats c ON c.id = i.chat_id
LEFT JOIN live_summaries s ON s.interaction_id = i.id
LEFT JOIN summary_attempts a ON a.interaction_id = i.id AND a.input_hash = i.input_hash
    AND a.prompt_version = %(prompt_version)s AND a.model_version = %(model)s
WHERE i.message_count >= %(minimum)s AND i.token_count >= (SELECT least_summarised()) AND (is_unsummarised(s.status, s.input_hash, i.input_hash))
  AND a.state IS DISTINCT FROM 'failed'
) w
