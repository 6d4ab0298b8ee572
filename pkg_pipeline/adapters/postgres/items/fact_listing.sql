-- Facts as they are listed. What rests on a deleted message is not shown.

-- name: page
-- The newest first.
SELECT f.id, coalesce(f.valid_from, f.known_from) AS at, f.entity_id, e.name AS entity_name, f.about_name, f.fact_type, f.value,
       f.read_value, CASE WHEN f.status = 'confirmed' AND f.valid_to IS NOT NULL THEN 'closed' ELSE f.status END AS status,
       f.confidence, f.decided_by, f.valid_from, f.valid_to, f.known_from, f.known_to, f.quote, c.source, c.external_id AS
       chat_external_id, f.message_ids, awaits_reading(i.chat_id, f.message_ids) AS is_stale
FROM entity_facts f
LEFT JOIN entities e ON e.id = f.entity_id
LEFT JOIN interactions i ON i.id = f.interaction_id
LEFT JOIN chats c ON c.id = i.chat_id
WHERE (%(entity)s::uuid IS NULL OR f.entity_id = %(entity)s OR (f.entity_id IS NULL AND f.told_by = %(entity)s))
  AND (%(fact_type)s::text IS NULL OR lower(f.fact_type) = lower(%(fact_type)s))
  AND (%(statuses)s::text[] IS NULL
       OR CASE WHEN f.status = 'confirmed' AND f.valid_to IS NOT NULL THEN 'closed' ELSE f.status END = ANY(%(statuses)s))
  AND (%(after_at)s::timestamptz IS NULL OR coalesce(f.valid_from, f.known_from) < %(after_at)s
       OR (coalesce(f.valid_from, f.known_from) = %(after_at)s AND f.id > %(after_id)s::uuid))
  AND NOT rests_on_deleted(i.chat_id, f.message_ids)
ORDER BY coalesce(f.valid_from, f.known_from) DESC, f.id LIMIT %(limit)s

-- name: fact
SELECT f.id, coalesce(f.valid_from, f.known_from) AS at, f.entity_id, e.name AS entity_name, f.about_name, f.fact_type, f.value,
       f.read_value, CASE WHEN f.status = 'confirmed' AND f.valid_to IS NOT NULL THEN 'closed' ELSE f.status END AS status,
       f.confidence, f.decided_by, f.valid_from, f.valid_to, f.known_from, f.known_to, f.quote, c.source, c.external_id AS
       chat_external_id, f.message_ids, awaits_reading(i.chat_id, f.message_ids) AS is_stale
FROM entity_facts f
LEFT JOIN entities e ON e.id = f.entity_id
LEFT JOIN interactions i ON i.id = f.interaction_id
LEFT JOIN chats c ON c.id = i.chat_id
WHERE f.id = %(id)s AND NOT rests_on_deleted(i.chat_id, f.message_ids)

-- name: ids_between
-- Facts whose id begins so: by a short form of it.
SELECT id FROM entity_facts WHERE id BETWEEN %(first)s AND %(last)s ORDER BY id LIMIT 2
