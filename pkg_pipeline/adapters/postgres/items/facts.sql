-- What is known about people, derived from readings (P13, B2), and the organisations they belong to.

-- name: stated
-- Whom the facts of a conversation are about as they are stored.
SELECT DISTINCT entity_id, lower(about_name) AS about_name, told_by FROM entity_facts WHERE interaction_id = %(interaction)s

-- name: namesakes
-- Who may be meant by a name: whoever has it in full, and everybody who writes in the chat.
SELECT e.id AS entity_id, e.name, e.is_self FROM entities e
WHERE e.type = 'person' AND (lower(e.name) = lower(%(name)s)
       OR e.id IN (SELECT m.entity_id FROM chat_members m WHERE m.chat_id = %(chat)s))
ORDER BY e.id LIMIT 100

-- name: drop
-- Facts that a conversation states no more; those that a person rejected keep their row.
DELETE FROM entity_facts WHERE interaction_id = %(interaction)s AND status <> 'rejected' AND id <> ALL (%(stated)s::uuid[])

-- name: insert
-- At or above the threshold facts are confirmed by rule (B2); those that rest on a deleted message are skipped. Compared as
-- real, like the column.
INSERT INTO entity_facts AS f (id, entity_id, about_name, told_by, fact_type, value, confidence, status, valid_from, is_ended,
    replaces, interaction_id, quote, message_ids)
SELECT g.id, g.entity_id, g.about_name, g.told_by, g.fact_type, g.value, g.confidence,
       CASE WHEN g.confidence >= %(fact_confidence)s::real THEN 'confirmed' ELSE 'candidate' END,
       coalesce(g.said_at, i.ended_at), g.is_ended, g.replaces, i.id, g.quote, g.message_ids
FROM jsonb_to_recordset(%(facts)s) AS g (id uuid, entity_id uuid, about_name text, told_by uuid, fact_type text, value text,
    confidence real, said_at timestamptz, is_ended boolean, replaces boolean, quote text, message_ids text[])
JOIN interactions i ON i.id = %(interaction)s
WHERE (g.entity_id IS NULL OR EXISTS (SELECT FROM entities e WHERE e.id = g.entity_id))
  AND NOT EXISTS (SELECT FROM messages m
                  WHERE m.chat_id = i.chat_id AND m.external_id = ANY(g.message_ids) AND m.deleted_at IS NOT NULL)
ON CONFLICT (id) DO UPDATE SET
    interaction_id = excluded.interaction_id, entity_id = excluded.entity_id, about_name = excluded.about_name,
    told_by = excluded.told_by, confidence = excluded.confidence, valid_from = excluded.valid_from, is_ended = excluded.is_ended,
    replaces = excluded.replaces, quote = excluded.quote, message_ids = excluded.message_ids,
    status = CASE WHEN f.status = 'candidate' THEN excluded.status ELSE f.status END
WHERE (f.interaction_id, f.entity_id, f.about_name, f.told_by, f.confidence, f.valid_from, f.is_ended, f.replaces, f.quote, f.message_ids)
      IS DISTINCT FROM
      (excluded.interaction_id, excluded.entity_id, excluded.about_name, excluded.told_by, excluded.confidence, excluded.valid_from,
       excluded.is_ended, excluded.replaces, excluded.quote, excluded.message_ids)

-- name: of_people
-- The confirmed facts of these people that a conversation said, and those of somebody without an entity by the name that
-- one person calls them.
SELECT id, entity_id, lower(about_name) AS about_name, told_by, fact_type, value, valid_from, valid_to, is_ended, replaces
FROM entity_facts
WHERE status = 'confirmed' AND interaction_id IS NOT NULL AND known_to IS NULL AND entity_id = ANY(%(people)s)
UNION ALL
SELECT f.id, NULL, lower(f.about_name), f.told_by, f.fact_type, f.value, f.valid_from, f.valid_to, f.is_ended, f.replaces
FROM entity_facts f
JOIN unnest(%(names)s::text[], %(tellers)s::uuid[]) AS n (name, teller)
  ON lower(f.about_name) = n.name AND f.told_by IS NOT DISTINCT FROM n.teller
WHERE f.status = 'confirmed' AND f.interaction_id IS NOT NULL AND f.known_to IS NULL AND f.entity_id IS NULL

-- name: end
-- Returns the conversations whose facts hold for another time than before.
UPDATE entity_facts f SET valid_to = g.until FROM unnest(%(ids)s::uuid[], %(until)s::timestamptz[]) AS g (id, until)
WHERE f.id = g.id AND f.valid_to IS DISTINCT FROM g.until RETURNING f.interaction_id

-- name: name_organization
INSERT INTO organizations AS o (id, name) VALUES (%(id)s, %(name)s)
ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE o.name <> excluded.name

-- name: join_organization
-- None only where the present one followed from facts.
UPDATE entities SET organization_id = %(organization)s
WHERE id = %(entity)s AND organization_id IS DISTINCT FROM %(organization)s
  AND (%(organization)s::uuid IS NOT NULL OR organization_id = ANY(%(past)s::uuid[]))
