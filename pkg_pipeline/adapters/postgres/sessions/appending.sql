-- Appends to live sessions, and session counters for every change of messages (H1, W5). Locks after those of imports: the
-- chat, its conversation_sessions row, its folds. Counters are about live messages (kind 'message', not deleted). Order is
-- by id, assigned under the chat's lock.

-- name: lock_session
-- The state, locked with its chat.
SELECT s.id, s.policy, s.strategy, s.summary_interval, s.hwm_message_id, s.last_message_id, s.message_count, s.token_count,
       s.messages_since_hwm, s.tokens_since_hwm, s.first_since_at, s.last_message_at, s.messages_since_fold,
       s.messages_since_look, s.last_fold_at, s.event, s.folding_to_id, s.folding_trigger, s.is_pending, s.dirty_folds, s.label
FROM chats c JOIN conversation_sessions s ON s.id = c.id WHERE c.id = %(chat)s FOR NO KEY UPDATE OF c, s

-- name: append
-- Inserts new messages in the given order, marks the chat and updates the counters, under lock_session. Senders must be
-- members; "senders" counts those found. next_due_at holds if everything was new; during a fold the fold looks again (W4).
-- With a version: writes only if the session is unchanged since, all senders are members and every message is new; else no
-- row. Both statements are then one pipelined transaction.
WITH given AS MATERIALIZED (
    SELECT g.* FROM jsonb_to_recordset(%(rows)s::jsonb) AS g (
        n integer, sender uuid, at timestamptz, edited timestamptz, gone boolean, tokens integer, score real, assumed boolean,
        role text, reason text, key text, text text, hash text, reply text, parts jsonb, meta jsonb
    )
), senders AS MATERIALIZED (
    SELECT e.id, e.is_self FROM chat_members m JOIN entities e ON e.id = m.entity_id
    WHERE m.chat_id = %(chat)s AND m.entity_id = ANY(%(senders)s::uuid[])
), fitting AS MATERIALIZED (
    SELECT FROM conversation_sessions s
    WHERE s.id = %(chat)s AND CASE WHEN %(version)s::bigint IS NULL THEN true ELSE
        s.xmin::text::bigint = %(version)s AND (SELECT count(*) FROM senders) = cardinality(%(senders)s::uuid[])
        -- one index probe each, even if the planner expects a small chat
        AND (SELECT bool_and((SELECT m.id FROM messages m WHERE m.chat_id = %(chat)s AND m.external_id = g.key LIMIT 1) IS NULL) FROM given g)
    END
), inserted AS (
    INSERT INTO messages (
        chat_id, sender_entity_id, sent_at, exported_at, edited_at, deleted_at, token_count, importance_score, is_outgoing,
        is_time_assumed, kind, role, importance_reason, external_id, content, content_hash, reply_to, parts, metadata
    )
    SELECT %(chat)s, e.id, g.at, %(now)s, g.edited, CASE WHEN g.gone THEN %(now)s::timestamptz END, g.tokens, g.score, e.is_self,
           g.assumed, 'message', g.role, g.reason, g.key, g.text, g.hash, g.reply, g.parts, g.meta
    FROM fitting CROSS JOIN given g JOIN senders e ON e.id = g.sender
    ORDER BY g.n
    ON CONFLICT (chat_id, external_id) DO NOTHING
    RETURNING id, external_id, sent_at, token_count, deleted_at IS NULL AS is_live
), marked AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason, from_at, to_at)
    SELECT 'interactions', %(chat)s::text, 'new messages', min(sent_at), max(sent_at) FROM inserted HAVING count(*) > 0
), added AS (
    SELECT count(*) AS messages, coalesce(sum(token_count), 0) AS tokens, max(id) AS last_id,
           (array_agg(sent_at ORDER BY id))[1] AS first_at, (array_agg(sent_at ORDER BY id DESC))[1] AS last_at
    FROM inserted WHERE is_live
), counted AS (
    UPDATE conversation_sessions s SET
        message_count = s.message_count + a.messages, token_count = s.token_count + a.tokens,
        messages_since_hwm = s.messages_since_hwm + a.messages, tokens_since_hwm = s.tokens_since_hwm + a.tokens,
        messages_since_fold = s.messages_since_fold + a.messages, messages_since_look = s.messages_since_look + a.messages,
        first_since_at = CASE WHEN s.messages_since_hwm = 0 THEN a.first_at ELSE s.first_since_at END,
        last_message_id = coalesce(a.last_id, s.last_message_id), last_message_at = coalesce(a.last_at, s.last_message_at),
        is_pending = s.is_pending OR l.is_folding,
        next_due_at = CASE WHEN l.is_folding THEN least(s.next_due_at, %(due)s) ELSE %(due)s END,
        updated_at = clock_timestamp()
    FROM added a, (
        SELECT EXISTS (SELECT FROM held_leases WHERE kind = 'session' AND subject_id = %(chat)s) AS is_folding
    ) l
    WHERE s.id = %(chat)s AND EXISTS (SELECT FROM fitting)
    RETURNING s.last_message_id, s.is_pending, s.next_due_at, s.xmin::text::bigint AS version
)
SELECT (SELECT count(*) FROM senders) AS senders, i.inserted, i.deleted, i.keys, c.last_message_id, c.is_pending, c.next_due_at, c.version
FROM (
    SELECT count(*) AS inserted, count(*) FILTER (WHERE NOT is_live) AS deleted,
           CASE WHEN count(*) < %(given)s THEN array_agg(external_id) END AS keys FROM inserted
) i, counted c

-- name: times
SELECT external_id, sent_at, is_time_assumed FROM messages WHERE chat_id = %(chat)s AND external_id = ANY(%(ids)s)

-- name: touched
-- The sessions among these chats, with their last message id. Most chats are none.
SELECT s.id, c.source, coalesce((SELECT max(m.id) FROM messages m WHERE m.chat_id = s.id), 0) AS last_id
FROM conversation_sessions s JOIN chats c ON c.id = s.id WHERE s.id = ANY(%(chats)s) ORDER BY s.id FOR NO KEY UPDATE OF s

-- name: count_changed
-- Before messages are updated from "changed": adds the difference to the counters.
WITH moved AS (
    SELECT c.chat_id, m.id > s.hwm_message_id AS is_since,
           (c.kind = 'message' AND NOT c.is_deleted)::int AS is_live, c.token_count AS tokens,
           (m.kind = 'message' AND m.deleted_at IS NULL)::int AS was_live, m.token_count AS old_tokens
    FROM unnest(%(ids)s::uuid[], %(last_ids)s::bigint[]) AS g (id, last_id)
    JOIN conversation_sessions s ON s.id = g.id
    JOIN changed c ON c.chat_id = g.id AND c.id <= g.last_id
    JOIN messages m ON m.id = c.id
), sums AS (
    SELECT chat_id, sum(is_live - was_live) AS messages, sum(is_live * tokens - was_live * old_tokens) AS tokens,
           coalesce(sum(is_live - was_live) FILTER (WHERE is_since), 0) AS messages_since,
           coalesce(sum(is_live * tokens - was_live * old_tokens) FILTER (WHERE is_since), 0) AS tokens_since
    FROM moved GROUP BY chat_id
)
UPDATE conversation_sessions s SET
    message_count = s.message_count + d.messages, token_count = s.token_count + d.tokens,
    messages_since_hwm = s.messages_since_hwm + d.messages_since, tokens_since_hwm = s.tokens_since_hwm + d.tokens_since
FROM sums d WHERE s.id = d.chat_id

-- name: mark_folds_dirty
-- H15: marks folds over edited or deleted messages dirty, and their day's chunks. A fold sees earlier summaries, so a later
-- one may repeat a deleted message: it is dirty too if it has a telling word (a digit, or long) of that message that none
-- of its own messages has.
WITH telling AS MATERIALIZED (
    SELECT DISTINCT c.chat_id, c.id, lower(w.found[1]) AS word
    FROM changed c JOIN messages m ON m.id = c.id
    LEFT JOIN LATERAL (
        SELECT content FROM archived_messages WHERE m.is_archived AND month = m.archived_month AND message_id = m.id LIMIT 1
    ) a ON true
    CROSS JOIN LATERAL regexp_matches(coalesce(a.content, m.content), '[[:alnum:]]*[0-9][[:alnum:]]{2,}|[[:alnum:]]{8,}', 'g') AS w (found)
    WHERE c.is_newly_deleted AND c.chat_id = ANY(%(ids)s)
), outdated AS (
    SELECT f.id, c.is_deleted
    FROM changed c JOIN standing_folds f ON f.session_id = c.chat_id AND c.id BETWEEN f.from_message_id AND f.to_message_id
    WHERE c.is_other_text AND c.chat_id = ANY(%(ids)s)
    UNION ALL
    SELECT f.id, true
    FROM telling t
    JOIN standing_folds f ON f.session_id = t.chat_id AND f.from_message_id > t.id AND f.dirty_reason IS DISTINCT FROM 'deleted'
    WHERE position(t.word IN lower(concat_ws(' ', f.summary, f.topics, f.facts, f.decisions, f.open_questions))) > 0
      AND NOT EXISTS (
          SELECT FROM message_texts o
          WHERE o.id = ANY (f.message_ids) AND position(t.word IN lower(concat_ws(' ', o.content, o.parts))) > 0)
), marked AS (
    UPDATE session_summaries f
    SET status = 'dirty', dirty_reason = CASE WHEN o.is_deleted OR f.dirty_reason = 'deleted' THEN 'deleted' ELSE 'edited' END
    FROM (SELECT id, bool_or(is_deleted) AS is_deleted FROM outdated GROUP BY id) o
    WHERE f.id = o.id
    RETURNING f.session_id, f.to_at
)
INSERT INTO dirty_partitions (asset, partition_key, reason)
SELECT 'memory_chunks', day_key(i.day), 'fold dirty'
FROM marked f JOIN interactions i ON i.chat_id = f.session_id AND f.to_at BETWEEN i.started_at AND i.ended_at
GROUP BY i.day

-- name: count_new
-- Last: counts messages after the previous last id, and updates first and last message.
UPDATE conversation_sessions s SET
    message_count = s.message_count + n.messages, token_count = s.token_count + n.tokens,
    messages_since_hwm = s.messages_since_hwm + n.messages, tokens_since_hwm = s.tokens_since_hwm + n.tokens,
    messages_since_fold = s.messages_since_fold + n.messages, messages_since_look = s.messages_since_look + n.messages,
    first_since_at = (SELECT m.sent_at FROM live_messages m
                      WHERE m.chat_id = s.id AND m.id > s.hwm_message_id
                      ORDER BY m.id LIMIT 1),
    last_message_id = coalesce(n.last_id, 0), last_message_at = n.last_at,
    dirty_folds = (SELECT count(*) FROM session_summaries f WHERE f.session_id = s.id AND f.status = 'dirty'),
    updated_at = clock_timestamp()
FROM (
    SELECT g.id, a.messages, a.tokens, l.id AS last_id, l.sent_at AS last_at
    FROM unnest(%(ids)s::uuid[], %(last_ids)s::bigint[]) AS g (id, last_id)
    CROSS JOIN LATERAL (
        SELECT count(*) AS messages, coalesce(sum(token_count), 0) AS tokens FROM live_messages m
        WHERE m.chat_id = g.id AND m.id > g.last_id
    ) a
    LEFT JOIN LATERAL (
        SELECT m.id, m.sent_at FROM live_messages m
        WHERE m.chat_id = g.id ORDER BY m.id DESC LIMIT 1
    ) l ON true
) n
WHERE s.id = n.id
RETURNING s.id, s.policy, s.strategy, s.summary_interval, s.hwm_message_id, s.last_message_id, s.message_count, s.token_count,
    s.messages_since_hwm, s.tokens_since_hwm, s.first_since_at, s.last_message_at, s.messages_since_fold,
    s.messages_since_look, s.last_fold_at, s.event, s.folding_to_id, s.folding_trigger, s.is_pending, s.dirty_folds, s.label

-- name: set_due
-- During a fold the fold looks again (W4).
UPDATE conversation_sessions s SET
    is_pending = s.is_pending OR l.is_folding,
    next_due_at = CASE WHEN l.is_folding THEN least(s.next_due_at, g.due) ELSE g.due END
FROM unnest(%(ids)s::uuid[], %(dues)s::timestamptz[]) AS g (id, due)
CROSS JOIN LATERAL (
    SELECT EXISTS (SELECT FROM held_leases WHERE kind = 'session' AND subject_id = g.id) AS is_folding
) l
WHERE s.id = g.id
RETURNING s.id, s.is_pending, s.next_due_at, s.xmin::text::bigint AS version
