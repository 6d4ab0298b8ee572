-- Items and their histories, derived from readings and from what a person decided.

-- name: by_index
-- The tables grow within a pass: plans made while they were empty would read them whole, talk after talk.
SET LOCAL enable_seqscan = off

-- name: lock
-- One transaction at a time folds items: a pass and a person's verdict each see what the other left.
SELECT pg_advisory_xact_lock(hashtext('items'))

-- name: naming
-- All readings that name one of these items; whether a person decided about any item at all.
SELECT r.interaction_id, r.ended_at, r.content, i.chat_id, EXISTS (SELECT FROM item_verdicts) AS has_verdicts
FROM interaction_readings r JOIN interactions i ON i.id = r.interaction_id
WHERE r.item_ids && %(ids)s::uuid[]

-- name: verdicts
-- What a person decided about these items, or about others of their chats whose ids may have changed.
SELECT v.item_id, v.kind, v.chat_id, v.message_ids, v.item_text, v.action, v.status, v.text, v.owner, v.due_date, v.clear_due_date,
       v.decided_at, r.id IS NOT NULL AS is_known
FROM item_verdicts v LEFT JOIN items r ON r.id = v.item_id
WHERE v.item_id = ANY(%(ids)s) OR v.chat_id = ANY(%(chats)s)
ORDER BY v.decided_at, v.id

-- name: standing
-- The items as they are stored, and those that rest on the messages of their verdicts: such a verdict goes to one of them
-- where its own item is gone.
SELECT i.id, i.kind, i.interaction_id,
       i.is_withheld OR EXISTS (SELECT FROM item_states s WHERE s.item_id = i.id AND s.is_withheld) AS is_withheld, i.owner_entity_id, i.owner_name, i.importance, i.proposed_by, i.agreed_by, i.chat_id, i.first_at,
       i.holds_until,
       ARRAY(SELECT p.entity_id FROM item_people p WHERE p.item_id = i.id ORDER BY p.entity_id) AS person_ids,
       (SELECT jsonb_agg(jsonb_build_object(
           'event', s.event, 'at', s.at, 'status', s.status, 'text', s.text, 'owner', s.owner, 'due_date', s.due_date,
           'quote', s.quote, 'message_ids', s.message_ids, 'interaction_id', s.interaction_id, 'decided_by', s.decided_by,
           'probability', s.probability, 'superseded_by', s.superseded_by) ORDER BY s.place)
        FROM item_states s WHERE s.item_id = i.id) AS states
FROM (
    SELECT unnest(%(ids)s::uuid[]) AS id
    UNION
    SELECT o.id FROM item_verdicts v JOIN items o ON o.chat_id = v.chat_id AND o.kind = v.kind AND o.message_ids && v.message_ids
    WHERE v.item_id = ANY(%(ids)s)
) w
JOIN items i ON i.id = w.id

-- name: delete_items
-- With their people and histories.
DELETE FROM items WHERE id = ANY(%(ids)s)

-- name: upsert_items
-- Withheld is one whose opening or present state rests on a deleted message.
INSERT INTO items (id, kind, status, text, owner, owner_entity_id, owner_name, due_date, importance, probability, proposed_by,
    agreed_by, superseded_by, decided_by, chat_id, interaction_id, quote, message_ids, first_at, last_at, settled_at, holds_until,
    is_withheld)
SELECT g.id, g.kind, g.status, g.text, g.owner, g.owner_entity_id, g.owner_name, g.due_date, g.importance, g.probability, g.proposed_by,
       g.agreed_by, g.superseded_by, g.decided_by, g.chat_id, g.interaction_id, g.quote, g.message_ids, g.first_at, g.last_at, g.settled_at,
       g.holds_until,
       EXISTS (SELECT FROM messages m
               WHERE m.chat_id = g.chat_id AND m.external_id = ANY(g.message_ids) AND m.deleted_at IS NOT NULL)
       OR EXISTS (SELECT FROM messages m
                  WHERE m.chat_id = g.said_in AND m.external_id = ANY(g.said_by) AND m.deleted_at IS NOT NULL)
FROM jsonb_to_recordset(%(items)s) AS g (id uuid, kind text, status text, text text, owner text, owner_entity_id uuid, owner_name text,
    due_date date, importance text, probability real, proposed_by uuid, agreed_by uuid[], superseded_by uuid, decided_by text,
    chat_id uuid, interaction_id uuid, quote text, message_ids text[], first_at timestamptz, last_at timestamptz, settled_at timestamptz,
    holds_until date, said_in uuid, said_by text[])
ON CONFLICT (id) DO UPDATE SET
    kind = excluded.kind, status = excluded.status, text = excluded.text, owner = excluded.owner,
    owner_entity_id = excluded.owner_entity_id, owner_name = excluded.owner_name, due_date = excluded.due_date,
    importance = excluded.importance, probability = excluded.probability, proposed_by = excluded.proposed_by,
    agreed_by = excluded.agreed_by, superseded_by = excluded.superseded_by, decided_by = excluded.decided_by,
    chat_id = excluded.chat_id, interaction_id = excluded.interaction_id, quote = excluded.quote, message_ids = excluded.message_ids,
    first_at = excluded.first_at, last_at = excluded.last_at, settled_at = excluded.settled_at, holds_until = excluded.holds_until,
    is_withheld = excluded.is_withheld

-- name: people
-- Whom items concern: in a direct chat the other side; in a group those who own, proposed or agreed, and those to whom a
-- quoted message is attributed (P34).
SELECT g.id AS item_id, p.entity_id
FROM jsonb_to_recordset(%(items)s) AS g (id uuid, interaction_id uuid, owner_entity_id uuid, proposed_by uuid, agreed_by uuid[], message_ids text[])
JOIN interactions i ON i.id = g.interaction_id
JOIN chats c ON c.id = i.chat_id
JOIN interaction_participants p ON p.interaction_id = i.id AND p.role = 'other'
WHERE c.kind = 'direct' OR p.entity_id = g.owner_entity_id OR p.entity_id = g.proposed_by OR p.entity_id = ANY(g.agreed_by)
   OR EXISTS (
       SELECT FROM messages m JOIN message_entities b ON b.message_id = m.id AND b.entity_id = p.entity_id
       WHERE m.chat_id = i.chat_id AND m.external_id = ANY(g.message_ids))
ORDER BY p.entity_id

-- name: write_histories
-- The histories and people of items; what is no longer of them goes.
WITH given AS (
    SELECT * FROM jsonb_to_recordset(%(states)s) AS g (item_id uuid, place int, at timestamptz, event text, status text, text text,
        owner text, due_date date, probability real, decided_by text, superseded_by uuid, chat_id uuid, interaction_id uuid,
        quote text, message_ids text[])
), states AS (
    INSERT INTO item_states (item_id, place, at, event, status, text, owner, due_date, probability, decided_by, superseded_by, chat_id,
        interaction_id, quote, message_ids, is_withheld, known_from)
    SELECT g.item_id, g.place, g.at, g.event, g.status, g.text, g.owner, g.due_date, g.probability, g.decided_by, g.superseded_by,
           g.chat_id, g.interaction_id, g.quote, g.message_ids,
           EXISTS (SELECT FROM messages m
                   WHERE m.chat_id = g.chat_id AND m.external_id = ANY(g.message_ids) AND m.deleted_at IS NOT NULL),
           -- the same at another place of a history that grew in between is no news (B11)
           coalesce((SELECT min(o.known_from) FROM item_states o
                     WHERE o.item_id = g.item_id AND (o.at, o.event, o.status, o.text, o.owner, o.due_date)
                           IS NOT DISTINCT FROM (g.at, g.event, g.status, g.text, g.owner, g.due_date)), known_now())
    FROM given g
    ON CONFLICT (item_id, place) DO UPDATE SET
        at = excluded.at, event = excluded.event, status = excluded.status, text = excluded.text, owner = excluded.owner,
        due_date = excluded.due_date, probability = excluded.probability, decided_by = excluded.decided_by,
        superseded_by = excluded.superseded_by, chat_id = excluded.chat_id, interaction_id = excluded.interaction_id,
        quote = excluded.quote, message_ids = excluded.message_ids, is_withheld = excluded.is_withheld, known_from = excluded.known_from
), shorter AS (
    DELETE FROM item_states s WHERE s.item_id = ANY(%(ids)s)
      AND NOT EXISTS (SELECT FROM given g WHERE g.item_id = s.item_id AND g.place = s.place)
), people AS (
    SELECT * FROM unnest(%(item_id)s::uuid[], %(entity_id)s::uuid[]) AS p (item_id, entity_id)
), fewer AS (
    DELETE FROM item_people o WHERE o.item_id = ANY(%(ids)s)
      AND NOT EXISTS (SELECT FROM people p WHERE p.item_id = o.item_id AND p.entity_id = o.entity_id)
)
INSERT INTO item_people (item_id, entity_id) SELECT item_id, entity_id FROM people ON CONFLICT DO NOTHING

-- name: mark_days
-- What is searched by day.
INSERT INTO dirty_partitions (asset, partition_key, reason)
SELECT 'memory_chunks', day_key(day), 'items changed' FROM interactions WHERE id = ANY(%(ids)s) GROUP BY day
