-- Folds of live sessions (H, W4, L3): leases, rows, topics, session columns. Lock order: chat (as appends and imports),
-- session, lease.

-- name: view
-- The state and other columns a worker needs.
SELECT t.*, c.source AS chat_source, c.external_id AS chat_external_id, s.attempts, s.running_summary AS text,
       s.running_token_count AS tokens, s.running_fold_id AS fold_id
FROM session_states t JOIN conversation_sessions s ON s.id = t.id JOIN chats c ON c.id = t.id WHERE t.id = %(session)s

-- name: page
-- Comparing pairs makes the planner use the index of the chat's order; with an equality it may scan all messages by id.
SELECT m.id, m.external_id, m.sent_at, own_words(m.content, r.own) AS text, m.role, m.kind, m.parts, m.sender_entity_id,
       coalesce(e.name, '') AS sender_name, coalesce(e.is_self, false) AS is_self, m.is_outgoing, m.content_hash,
       m.token_count, m.importance_score, m.importance_reason
FROM message_texts m LEFT JOIN entities e ON e.id = m.sender_entity_id
LEFT JOIN message_echoes r ON r.message_id = m.id AND r.content_hash = m.content_hash
WHERE (m.chat_id, m.id) > (%(session)s::uuid, %(after)s::bigint) AND (m.chat_id, m.id) <= (%(session)s::uuid, %(to)s::bigint)
  AND m.deleted_at IS NULL
ORDER BY m.chat_id, m.id LIMIT %(limit)s

-- name: tail
SELECT m.id, m.external_id, m.sent_at, own_words(m.content, r.own) AS text, m.role, m.kind, m.parts, m.sender_entity_id,
       coalesce(e.name, '') AS sender_name, coalesce(e.is_self, false) AS is_self, m.is_outgoing, m.content_hash,
       m.token_count, m.importance_score, m.importance_reason
FROM (
    SELECT id FROM messages
    WHERE (chat_id, id) > (%(session)s::uuid, %(after)s::bigint) AND (chat_id, id) <= (%(session)s::uuid, 9223372036854775807)
      AND deleted_at IS NULL
    ORDER BY chat_id DESC, id DESC LIMIT %(limit)s
) l JOIN message_texts m ON m.id = l.id LEFT JOIN entities e ON e.id = m.sender_entity_id
LEFT JOIN message_echoes r ON r.message_id = m.id AND r.content_hash = m.content_hash
ORDER BY m.id

-- name: earlier
SELECT summary FROM standing_folds
WHERE session_id = %(session)s AND dirty_reason IS DISTINCT FROM 'deleted'
  AND to_message_id < %(before)s AND summary <> ''
ORDER BY to_message_id DESC LIMIT %(limit)s

-- name: summaries
SELECT to_message_id, summary FROM standing_folds
WHERE session_id = %(session)s AND dirty_reason IS DISTINCT FROM 'deleted'
ORDER BY to_message_id

-- name: next_dirty
SELECT id, from_message_id - 1 AS after_id, to_message_id AS to_id, to_at, trigger, input_hash,
       dirty_reason = 'deleted' AS rests_on_deleted FROM session_summaries
WHERE session_id = %(session)s AND status = 'dirty' ORDER BY to_message_id LIMIT 1

-- name: is_folded
SELECT EXISTS (
    SELECT FROM standing_folds
    WHERE session_id = %(session)s AND to_message_id = %(to)s AND input_hash = %(input_hash)s)

-- name: due
-- Counted up to a limit.
SELECT count(*) FROM (
    SELECT FROM conversation_sessions s
    WHERE s.next_due_at <= %(now)s AND (s.retry_at IS NULL OR s.retry_at <= clock_timestamp())
      AND NOT EXISTS (SELECT FROM held_leases l WHERE l.kind = 'session' AND l.subject_id = s.id)
    LIMIT %(limit)s
) found

-- name: unfolded
-- Whether the scheduled fold would find anything, counted up to a limit.
SELECT count(*) FROM (SELECT FROM conversation_sessions WHERE messages_since_hwm >= %(least)s LIMIT %(limit)s) found

-- name: ask_all
-- H7: the scheduled fold. Sessions locked by a writer are skipped: they are alive.
UPDATE conversation_sessions s SET event = 'scheduled', next_due_at = least(s.next_due_at, %(now)s), updated_at = clock_timestamp(),
    is_pending = s.is_pending OR EXISTS (
        SELECT FROM held_leases l WHERE l.kind = 'session' AND l.subject_id = s.id)
FROM (
    SELECT id FROM conversation_sessions WHERE messages_since_hwm >= %(least)s AND event IS NULL FOR NO KEY UPDATE SKIP LOCKED
) g WHERE s.id = g.id

-- name: claim
WITH due AS MATERIALIZED (
    SELECT s.id FROM conversation_sessions s
    WHERE s.next_due_at <= %(now)s AND (s.retry_at IS NULL OR s.retry_at <= clock_timestamp()) AND s.id <> ALL(%(besides)s::uuid[])
      AND NOT EXISTS (SELECT FROM held_leases l WHERE l.kind = 'session' AND l.subject_id = s.id)
    ORDER BY s.next_due_at, s.id LIMIT %(limit)s
    FOR NO KEY UPDATE OF s SKIP LOCKED
)
SELECT subject_id AS session_id, token FROM take_leases('session', ARRAY(SELECT id FROM due), %(holder)s, %(lease)s)

-- name: ask
-- Requests a fold now; if a worker has the lease, once more afterwards.
UPDATE conversation_sessions s SET event = coalesce(%(event)s, s.event), next_due_at = least(s.next_due_at, %(now)s), updated_at = clock_timestamp(),
    is_pending = s.is_pending OR EXISTS (
        SELECT FROM held_leases l WHERE l.kind = 'session' AND l.subject_id = s.id)
WHERE s.id = %(session)s

-- name: lock_chat
-- Separate statements: each must see what was committed before its lock.
SELECT id FROM chats WHERE id = %(session)s FOR NO KEY UPDATE

-- name: lock_session
SELECT hwm_message_id FROM conversation_sessions WHERE id = %(session)s FOR NO KEY UPDATE

-- name: begin
-- Clears the event that was handled; a new one stays.
UPDATE conversation_sessions SET folding_to_id = %(to)s, folding_trigger = %(trigger)s, updated_at = clock_timestamp(),
    event = CASE WHEN event = %(event)s::text THEN NULL ELSE event END
WHERE id = %(session)s

-- name: window_now
-- The fold's messages now.
SELECT id, content_hash, kind = 'message' AS is_message, token_count FROM messages
WHERE chat_id = %(session)s AND id > %(after)s AND id <= %(to)s AND deleted_at IS NULL ORDER BY id

-- name: insert_fold
-- From the first message after the HWM, deleted or not: ranges have no gap, so a restored message is in one.
INSERT INTO session_summaries (id, session_id, parent_summary_id, from_message_id, to_message_id, from_at, to_at, status,
    dirty_reason, trigger, input_hash, prompt_version, model_version, language, summary, facts, decisions, open_questions, topics,
    message_ids, noise_ids, message_count, source_token_count, summary_token_count, quarantined, cost_usd, generation_seconds)
SELECT %(id)s, %(session_id)s, %(parent)s, coalesce(m.id, %(to_id)s), %(to_id)s, coalesce(m.sent_at, %(to_at)s), %(to_at)s, %(status)s,
    %(dirty_reason)s, %(trigger)s, %(input_hash)s, %(prompt_version)s, %(model)s, %(language)s, %(summary)s, %(facts)s, %(decisions)s,
    %(open_questions)s, %(topics)s, %(message_ids)s, %(noise_ids)s, %(message_count)s, %(source_tokens)s, %(summary_tokens)s,
    %(quarantined)s, %(cost_usd)s, %(seconds)s
FROM (VALUES (0)) one LEFT JOIN LATERAL (
    SELECT id, sent_at FROM messages WHERE chat_id = %(session_id)s AND id > %(after_id)s AND id <= %(to_id)s ORDER BY id LIMIT 1
) m ON true
ON CONFLICT DO NOTHING RETURNING id

-- name: supersede
UPDATE session_summaries SET status = 'superseded' WHERE id = %(fold)s AND session_id = %(session)s RETURNING topics

-- name: confirm
UPDATE session_summaries SET status = 'completed', dirty_reason = NULL WHERE id = %(fold)s AND session_id = %(session)s AND status = 'dirty'

-- name: add_topics
INSERT INTO memory_topics AS t (session_id, topic, mention_count, last_seen_at)
SELECT %(session)s, topic, 1, %(to_at)s FROM unnest(%(topics)s::text[]) AS g (topic) GROUP BY topic ORDER BY topic
ON CONFLICT (session_id, topic) DO UPDATE
    SET mention_count = t.mention_count + 1, last_seen_at = greatest(t.last_seen_at, excluded.last_seen_at)

-- name: recount_topics
-- Recount of topics of a replaced fold.
WITH named AS (
    SELECT g.topic, count(*) AS folds, max(f.to_at) AS seen_at
    FROM unnest(%(topics)s::text[]) AS g (topic)
    JOIN standing_folds f ON f.session_id = %(session)s AND g.topic = ANY(f.topics)
    GROUP BY g.topic
), gone AS (
    DELETE FROM memory_topics t
    WHERE t.session_id = %(session)s AND t.topic = ANY(%(topics)s) AND NOT EXISTS (SELECT FROM named n WHERE n.topic = t.topic)
)
INSERT INTO memory_topics (session_id, topic, mention_count, last_seen_at)
SELECT %(session)s, topic, folds, seen_at FROM named ORDER BY topic
ON CONFLICT (session_id, topic) DO UPDATE SET mention_count = excluded.mention_count, last_seen_at = excluded.last_seen_at

-- name: move_hwm
-- H10: the only place. Subtracts the window's present messages from the counters.
UPDATE conversation_sessions s SET hwm_message_id = %(to)s,
    messages_since_hwm = s.messages_since_hwm - %(messages)s, tokens_since_hwm = s.tokens_since_hwm - %(tokens)s,
    first_since_at = (
        SELECT m.sent_at FROM live_messages m
        WHERE m.chat_id = s.id AND m.id > %(to)s ORDER BY m.id LIMIT 1),
    messages_since_fold = 0, messages_since_look = 0, last_fold_at = %(now)s,
    folding_to_id = CASE WHEN %(is_last)s THEN NULL ELSE folding_to_id END,
    folding_trigger = CASE WHEN %(is_last)s THEN NULL ELSE folding_trigger END
WHERE s.id = %(session)s

-- name: keep_account
-- After each new or replaced fold: running summary, number of dirty folds, reset of failures.
UPDATE conversation_sessions SET
    running_summary = CASE WHEN %(has_running)s THEN %(text)s ELSE running_summary END,
    running_token_count = CASE WHEN %(has_running)s THEN %(tokens)s ELSE running_token_count END,
    running_fold_id = CASE WHEN %(has_running)s THEN %(fold_id)s ELSE running_fold_id END, attempts = 0, retry_at = NULL, last_error = NULL, updated_at = clock_timestamp(),
    dirty_folds = (SELECT count(*) FROM session_summaries f WHERE f.session_id = %(session)s AND f.status = 'dirty')
WHERE id = %(session)s

-- name: mark_chunks
-- H14: a fold is searched with the interaction in which it ends; interactions held back from the archive for lack of a
-- summary become due (T8).
WITH ended AS (
    SELECT DISTINCT i.day FROM unnest(%(moments)s::timestamptz[]) AS g (at)
    JOIN interactions i ON i.chat_id = %(session)s AND g.at BETWEEN i.started_at AND i.ended_at
), months AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT DISTINCT p.asset, p.partition_key, 'folded'
    FROM ended JOIN partition_states p ON p.asset = 'archived_messages' AND p.pending > 0
        AND p.partition_key = month_key(ended.day)
)
INSERT INTO dirty_partitions (asset, partition_key, reason)
SELECT 'memory_chunks', day_key(day), 'folded' FROM ended

-- name: look
UPDATE conversation_sessions SET folding_to_id = NULL, folding_trigger = NULL, attempts = 0, retry_at = NULL, last_error = NULL,
    event = CASE WHEN event = %(event)s::text THEN NULL ELSE event END,
    messages_since_look = CASE WHEN %(is_of_drift)s THEN 0 ELSE messages_since_look END,
    dirty_folds = (SELECT count(*) FROM session_summaries f WHERE f.session_id = %(session)s AND f.status = 'dirty')
WHERE id = %(session)s

-- name: leave
-- W4: due again if something came during the fold.
UPDATE conversation_sessions SET next_due_at = CASE WHEN is_pending THEN %(now)s ELSE %(due_at)s::timestamptz END, is_pending = false,
    updated_at = clock_timestamp()
WHERE id = %(session)s

-- name: fail
-- Stays due; retry_at postpones it.
UPDATE conversation_sessions SET attempts = attempts + %(counts)s, last_error = %(error)s, is_pending = false,
    retry_at = clock_timestamp() + make_interval(secs => %(retry_after)s), updated_at = clock_timestamp()
WHERE id = %(session)s

-- name: rest
UPDATE conversation_sessions s SET last_error = %(error)s, retry_at = clock_timestamp() + make_interval(secs => %(seconds)s)
FROM (
    SELECT id FROM conversation_sessions
    WHERE next_due_at <= %(now)s AND (retry_at IS NULL OR retry_at <= clock_timestamp()) FOR NO KEY UPDATE SKIP LOCKED
) g WHERE s.id = g.id
