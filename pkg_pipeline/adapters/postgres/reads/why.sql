-- Where a served line comes from: an item, a decision, a fact, or a piece that recall shows (B11).

-- name: line
-- By its own id, or by that of a piece that says it.
SELECT l.id, l.kind, l.text, l.quote, l.chat_id, l.message_ids, l.interaction_id, l.decided_by, l.probability, l.is_deleted
FROM (
    SELECT i.id, i.kind, i.text, i.quote, i.chat_id, i.message_ids, i.interaction_id, i.decided_by, i.probability,
           i.is_withheld AS is_deleted
    FROM items i
    UNION ALL
    SELECT f.id, 'fact', f.fact_type || ': ' || f.value, f.quote, i.chat_id, f.message_ids, f.interaction_id, f.decided_by,
           f.confidence, coalesce(rests_on_deleted(i.chat_id, f.message_ids), false)
    FROM entity_facts f LEFT JOIN interactions i ON i.id = f.interaction_id
) AS l
WHERE l.id = coalesce((SELECT c.subject_id FROM memory_chunks c WHERE c.id = %(id)s), %(id)s)

-- name: line_ids_between
-- Lines and pieces whose id begins so: by a short form of it.
SELECT id FROM items WHERE id BETWEEN %(first)s AND %(last)s
UNION SELECT id FROM entity_facts WHERE id BETWEEN %(first)s AND %(last)s
UNION SELECT id FROM memory_chunks WHERE id BETWEEN %(first)s AND %(last)s
ORDER BY id LIMIT 2

-- name: said
-- The messages of a chat that a line rests on.
SELECT c.source, c.external_id AS chat, m.external_id, e.name AS sender, m.sent_at, m.content
FROM message_texts m JOIN chats c ON c.id = m.chat_id LEFT JOIN entities e ON e.id = m.sender_entity_id
WHERE m.chat_id = %(chat)s AND m.external_id = ANY(%(keys)s) AND m.deleted_at IS NULL
ORDER BY m.sent_at, m.external_id

-- name: reading
-- Who read the conversation, what the gate took out of the answer, and by which paid calls.
SELECT r.model_version, r.prompt_version, r.schema_version, r.read_at, r.cost_usd::float8 AS cost_usd, r.quarantined,
       coalesce((SELECT jsonb_agg(jsonb_build_object('id', l.id, 'run_id', l.run_id, 'outcome', l.outcome,
                                                     'cost_usd', l.cost_usd, 'at', l.created_at) ORDER BY l.created_at)
                 FROM llm_call_subjects s JOIN llm_calls l ON l.id = s.call_id
                 WHERE s.subject_kind = 'interaction' AND s.subject_id = r.interaction_id AND l.task = 'conversation_reading'),
                '[]') AS calls
FROM interaction_readings r WHERE r.interaction_id = %(interaction)s
