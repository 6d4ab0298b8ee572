-- What is known about people, derived from readings (P13, B2), and the organisations they belong to.

-- name: stated
-- Whom the facts of conversations are about as they are stored.
SELECT DISTINCT entity_id, lower(about_name) AS about_name, told_by FROM entity_facts WHERE interaction_id = ANY(%(interactions)s)

-- name: employers
-- Where conversations said that people work.
SELECT entity_id, unnest(ARRAY[value, read_value]) AS name FROM entity_facts
WHERE interaction_id = ANY(%(interactions)s) AND fact_type = 'organization' AND entity_id IS NOT NULL

-- name: namesakes
-- Who may be meant by a name: whoever has it in full, and everybody who writes in the chat.
SELECT e.id AS entity_id, e.name, e.is_self, (names_of(e.id))[2:] AS other_names FROM entities e
WHERE e.type = 'person' AND e.id IN (
    SELECT coalesce(merged_into, id) FROM entities WHERE lower(name) = lower(%(name)s) OR lower(own_name) = lower(%(name)s)
    UNION SELECT entity_id FROM entity_aliases WHERE lower(name) = lower(%(name)s)
    UNION SELECT person_of(m.entity_id) FROM chat_members m WHERE m.chat_id = %(chat)s)
ORDER BY e.id LIMIT 100

-- name: forget
DELETE FROM entity_facts WHERE interaction_id = ANY(%(interactions)s)

-- name: drop
-- Facts that a conversation states no more.
DELETE FROM entity_facts WHERE interaction_id = %(interaction)s AND id <> ALL (%(stated)s::uuid[])

-- name: insert
-- Facts are confirmed by rule (B2) from a confidence on that depends on who says them; those that rest on a deleted message
-- are skipped. Compared as real, like the column. A person's decision stands.
INSERT INTO entity_facts AS f (id, entity_id, about_name, told_by, fact_type, value, confidence, status, valid_from, is_ended,
    replaces, interaction_id, quote, message_ids)
SELECT g.id, g.entity_id, g.about_name, g.told_by, g.fact_type, g.value, g.confidence,
       CASE WHEN g.confidence >= CASE WHEN w.is_own THEN g.needed_own ELSE g.needed_of_others END THEN 'confirmed' ELSE 'candidate' END,
       coalesce(g.said_at, i.ended_at), g.is_ended, g.replaces, i.id, g.quote, g.message_ids
FROM jsonb_to_recordset(%(facts)s) AS g (id uuid, entity_id uuid, about_name text, told_by uuid, fact_type text, value text,
    confidence real, said_at timestamptz, is_ended boolean, replaces boolean, quote text, message_ids text[], needed_own real, needed_of_others real)
JOIN interactions i ON i.id = %(interaction)s
CROSS JOIN LATERAL (
    SELECT EXISTS (SELECT FROM messages m WHERE m.chat_id = i.chat_id AND m.external_id = ANY(g.message_ids)
                   AND m.sender_entity_id = ANY(accounts_of(g.entity_id))) AS is_own
) w
WHERE (g.entity_id IS NULL OR EXISTS (SELECT FROM entities e WHERE e.id = g.entity_id))
  AND NOT EXISTS (SELECT FROM messages m
                  WHERE m.chat_id = i.chat_id AND m.external_id = ANY(g.message_ids) AND m.deleted_at IS NOT NULL)
ON CONFLICT (id) DO UPDATE SET
    interaction_id = excluded.interaction_id, entity_id = excluded.entity_id, about_name = excluded.about_name,
    told_by = excluded.told_by, confidence = excluded.confidence, valid_from = excluded.valid_from, is_ended = excluded.is_ended,
    replaces = excluded.replaces, quote = excluded.quote, message_ids = excluded.message_ids,
    status = CASE WHEN f.decided_by = 'person' THEN f.status ELSE excluded.status END
WHERE (f.decided_by = 'memory' AND f.status <> excluded.status)
   OR (f.interaction_id, f.entity_id, f.about_name, f.told_by, f.confidence, f.valid_from, f.is_ended, f.replaces, f.quote, f.message_ids)
      IS DISTINCT FROM
      (excluded.interaction_id, excluded.entity_id, excluded.about_name, excluded.told_by, excluded.confidence, excluded.valid_from,
       excluded.is_ended, excluded.replaces, excluded.quote, excluded.message_ids)

-- name: of_people
-- All facts of these people, and those of somebody without an entity by the name that one person calls them.
SELECT id, entity_id, lower(about_name) AS about_name, told_by, fact_type, value, coalesce(read_value, value) AS said, status,
       decided_by, valid_from, valid_to, is_ended, replaces
FROM entity_facts
WHERE (interaction_id IS NOT NULL OR decided_by = 'person') AND entity_id = ANY(%(people)s)
UNION ALL
SELECT f.id, NULL, lower(f.about_name), f.told_by, f.fact_type, f.value, coalesce(f.read_value, f.value), f.status,
       f.decided_by, f.valid_from, f.valid_to, f.is_ended, f.replaces
FROM entity_facts f
JOIN unnest(%(names)s::text[], %(tellers)s::uuid[]) AS n (name, teller)
  ON lower(f.about_name) = n.name AND f.told_by IS NOT DISTINCT FROM n.teller
WHERE f.interaction_id IS NOT NULL AND f.entity_id IS NULL

-- name: add
-- What a person added of these people; the last addition of a value says from when it holds.
INSERT INTO entity_facts AS f (id, entity_id, fact_type, value, confidence, status, decided_by, valid_from, known_from, quote,
    message_ids)
SELECT DISTINCT ON (v.fact_id) v.fact_id, person_of(v.entity_id), v.fact_type, v.said, 1, 'confirmed', 'person', v.valid_from,
       min(v.decided_at) OVER (PARTITION BY v.fact_id), '', '{}'
FROM fact_verdicts v
WHERE v.action = 'add' AND v.entity_id IN (SELECT a FROM unnest(%(people)s::uuid[]) AS p, unnest(accounts_of(p)) AS a)
ORDER BY v.fact_id, v.decided_at DESC
ON CONFLICT (id) DO UPDATE SET valid_from = excluded.valid_from, entity_id = excluded.entity_id
WHERE (f.valid_from, f.entity_id) IS DISTINCT FROM (excluded.valid_from, excluded.entity_id)

-- name: withheld
-- Of these facts those that rest on a deleted message.
SELECT f.id FROM entity_facts f JOIN interactions i ON i.id = f.interaction_id
WHERE f.id = ANY(%(ids)s) AND rests_on_deleted(i.chat_id, f.message_ids)

-- name: judge
-- What a person made of facts; returns their conversations. A value that is the one that was read is no correction.
UPDATE entity_facts f SET status = g.status, value = g.value, decided_by = g.decided_by, known_to = g.known_to,
    read_value = CASE WHEN g.value <> coalesce(f.read_value, f.value) THEN coalesce(f.read_value, f.value) END
FROM unnest(%(ids)s::uuid[], %(statuses)s::text[], %(values)s::text[], %(by)s::text[], %(known_to)s::timestamptz[])
    AS g (id, status, value, decided_by, known_to)
WHERE f.id = g.id AND (f.status, f.value, f.decided_by, f.known_to) IS DISTINCT FROM (g.status, g.value, g.decided_by, g.known_to)
RETURNING f.id, f.interaction_id

-- name: end
-- Returns the facts that hold for another time than before, with their conversations.
UPDATE entity_facts f SET valid_to = g.until FROM unnest(%(ids)s::uuid[], %(until)s::timestamptz[]) AS g (id, until)
WHERE f.id = g.id AND f.valid_to IS DISTINCT FROM g.until RETURNING f.id, f.interaction_id

-- name: name_organization
INSERT INTO organizations AS o (id, name) VALUES (%(id)s, %(name)s)
ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE o.name <> excluded.name

-- name: join_organization
-- None only where the present one followed from facts.
UPDATE entities SET organization_id = %(organization)s
WHERE id = %(entity)s AND organization_id IS DISTINCT FROM %(organization)s
  AND (%(organization)s::uuid IS NOT NULL OR organization_id = ANY(%(past)s::uuid[]))

-- name: drop_organizations
-- Of these, where nobody works any more.
DELETE FROM organizations o WHERE o.id = ANY(%(past)s::uuid[]) AND NOT EXISTS (SELECT FROM entities e WHERE e.organization_id = o.id)
