-- Sessions as rows: made, set, asked for, listed. Their counters move with messages in appending.sql, with folds in folds.sql.

-- name: chat
SELECT id, source, external_id, kind FROM chats WHERE id = %(chat)s

-- name: state
SELECT s.id, s.policy, s.strategy, s.summary_interval, s.hwm_message_id, s.last_message_id, s.message_count, s.token_count,
       s.messages_since_hwm, s.tokens_since_hwm, s.first_since_at, s.last_message_at, s.messages_since_fold,
       s.messages_since_look, s.last_fold_at, s.event, s.folding_to_id, s.folding_trigger, s.is_pending, s.dirty_folds, s.label
FROM conversation_sessions s WHERE s.id = %(id)s

-- name: insert_session
-- Under the chat's lock. Returns a row where there was no session.
INSERT INTO conversation_sessions (id, policy, strategy) VALUES (%(id)s, %(policy)s, %(strategy)s)
ON CONFLICT DO NOTHING RETURNING id

-- name: count_all
-- Once, for a chat that has messages already; nothing of it is folded.
UPDATE conversation_sessions s SET
    message_count = n.messages, token_count = n.tokens, messages_since_hwm = n.messages, tokens_since_hwm = n.tokens,
    messages_since_fold = n.messages, messages_since_look = n.messages,
    last_message_id = coalesce(n.last_id, 0),
    first_since_at = (SELECT sent_at FROM messages WHERE id = n.first_id),
    last_message_at = (SELECT sent_at FROM messages WHERE id = n.last_id)
FROM (
    SELECT count(*) AS messages, coalesce(sum(token_count), 0) AS tokens, min(id) AS first_id, max(id) AS last_id
    FROM live_messages WHERE chat_id = %(id)s
) n
WHERE s.id = %(id)s AND n.messages > 0

-- name: lock_state
SELECT s.id, s.policy, s.strategy, s.summary_interval, s.hwm_message_id, s.last_message_id, s.message_count, s.token_count,
       s.messages_since_hwm, s.tokens_since_hwm, s.first_since_at, s.last_message_at, s.messages_since_fold,
       s.messages_since_look, s.last_fold_at, s.event, s.folding_to_id, s.folding_trigger, s.is_pending, s.dirty_folds, s.label
FROM conversation_sessions s WHERE s.id = %(id)s FOR NO KEY UPDATE

-- name: set_event
-- H7: asks for a fold now.
UPDATE conversation_sessions SET event = %(event)s, updated_at = clock_timestamp() WHERE id = %(id)s

-- name: change
UPDATE conversation_sessions SET
    policy = coalesce(%(policy)s, policy), strategy = coalesce(%(strategy)s, strategy),
    summary_interval = CASE WHEN %(interval)s::integer IS NULL THEN summary_interval ELSE nullif(%(interval)s::integer, 0) END,
    label = CASE WHEN %(label)s::text IS NULL THEN label ELSE nullif(%(label)s::text, '') END,
    updated_at = clock_timestamp()
WHERE id = %(id)s

-- name: page_dated
-- By the last message, newest first.
SELECT s.id, s.policy, s.strategy, s.summary_interval, s.hwm_message_id, s.last_message_id, s.message_count, s.token_count,
       s.messages_since_hwm, s.tokens_since_hwm, s.first_since_at, s.last_message_at, s.messages_since_fold,
       s.messages_since_look, s.last_fold_at, s.event, s.folding_to_id, s.folding_trigger, s.is_pending, s.dirty_folds, s.label,
       c.source, c.external_id, c.title, s.next_due_at,
       (SELECT count(*) FROM standing_folds f WHERE f.session_id = s.id),
       s.running_token_count, s.attempts, s.retry_at, s.last_error
FROM (
    SELECT * FROM conversation_sessions
    WHERE last_message_at <= %(at)s AND (last_message_at < %(at)s OR id > %(id)s)
    ORDER BY last_message_at DESC NULLS LAST, id LIMIT %(limit)s
) s JOIN chats c ON c.id = s.id
ORDER BY s.last_message_at DESC NULLS LAST, s.id

-- name: page_undated
-- Those without a message, behind all others.
SELECT s.id, s.policy, s.strategy, s.summary_interval, s.hwm_message_id, s.last_message_id, s.message_count, s.token_count,
       s.messages_since_hwm, s.tokens_since_hwm, s.first_since_at, s.last_message_at, s.messages_since_fold,
       s.messages_since_look, s.last_fold_at, s.event, s.folding_to_id, s.folding_trigger, s.is_pending, s.dirty_folds, s.label,
       c.source, c.external_id, c.title, s.next_due_at,
       (SELECT count(*) FROM standing_folds f WHERE f.session_id = s.id),
       s.running_token_count, s.attempts, s.retry_at, s.last_error
FROM (
    SELECT * FROM conversation_sessions WHERE last_message_at IS NULL AND id > %(id)s
    ORDER BY last_message_at DESC NULLS LAST, id LIMIT %(limit)s
) s JOIN chats c ON c.id = s.id
ORDER BY s.id

-- name: recent
-- H16: the counters and the last messages, whatever lies behind them. One row a message; a session without any has one.
SELECT s.id, s.policy, s.strategy, s.summary_interval, s.hwm_message_id, s.last_message_id, s.message_count, s.token_count,
       s.messages_since_hwm, s.tokens_since_hwm, s.first_since_at, s.last_message_at, s.messages_since_fold,
       s.messages_since_look, s.last_fold_at, s.event, s.folding_to_id, s.folding_trigger, s.is_pending, s.dirty_folds, s.label,
       c.source, c.external_id, c.title, s.next_due_at,
       (SELECT count(*) FROM standing_folds f WHERE f.session_id = s.id),
       s.running_token_count, s.attempts, s.retry_at, s.last_error,
       m.id, m.external_id, m.sent_at, m.content, m.role, m.kind, m.parts, m.sender_entity_id, e.name, e.is_self, m.is_outgoing,
       m.content_hash, m.token_count, m.importance_score, m.importance_reason, m.id <= s.hwm_message_id
FROM conversation_sessions s JOIN chats c ON c.id = s.id
LEFT JOIN LATERAL (
    SELECT id FROM live_messages
    WHERE (chat_id, id) > (%(id)s::uuid, 0) AND (chat_id, id) <= (%(id)s::uuid, 9223372036854775807)
    ORDER BY chat_id DESC, id DESC LIMIT %(limit)s
) last ON true
LEFT JOIN message_texts m ON m.id = last.id
LEFT JOIN entities e ON e.id = m.sender_entity_id
WHERE s.id = %(id)s ORDER BY m.id

-- name: messages
SELECT m.id, m.external_id, m.sent_at, m.content, m.role, m.kind, m.parts, m.sender_entity_id, e.name, e.is_self, m.is_outgoing,
       m.content_hash, m.token_count, m.importance_score, m.importance_reason, coalesce(m.id <= s.hwm_message_id, false)
FROM (
    SELECT id, chat_id FROM live_messages
    WHERE (chat_id, id) < (%(id)s::uuid, %(before)s::bigint) AND (chat_id, id) > (%(id)s::uuid, 0)
    ORDER BY chat_id DESC, id DESC LIMIT %(limit)s
) p
JOIN message_texts m ON m.id = p.id
LEFT JOIN conversation_sessions s ON s.id = p.chat_id
LEFT JOIN entities e ON e.id = m.sender_entity_id
ORDER BY m.id DESC

-- name: fold_is_there
SELECT 1 FROM session_summaries WHERE id = %(fold)s AND session_id = %(id)s

-- name: fold_messages
-- T6: what a fold covers, live, deleted or in the archive.
SELECT m.id, m.external_id, m.sent_at, m.content, m.role, m.kind, m.parts, m.sender_entity_id, e.name, e.is_self, m.is_outgoing,
       m.content_hash, m.token_count, m.importance_score, m.importance_reason, true, m.is_archived, m.deleted_at IS NOT NULL
FROM session_summaries f
JOIN message_texts m ON m.chat_id = f.session_id AND m.id = ANY (f.message_ids)
LEFT JOIN entities e ON e.id = m.sender_entity_id
WHERE f.id = %(fold)s AND f.session_id = %(id)s ORDER BY m.id
