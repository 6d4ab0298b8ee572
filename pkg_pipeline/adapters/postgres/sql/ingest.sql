-- name: known_selves
-- External ids of me on one source.
SELECT i.external_id FROM entity_identities i JOIN entities e ON e.id = i.entity_id
WHERE i.source = %(source)s AND e.is_self ORDER BY 1

-- name: begin_batch
INSERT INTO import_batches (id, file, format, status) VALUES (%(id)s, %(file)s, %(format)s, 'running')
ON CONFLICT (id) DO UPDATE SET status = 'running'

-- name: finish_batch
UPDATE import_batches
SET status = %(status)s, finished_at = clock_timestamp(), content_sha256 = %(sha256)s, counts = %(counts)s, rejected = %(rejected)s
WHERE id = %(id)s

-- name: upsert_chats
-- What an export says again replaces nothing that a person or a rule set; titles are dealt with when the file is done.
INSERT INTO chats (id, source, external_id, kind, category, title, title_at, metadata)
SELECT * FROM unnest(%(id)s::uuid[], %(source)s::text[], %(external_id)s::text[], %(kind)s::text[], %(category)s::text[],
                     %(title)s::text[], %(title_at)s::timestamptz[], %(metadata)s::jsonb[])
ON CONFLICT (id) DO UPDATE SET category = excluded.category
WHERE chats.category IS NULL AND excluded.category IS NOT NULL AND chats.category_source = 'export'

-- name: upsert_entities
INSERT INTO entities (id, name, name_at, is_self)
SELECT DISTINCT ON (id) id, name, name_at, is_self
FROM unnest(%(id)s::uuid[], %(name)s::text[], %(name_at)s::timestamptz[], %(is_self)s::bool[]) AS given (id, name, name_at, is_self)
ORDER BY id, is_self DESC
ON CONFLICT (id) DO UPDATE SET is_self = true WHERE excluded.is_self AND NOT entities.is_self
RETURNING CASE WHEN is_self THEN id END

-- name: adopt_self
-- Somebody turns out to be me: what they wrote before becomes outgoing, and roles in their chats are looked at again.
WITH mine AS (
    UPDATE messages m SET is_outgoing = true
    FROM chat_members c
    WHERE c.entity_id = ANY(%(ids)s) AND m.chat_id = c.chat_id AND m.sender_entity_id = c.entity_id AND NOT m.is_outgoing
    RETURNING m.chat_id
)
INSERT INTO dirty_partitions (asset, partition_key, reason, from_at, to_at)
SELECT 'interactions', chat_id::text, 'self known',
       (SELECT min(sent_at) FROM messages WHERE messages.chat_id = mine.chat_id),
       (SELECT max(sent_at) FROM messages WHERE messages.chat_id = mine.chat_id)
FROM mine GROUP BY chat_id

-- name: insert_identities
INSERT INTO entity_identities (source, external_id, entity_id)
SELECT * FROM unnest(%(source)s::text[], %(external_id)s::text[], %(id)s::uuid[])
ON CONFLICT DO NOTHING

-- name: insert_members
INSERT INTO chat_members (chat_id, entity_id)
SELECT * FROM unnest(%(chat_id)s::uuid[], %(entity_id)s::uuid[])
ON CONFLICT DO NOTHING

-- name: lock_chats
-- Within a chat ids are taken under this lock, so that their order is the order of commits.
SELECT id FROM chats WHERE id = ANY(%(ids)s) ORDER BY id FOR UPDATE

-- name: create_incoming
CREATE TEMP TABLE IF NOT EXISTS incoming (
    chat_id uuid NOT NULL, sender_entity_id uuid, sent_at timestamptz NOT NULL, edited_at timestamptz,
    token_count integer NOT NULL, importance_score real NOT NULL, is_deleted boolean NOT NULL, is_outgoing boolean NOT NULL,
    is_time_assumed boolean NOT NULL, kind text NOT NULL, role text, importance_reason text, external_id text NOT NULL,
    content text NOT NULL, content_hash text NOT NULL, reply_to text, topic text, forwarded_from text, parts jsonb, metadata jsonb
) ON COMMIT DELETE ROWS

-- name: copy_incoming
COPY incoming (
    chat_id, sender_entity_id, sent_at, edited_at, token_count, importance_score, is_deleted, is_outgoing, is_time_assumed,
    kind, role, importance_reason, external_id, content, content_hash, reply_to, topic, forwarded_from, parts, metadata
) FROM STDIN

-- name: insert_new
-- The winning version of each message that is not there yet, in the chat's order; marks the chats touched.
WITH winners AS (
    SELECT DISTINCT ON (chat_id, external_id) * FROM incoming
    ORDER BY chat_id, external_id, is_deleted DESC, edited_at DESC NULLS LAST, content_hash DESC
), inserted AS (
    INSERT INTO messages (
        chat_id, sender_entity_id, sent_at, exported_at, edited_at, deleted_at, token_count, importance_score, is_outgoing,
        is_time_assumed, kind, role, importance_reason, external_id, content, content_hash, reply_to, topic, forwarded_from,
        parts, metadata
    )
    SELECT chat_id, sender_entity_id, sent_at, %(exported_at)s, edited_at, CASE WHEN is_deleted THEN clock_timestamp() END,
           token_count, importance_score, is_outgoing, is_time_assumed, kind, role, importance_reason, external_id, content,
           content_hash, reply_to, topic, forwarded_from, parts, metadata
    FROM winners
    ORDER BY chat_id, sent_at, length(external_id), external_id COLLATE "C"
    ON CONFLICT (chat_id, external_id) DO NOTHING
    RETURNING chat_id, sent_at, deleted_at
), marked AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason, from_at, to_at)
    SELECT 'interactions', chat_id::text, 'new messages', min(sent_at), max(sent_at) FROM inserted GROUP BY chat_id
    RETURNING 1
)
SELECT (SELECT count(*) FROM inserted), (SELECT count(*) FROM incoming), (SELECT count(*) FROM inserted WHERE deleted_at IS NOT NULL),
       (SELECT count(*) FROM marked)

-- name: changed
-- Messages that were there, with every other version of them that came in: the greatest version is the text that stands
-- (deleted before live, later edit, later export, greater hash), so that no order of files makes a difference.
CREATE TEMP TABLE changed ON COMMIT DROP AS
WITH versions AS (
    SELECT m.id, i.*, %(exported_at)s::timestamptz AS exported_at
    FROM incoming i JOIN messages m USING (chat_id, external_id)
    WHERE i.content_hash <> m.content_hash OR i.edited_at IS DISTINCT FROM m.edited_at OR i.is_deleted <> (m.deleted_at IS NOT NULL)
       OR (i.sender_entity_id, i.sent_at, i.reply_to, i.topic, i.forwarded_from, i.metadata, i.parts, i.kind, i.is_outgoing)
          IS DISTINCT FROM
          (m.sender_entity_id, m.sent_at, m.reply_to, m.topic, m.forwarded_from, m.metadata, m.parts, m.kind, m.is_outgoing)
)
SELECT DISTINCT ON (id) v.*, (
    (v.is_deleted, coalesce(v.edited_at, '-infinity'), v.exported_at, v.content_hash COLLATE "C") >
    (m.deleted_at IS NOT NULL, coalesce(m.edited_at, '-infinity'), m.exported_at, m.content_hash COLLATE "C")
) OR (
    -- the same text with other circumstances: a later export knows better; at equal times any fixed order will do
    (v.content_hash, v.is_deleted) = (m.content_hash, m.deleted_at IS NOT NULL) AND v.edited_at IS NOT DISTINCT FROM m.edited_at
    AND (v.is_outgoing <> m.is_outgoing OR
        (v.exported_at, coalesce(v.topic, ''), coalesce(v.metadata::text, ''), coalesce(v.reply_to, ''), v.sent_at,
         coalesce(v.sender_entity_id::text, ''), coalesce(v.parts::text, ''), coalesce(v.forwarded_from, ''), v.kind) >
        (m.exported_at, coalesce(m.topic, ''), coalesce(m.metadata::text, ''), coalesce(m.reply_to, ''), m.sent_at,
         coalesce(m.sender_entity_id::text, ''), coalesce(m.parts::text, ''), coalesce(m.forwarded_from, ''), m.kind))
) AS is_newer,
    v.content_hash <> m.content_hash OR v.is_deleted <> (m.deleted_at IS NOT NULL) AS is_other_text,
    m.sent_at AS old_sent_at, m.interaction_id
FROM versions v JOIN messages m ON m.id = v.id
ORDER BY id, v.is_deleted DESC, v.edited_at DESC NULLS LAST, v.content_hash DESC

-- name: keep_revisions
-- Every text that does not stand is kept: the one that is replaced and each that comes too late.
INSERT INTO message_revisions (message_id, content_hash, edited_at, is_deleted, content)
SELECT m.id, m.content_hash, coalesce(m.edited_at, m.sent_at), m.deleted_at IS NOT NULL, m.content
FROM changed c JOIN messages m ON m.id = c.id WHERE c.is_newer AND c.is_other_text
UNION ALL
SELECT m.id, i.content_hash, max(coalesce(i.edited_at, i.sent_at)), i.is_deleted, i.content
FROM incoming i JOIN messages m USING (chat_id, external_id) LEFT JOIN changed c ON c.id = m.id
WHERE (i.content_hash <> m.content_hash OR i.is_deleted <> (m.deleted_at IS NOT NULL))
  AND NOT (coalesce(c.is_newer, false) AND (c.content_hash, c.is_deleted) = (i.content_hash, i.is_deleted))
GROUP BY 1, 2, 4, 5
ON CONFLICT (message_id, content_hash, is_deleted) DO UPDATE SET edited_at = excluded.edited_at
WHERE excluded.edited_at > message_revisions.edited_at

-- name: mark_changed
-- What rests on an edited or deleted message: its chat is looked at again, its summary is dirty, and what rests on a
-- deleted message is withheld at once (P29).
WITH touched AS (
    SELECT c.*, m.chat_id AS in_chat FROM changed c JOIN messages m ON m.id = c.id WHERE c.is_newer
), marked AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason, from_at, to_at)
    SELECT 'interactions', in_chat::text, 'changed messages', least(min(sent_at), min(old_sent_at)), greatest(max(sent_at), max(old_sent_at))
    FROM touched GROUP BY in_chat
), dirty AS (
    UPDATE interaction_summaries s
    SET status = 'dirty', dirty_reason = CASE WHEN t.deleted OR s.dirty_reason = 'deleted' THEN 'deleted' ELSE 'edited' END
    FROM (SELECT interaction_id, bool_or(is_deleted) AS deleted FROM touched
          WHERE is_other_text AND interaction_id IS NOT NULL GROUP BY 1) t
    WHERE s.interaction_id = t.interaction_id AND s.status IN ('completed', 'dirty')
)
UPDATE summary_items s SET is_withheld = true
FROM touched t
WHERE t.is_deleted AND s.interaction_id = t.interaction_id AND s.message_ids @> ARRAY[t.external_id] AND NOT s.is_withheld

-- name: update_changed
UPDATE messages m
SET sender_entity_id = c.sender_entity_id, sent_at = c.sent_at, exported_at = c.exported_at, edited_at = c.edited_at,
    deleted_at = CASE WHEN c.is_deleted THEN coalesce(m.deleted_at, clock_timestamp()) END,
    token_count = c.token_count, importance_score = c.importance_score, importance_reason = c.importance_reason,
    is_outgoing = c.is_outgoing, is_time_assumed = c.is_time_assumed, kind = c.kind, role = c.role, content = c.content,
    content_hash = c.content_hash, reply_to = c.reply_to, topic = c.topic, forwarded_from = c.forwarded_from,
    parts = c.parts, metadata = c.metadata
FROM changed c WHERE c.id = m.id AND c.is_newer
RETURNING c.is_deleted AND c.is_other_text

-- name: upsert_titles
UPDATE chats c SET title = given.title, title_at = given.at
FROM unnest(%(id)s::uuid[], %(title)s::text[], %(at)s::timestamptz[]) AS given (id, title, at)
WHERE c.id = given.id AND (given.at, given.title COLLATE "C") > (c.title_at, coalesce(c.title, '') COLLATE "C")

-- name: upsert_names
UPDATE entities e SET name = given.name, name_at = given.at
FROM unnest(%(id)s::uuid[], %(name)s::text[], %(at)s::timestamptz[]) AS given (id, name, at)
WHERE e.id = given.id AND (given.at, given.name COLLATE "C") > (e.name_at, e.name COLLATE "C")
