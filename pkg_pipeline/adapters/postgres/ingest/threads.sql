-- What is stored of threads of an agent framework. Read-only.

-- name: known
-- times of its messages, and the last checkpoint read
SELECT (SELECT json_object_agg(m.external_id, extract(epoch FROM m.sent_at) * 1000000) FROM messages m WHERE m.chat_id = %(chat)s),
       (SELECT metadata->>'checkpoint_id' FROM chats WHERE id = %(chat)s)

-- name: coverage
-- Of the given messages: which are folded and which are searchable. Messages without text need neither.
SELECT g.external_id, i.day,
       m.id IS NOT NULL AND EXISTS (
           SELECT FROM standing_folds f
           WHERE f.session_id = %(chat)s AND m.id BETWEEN f.from_message_id AND f.to_message_id),
       m.id IS NOT NULL AND (btrim(m.content, E' \t\n\r') = '' OR m.deleted_at IS NOT NULL OR m.is_archived
           OR EXISTS (SELECT FROM chunk_states s WHERE s.interaction_id = i.id AND s.space_id = 0 AND s.input_hash <> ''))
FROM unnest(%(ids)s::text[]) AS g (external_id)
LEFT JOIN messages m ON m.chat_id = %(chat)s AND m.external_id = g.external_id
LEFT JOIN interactions i ON i.id = interaction_of(m.kind, m.chat_id, m.sent_at)

-- name: labels
-- labels of threads (L8)
SELECT c.external_id, coalesce(s.label, c.title), coalesce(s.message_count, 0),
       (SELECT count(*) FROM standing_folds f WHERE f.session_id = c.id)
FROM chats c LEFT JOIN conversation_sessions s ON s.id = c.id WHERE c.source = %(source)s
