-- Rows of sessions; reads are in statements.py, counters in appending.sql and folds.sql.

-- name: insert_session
-- Under the chat's lock. Returns a row if there was no session.
INSERT INTO conversation_sessions (id, policy, strategy) VALUES (%(id)s, %(policy)s, %(strategy)s)
ON CONFLICT DO NOTHING RETURNING id

-- name: count_all
-- Counts the messages of an existing chat once; nothing is folded yet.
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
-- H7: requests a fold.
UPDATE conversation_sessions SET event = %(event)s, updated_at = clock_timestamp() WHERE id = %(id)s

-- name: change
UPDATE conversation_sessions SET
    policy = coalesce(%(policy)s, policy), strategy = coalesce(%(strategy)s, strategy),
    summary_interval = CASE WHEN %(interval)s::integer IS NULL THEN summary_interval ELSE nullif(%(interval)s::integer, 0) END,
    label = CASE WHEN %(label)s::text IS NULL THEN label ELSE nullif(%(label)s::text, '') END,
    updated_at = clock_timestamp()
WHERE id = %(id)s
