-- Lists of entities, interactions and summaries. Pages by key, never by offset: page 1,000 costs what page 1 does.

-- name: entity
-- one entity with its identities and the extent of the relationship
SELECT e.id, e.name, e.type, e.is_self,
       (SELECT array_agg(source || ':' || external_id ORDER BY source, external_id)
        FROM (SELECT source, external_id FROM entity_identities WHERE entity_id = e.id LIMIT 50) AS own) AS identities,
       coalesce((SELECT messages_total FROM entity_days WHERE entity_id = e.id ORDER BY day DESC LIMIT 1), 0) AS messages,
       (SELECT started_at FROM interaction_participants WHERE entity_id = e.id ORDER BY started_at LIMIT 1) AS first_contact,
       (SELECT ended_at FROM interaction_participants WHERE entity_id = e.id ORDER BY ended_at DESC LIMIT 1) AS last_contact
FROM entities e WHERE e.id = %(entity)s

-- name: entities_named
-- whose name is exactly this, letter case ignored
SELECT e.id, e.name, e.type, e.is_self,
       (SELECT array_agg(source || ':' || external_id ORDER BY source, external_id)
        FROM (SELECT source, external_id FROM entity_identities WHERE entity_id = e.id LIMIT 50) AS own) AS identities,
       coalesce((SELECT messages_total FROM entity_days WHERE entity_id = e.id ORDER BY day DESC LIMIT 1), 0) AS messages,
       (SELECT started_at FROM interaction_participants WHERE entity_id = e.id ORDER BY started_at LIMIT 1) AS first_contact,
       (SELECT ended_at FROM interaction_participants WHERE entity_id = e.id ORDER BY ended_at DESC LIMIT 1) AS last_contact
FROM entities e WHERE lower(e.name) = lower(%(name)s) ORDER BY e.id LIMIT %(limit)s

-- name: entities_page
-- by name; a query keeps those whose name contains it. Names are the smallest table there is: one index, read in order
SELECT e.id, e.name, e.type, e.is_self,
       (SELECT array_agg(source || ':' || external_id ORDER BY source, external_id)
        FROM (SELECT source, external_id FROM entity_identities WHERE entity_id = e.id LIMIT 50) AS own) AS identities,
       coalesce((SELECT messages_total FROM entity_days WHERE entity_id = e.id ORDER BY day DESC LIMIT 1), 0) AS messages,
       (SELECT started_at FROM interaction_participants WHERE entity_id = e.id ORDER BY started_at LIMIT 1) AS first_contact,
       (SELECT ended_at FROM interaction_participants WHERE entity_id = e.id ORDER BY ended_at DESC LIMIT 1) AS last_contact
FROM (
    SELECT id, name, type, is_self FROM entities
    WHERE lower(name) >= lower(%(after_name)s)
      AND (lower(name), id) > (lower(%(after_name)s), %(after_id)s)
      AND (%(query)s = '' OR position(lower(%(query)s) IN lower(name)) > 0)
    ORDER BY lower(name), id LIMIT %(limit)s
) AS e ORDER BY lower(e.name), e.id

-- name: is_empty
SELECT NOT EXISTS (SELECT FROM chats) AS is_empty

-- name: entity_of_key
-- an identity's, else that of the other one in a direct chat
SELECT entity_id FROM (
    SELECT entity_id, 1 AS rank FROM entity_identities WHERE source = %(source)s AND external_id = %(external_id)s
    UNION ALL
    (SELECT m.entity_id, 2 FROM chats c JOIN chat_members m ON m.chat_id = c.id JOIN entities e ON e.id = m.entity_id
     WHERE c.source = %(source)s AND c.external_id = %(external_id)s AND c.kind = 'direct'
     ORDER BY e.is_self, m.entity_id LIMIT 1)
) AS found ORDER BY rank LIMIT 1

-- name: chat_of_key
-- the chat itself, else the direct chats with the person whose identity it is
SELECT c.source, c.external_id FROM chats c WHERE c.source = %(source)s AND c.external_id = %(external_id)s
UNION
SELECT c.source, c.external_id FROM entity_identities i
JOIN chat_members m ON m.entity_id = i.entity_id JOIN chats c ON c.id = m.chat_id AND c.kind = 'direct'
JOIN entities e ON e.id = i.entity_id AND NOT e.is_self
WHERE i.source = %(source)s AND i.external_id = %(external_id)s
  AND NOT EXISTS (SELECT FROM chats k WHERE k.source = %(source)s AND k.external_id = %(external_id)s)
ORDER BY source, external_id LIMIT 20

-- name: chat_of_id
SELECT source, external_id FROM chats WHERE id = %(id)s

-- name: entity_names
-- to compare a misspelt name with
SELECT id, name FROM entities ORDER BY lower(name) LIMIT %(limit)s

-- name: timeline
-- interactions of an entity, newest start first, each with the summary that is served for it
SELECT p.interaction_id, c.source, c.external_id, c.kind, c.title, p.started_at, p.ended_at, i.status, i.language,
       p.message_count, s.id, s.status, s.dirty_reason IS NOT DISTINCT FROM 'deleted', s.summary
FROM (
    SELECT interaction_id, started_at, ended_at, message_count FROM interaction_participants
    WHERE entity_id = %(entity)s AND started_at <= %(after_at)s
      AND (started_at, interaction_id) < (%(after_at)s, %(after_id)s)
    ORDER BY started_at DESC, interaction_id DESC LIMIT %(limit)s
) AS p
JOIN interactions i ON i.id = p.interaction_id
JOIN chats c ON c.id = i.chat_id
LEFT JOIN live_summaries s ON s.interaction_id = p.interaction_id
ORDER BY p.started_at DESC, p.interaction_id DESC

-- name: interactions_of_entity
-- candidates of a page of summaries, newest start first
SELECT interaction_id, started_at FROM interaction_participants
WHERE entity_id = %(entity)s AND started_at <= %(after_at)s AND started_at >= %(from_at)s
  AND (started_at, interaction_id) < (%(after_at)s, %(after_id)s)
ORDER BY started_at DESC, interaction_id DESC LIMIT %(scan)s

-- name: interactions_of_chat
SELECT id, started_at FROM interactions
WHERE chat_id = (SELECT id FROM chats WHERE source = %(source)s AND external_id = %(external_id)s)
  AND started_at <= %(after_at)s AND started_at >= %(from_at)s
  AND (started_at, id) < (%(after_at)s, %(after_id)s)
ORDER BY started_at DESC, id DESC LIMIT %(scan)s

-- name: interactions_of_these
-- which of a page of candidates took place in one chat
SELECT i.id FROM interactions i JOIN chats c ON c.id = i.chat_id
WHERE i.id = ANY (%(ids)s) AND c.source = %(source)s AND c.external_id = %(external_id)s

-- name: interactions_of_all
-- a later start never has an earlier local day, so the index over days gives the order of starts
SELECT id, started_at FROM interactions
WHERE day <= %(after_day)s AND day >= %(from_day)s AND started_at >= %(from_at)s
  AND (started_at, id) < (%(after_at)s, %(after_id)s)
ORDER BY day DESC, started_at DESC, id DESC LIMIT %(scan)s

-- name: summaries
-- the summaries of these interactions, whatever their status, with what of them must not be shown (P29): those of the
-- messages that one covers or cites which are deleted
SELECT s.id, s.interaction_id, c.source, c.external_id, i.started_at, i.ended_at, s.status,
       s.revision_count, s.summary, s.tone, s.key_points, s.decisions, s.action_items, s.extracted_facts,
       s.important_messages, s.dirty_reason IS NOT DISTINCT FROM 'deleted' OR coalesce(gone.is_covered, false) AS is_withheld,
       coalesce(gone.ids, '{}') AS deleted_messages, s.model_version, s.cost_usd
FROM unnest(%(interactions)s::uuid[]) WITH ORDINALITY AS wanted (id, place)
JOIN interactions i ON i.id = wanted.id
JOIN chats c ON c.id = i.chat_id
JOIN interaction_summaries s ON s.interaction_id = wanted.id AND s.status = ANY (%(statuses)s)
CROSS JOIN LATERAL (
    SELECT array_agg(m.external_id) AS ids, bool_or(m.external_id = ANY (s.message_ids)) AS is_covered
    FROM messages m
    WHERE m.chat_id = i.chat_id AND m.deleted_at IS NOT NULL AND m.external_id = ANY (s.message_ids || ARRAY(
        SELECT cited #>> '{}' FROM jsonb_path_query(s.decisions || s.action_items || s.extracted_facts, '$[*].message_ids[*]') AS cited))
) gone
ORDER BY wanted.place, s.revision_count DESC, s.generated_at DESC, s.id

-- name: revision
-- what the schema of this database is at
SELECT version_num FROM alembic_version
