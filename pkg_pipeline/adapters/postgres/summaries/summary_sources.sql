-- Inputs of summaries, read-only.

-- name: page
-- The next messages of a long interaction in the order of its input hash, archived ones included.
SELECT m.external_id, m.sender_entity_id, m.sent_at, m.content, m.importance_score, m.importance_reason,
       (SELECT g.metadata -> 'attachments' FROM messages g WHERE g.id = m.id) AS attachments
FROM live_texts m
WHERE m.chat_id = %(chat)s AND m.sent_at BETWEEN %(after_at)s AND %(ended_at)s
  AND (m.sent_at, length(m.external_id), m.external_id COLLATE "C") > (%(after_at)s, %(after_length)s, %(after_id)s COLLATE "C")
ORDER BY m.sent_at, length(m.external_id), m.external_id COLLATE "C"
LIMIT %(limit)s

-- name: hashes
-- The same order, without texts.
SELECT m.external_id, m.sent_at, m.content_hash FROM live_messages m
WHERE m.chat_id = %(chat)s AND m.sent_at BETWEEN %(after_at)s AND %(ended_at)s
  AND (m.sent_at, length(m.external_id), m.external_id COLLATE "C") > (%(after_at)s, %(after_length)s, %(after_id)s COLLATE "C")
ORDER BY m.sent_at, length(m.external_id), m.external_id COLLATE "C"
LIMIT %(limit)s

-- name: cited
-- Some messages of one interaction, in order.
SELECT m.external_id, m.sender_entity_id, m.sent_at, m.content, m.importance_score, m.importance_reason,
       (SELECT g.metadata -> 'attachments' FROM messages g WHERE g.id = m.id) AS attachments
FROM live_texts m
WHERE m.chat_id = %(chat)s AND m.external_id = ANY(%(ids)s) AND m.sent_at BETWEEN %(started_at)s AND %(ended_at)s
ORDER BY m.sent_at, length(m.external_id), m.external_id COLLATE "C"

-- name: senders
-- Senders of a long interaction.
SELECT DISTINCT m.sender_entity_id FROM live_messages m
WHERE m.chat_id = %(chat)s AND m.sent_at BETWEEN %(started_at)s AND %(ended_at)s AND m.sender_entity_id IS NOT NULL

-- name: known
-- The live summaries.
SELECT s.interaction_id, s.id, s.message_ids, s.input_hash, s.prompt_version, s.model_version AS model, s.schema_version,
       s.status = 'dirty' AS is_dirty, s.summary, s.key_points, s.tone, s.important_messages
FROM live_summaries s
WHERE s.interaction_id = ANY(%(ids)s)
