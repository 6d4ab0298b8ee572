-- Items as they are listed. What lapsed is decided by item_status() alone.

-- name: page
-- Overdue first, then open by due date, perhaps done, lapsed, settled; within each the newest first. The rest of an
-- item's columns are read for one page of ids.
WITH chosen AS (
    SELECT p.item_id AS id FROM item_people p WHERE p.entity_id = %(person)s::uuid
    UNION ALL
    SELECT id FROM items WHERE %(person)s::uuid IS NULL
), placed AS (
    SELECT i.id, s.status,
           CASE s.status WHEN 'open' THEN CASE WHEN d.is_overdue THEN 0 ELSE 1 END
                         WHEN 'perhaps_done' THEN 2 WHEN 'lapsed' THEN 3 ELSE 4 END AS rank,
           CASE WHEN s.status = 'open' AND i.kind = 'action_item' THEN coalesce(i.due_date, date 'infinity')
                ELSE date 'infinity' END AS due,
           - extract(epoch FROM i.last_at) AS age
    FROM chosen c JOIN items i USING (id)
    CROSS JOIN LATERAL (
        SELECT item_status_until(i.kind, i.status, i.due_date, i.holds_until, i.last_at, %(now)s, %(today)s) AS status
    ) s
    CROSS JOIN LATERAL (
        SELECT i.kind = 'action_item' AND s.status = 'open' AND coalesce(i.due_date < %(today)s, false) AS is_overdue
    ) d
    WHERE i.kind = %(kind)s AND NOT i.is_withheld
      AND (%(owners)s::text[] IS NULL OR i.owner = ANY(%(owners)s))
      AND (%(statuses)s::text[] IS NULL OR s.status = ANY(%(statuses)s))
      AND (d.is_overdue OR NOT %(overdue)s)
)
SELECT id, status, rank || ' ' || due || ' ' || age AS place FROM placed
WHERE %(after_rank)s::integer IS NULL
   OR (rank, due, age, id) > (%(after_rank)s::integer, %(after_due)s::date, %(after_age)s::numeric, %(after_id)s::uuid)
ORDER BY rank, due, age, id LIMIT %(limit)s

-- name: items
-- These items in the order given, each with its history and what it took the place of.
SELECT i.id, i.kind, item_status_until(i.kind, i.status, i.due_date, i.holds_until, i.last_at, %(now)s, %(today)s) AS status, i.text,
       i.owner, i.owner_entity_id, coalesce(o.name, i.owner_name) AS owner_name, i.due_date, i.importance,
       i.probability, i.proposed_by, i.agreed_by, i.superseded_by, i.decided_by, c.source, c.external_id AS
       chat_external_id, i.interaction_id, i.quote, i.message_ids, i.first_at, i.last_at, i.settled_at,
       p.ids AS person_ids, p.names AS person_names, item_is_stale(i.id) AS is_stale, h.states, b.replaced
FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS w (id, place)
JOIN items i USING (id)
JOIN chats c ON c.id = i.chat_id
LEFT JOIN entities o ON o.id = i.owner_entity_id
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(e.id ORDER BY e.id), '{}') AS ids, coalesce(array_agg(e.name ORDER BY e.id), '{}') AS names
    FROM item_people t JOIN entities e ON e.id = t.entity_id WHERE t.item_id = i.id
) p
CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_agg(jsonb_build_object(
               'at', s.at, 'event', s.event, 'status', s.status, 'text', s.text, 'owner', s.owner,
               'due_date', s.due_date, 'probability', s.probability, 'decided_by', s.decided_by, 'quote', s.quote,
               'source', k.source, 'chat', k.external_id, 'message_ids', s.message_ids
           ) ORDER BY s.place), '[]') AS states
    FROM item_states s LEFT JOIN chats k ON k.id = s.chat_id
    WHERE s.item_id = i.id AND NOT s.is_withheld
) h
CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_agg(jsonb_build_object(
               'id', r.id, 'text', r.text, 'due_date', r.due_date, 'at', r.last_at, 'source', k.source,
               'chat', k.external_id, 'message_ids', r.message_ids
           ) ORDER BY r.last_at, r.id), '[]') AS replaced
    FROM items r JOIN chats k ON k.id = r.chat_id WHERE r.superseded_by = i.id AND NOT r.is_withheld
) b
WHERE NOT i.is_withheld
ORDER BY w.place

-- name: ids_between
-- Items whose id begins so: by a short form of it.
SELECT id FROM items WHERE id BETWEEN %(first)s AND %(last)s AND NOT is_withheld ORDER BY id LIMIT 2

-- name: of_conversations
-- Items and facts that these conversations said first, for their summaries.
SELECT g.id AS interaction_id, d.decisions, a.action_items, f.facts AS extracted_facts
FROM unnest(%(interactions)s::uuid[]) AS g (id)
CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_agg(jsonb_build_object(
               'id', i.id, 'description', i.text, 'date', (i.first_at AT TIME ZONE %(timezone)s)::date, 'status', i.status,
               'importance', i.importance, 'quote', i.quote, 'message_ids', i.message_ids) ORDER BY i.first_at, i.id), '[]')
           AS decisions
    FROM items i WHERE i.interaction_id = g.id AND i.kind = 'decision' AND NOT i.is_withheld
) d
CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_agg(jsonb_build_object(
               'id', i.id, 'description', i.text, 'owner', i.owner, 'owner_name', i.owner_name,
               'status', CASE WHEN i.status IN ('done', 'cancelled') THEN 'closed'
                         ELSE item_status(i.kind, i.status, i.due_date, i.last_at, %(now)s, %(today)s) END,
               'due_date', i.due_date, 'closed_at', (i.settled_at AT TIME ZONE %(timezone)s)::date, 'quote', i.quote,
               'message_ids', i.message_ids) ORDER BY i.first_at, i.id), '[]') AS action_items
    FROM items i WHERE i.interaction_id = g.id AND i.kind = 'action_item' AND NOT i.is_withheld
) a
CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_agg(x.fact ORDER BY x.place), '[]') AS facts
    FROM interaction_readings r
    JOIN interactions i ON i.id = r.interaction_id
    CROSS JOIN LATERAL jsonb_array_elements(r.content -> 'facts') WITH ORDINALITY AS x (fact, place)
    WHERE r.interaction_id = g.id
      AND NOT EXISTS (SELECT FROM entity_facts e WHERE e.id = (x.fact ->> 'id')::uuid AND e.status = 'rejected')
      AND NOT EXISTS (SELECT FROM messages m WHERE m.chat_id = i.chat_id AND m.deleted_at IS NOT NULL
                      AND m.external_id IN (SELECT jsonb_array_elements_text(x.fact -> 'message_ids')))
) f
