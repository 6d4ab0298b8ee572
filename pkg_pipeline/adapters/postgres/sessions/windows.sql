-- Reads of a session's window: one statement, one row of JSON, one snapshot. Every part is an index range cut by LIMIT
-- before joins.

-- name: window
-- a session's state, what no fold covers (T2), the newest messages, the last folds, topics, a model's calibration (B12)
WITH
session AS MATERIALIZED (
    SELECT s.id, s.policy, s.strategy, s.hwm_message_id, s.message_count, s.token_count, s.messages_since_hwm, s.tokens_since_hwm,
           s.dirty_folds, s.running_summary, s.last_error IS NOT NULL AS has_failed, c.source, c.external_id
    FROM conversation_sessions s JOIN chats c ON c.id = s.id WHERE s.id = %(session)s
),
-- comparing pairs makes the planner use the index of the chat's order; with an equality it may scan all messages. The
-- literal inner limit is for the planner, which takes an unknown one for a tenth of the chat
chosen AS (
    (SELECT id FROM (
        SELECT m.id, m.chat_id FROM live_messages m
        WHERE (m.chat_id, m.id) > (%(session)s::uuid, (SELECT hwm_message_id FROM session))
          AND (m.chat_id, m.id) <= (%(session)s::uuid, 9223372036854775807)
        ORDER BY m.chat_id DESC, m.id DESC LIMIT 2000
     ) newest ORDER BY chat_id DESC, id DESC LIMIT %(history_limit)s)
    UNION
    (SELECT id FROM (
        SELECT m.id, m.chat_id FROM live_messages m
        WHERE (m.chat_id, m.id) > (%(session)s::uuid, 0)
          AND (m.chat_id, m.id) <= (%(session)s::uuid, 9223372036854775807)
        ORDER BY m.chat_id DESC, m.id DESC LIMIT 2000
     ) newest ORDER BY chat_id DESC, id DESC LIMIT %(recent_limit)s)
),
shown AS (
    -- arrays in the order of StoredMessage: half the bytes of objects
    SELECT json_agg(json_build_array(m.id, m.external_id, m.role, m.content, m.parts, m.is_archived,
               m.role IS NULL AND m.is_outgoing,
               CASE WHEN m.role IS NULL THEN (SELECT e.name FROM entities e WHERE e.id = m.sender_entity_id) END)
               ORDER BY m.id) AS found
    FROM chosen JOIN messages m ON m.id = chosen.id
),
-- folds that rest on a deleted message are skipped (P29), so a few more are read
folds AS (
    SELECT id, to_message_id, summary, dirty_reason FROM (
        SELECT id, to_message_id, summary, dirty_reason FROM standing_folds
        WHERE session_id = %(session)s
        ORDER BY to_message_id DESC LIMIT %(fold_limit)s + 20
    ) AS last
    WHERE dirty_reason IS DISTINCT FROM 'deleted'
    ORDER BY to_message_id DESC LIMIT %(fold_limit)s
),
named AS (
    SELECT topic FROM memory_topics t WHERE session_id = %(session)s AND NOT EXISTS (
        SELECT FROM session_summaries f
        WHERE f.session_id = t.session_id AND f.status = 'dirty' AND f.dirty_reason = 'deleted' AND t.topic = ANY (f.topics))
    ORDER BY mention_count DESC, last_seen_at DESC, topic LIMIT %(topic_limit)s
),
reported AS (
    SELECT reported_prompt_tokens::float8
         / nullif(prompt_tokens + coalesce((budget->>'system')::integer, 0), 0) AS ratio
    FROM served_windows
    WHERE model = %(model)s AND reported_prompt_tokens IS NOT NULL
    ORDER BY served_at DESC LIMIT 20
)
SELECT json_build_object(
    'session', (SELECT row_to_json(session) FROM session),
    'messages', (SELECT found FROM shown),
    'folds', (SELECT json_agg(folds ORDER BY to_message_id) FROM folds),
    'is_withheld', (SELECT dirty_folds > 0 FROM session) AND EXISTS (
        SELECT FROM session_summaries
        WHERE session_id = %(session)s AND status = 'dirty' AND dirty_reason = 'deleted'),
    'topics', (SELECT json_agg(topic) FROM named),
    'calibration', coalesce((SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ratio) FROM reported), token_calibration(%(model)s))
)::text

-- name: archived_texts
-- texts of archived messages
SELECT id, content AS text, parts FROM message_texts WHERE id = ANY(%(ids)s)

-- name: topics
-- topics of a session, most mentioned first (L7)
SELECT topic, mention_count, last_seen_at FROM memory_topics t WHERE session_id = %(session)s AND NOT EXISTS (
    SELECT FROM session_summaries f
    WHERE f.session_id = t.session_id AND f.status = 'dirty' AND f.dirty_reason = 'deleted' AND t.topic = ANY (f.topics))
ORDER BY mention_count DESC, last_seen_at DESC, topic LIMIT %(limit)s
