-- Lock order of every transaction, against deadlocks: lock of the selves, new entities, entities by id, new chats, chats by
-- id, messages.

-- name: known_selves
-- External ids of me on one source.
SELECT i.external_id FROM entity_identities i JOIN entities e ON e.id = i.entity_id
WHERE i.source = %(source)s AND e.is_self ORDER BY 1

-- name: hold_batch
-- A session-level lock: released by the server when the process dies.
SELECT pg_advisory_lock(hashtextextended(%(id)s::uuid::text, 7))

-- name: release_batch
SELECT pg_advisory_unlock(hashtextextended(%(id)s::uuid::text, 7))

-- name: end_dead_batches
-- Imports whose process is gone: nobody holds their lock.
WITH running AS MATERIALIZED (
    SELECT id FROM import_batches WHERE status = 'running'
)
UPDATE import_batches b SET status = 'failed', finished_at = clock_timestamp()
FROM running r WHERE b.id = r.id AND b.status = 'running' AND pg_try_advisory_xact_lock(hashtextextended(r.id::text, 7))

-- name: begin_batch
INSERT INTO import_batches (id, file, format, status) VALUES (%(id)s, %(file)s, %(format)s, 'running')
ON CONFLICT (id) DO UPDATE SET status = 'running'

-- name: finish_batch
UPDATE import_batches
SET status = %(status)s, finished_at = clock_timestamp(), content_sha256 = %(sha256)s, counts = %(counts)s, rejected = %(rejected)s
WHERE id = %(id)s

-- name: new_selves
SELECT given.id FROM unnest(%(ids)s::uuid[]) AS given (id)
WHERE NOT EXISTS (SELECT FROM entities e WHERE e.id = given.id AND e.is_self)

-- name: lock_selves
-- Making an entity me waits for running batches and blocks new ones, so that no message misses being outgoing.
SELECT pg_advisory_xact_lock(7310526)

-- name: share_selves
SELECT pg_advisory_xact_lock_shared(7310526)

-- name: insert_entities
INSERT INTO entities (id, name, name_at)
SELECT DISTINCT ON (id) id, name, name_at
FROM unnest(%(id)s::uuid[], %(name)s::text[], %(name_at)s::timestamptz[]) AS given (id, name, name_at)
ORDER BY id, name_at DESC, name COLLATE "C" DESC
ON CONFLICT DO NOTHING

-- name: insert_identities
INSERT INTO entity_identities (source, external_id, entity_id)
SELECT * FROM unnest(%(source)s::text[], %(external_id)s::text[], %(id)s::uuid[]) AS given (source, external_id, id) ORDER BY id
ON CONFLICT DO NOTHING

-- name: insert_chats
INSERT INTO chats (id, source, external_id, kind, title_at)
SELECT DISTINCT ON (id) id, source, external_id, kind, '0001-01-01Z'::timestamptz
FROM unnest(%(id)s::uuid[], %(source)s::text[], %(external_id)s::text[], %(kind)s::text[]) AS given (id, source, external_id, kind)
ORDER BY id
ON CONFLICT DO NOTHING

-- name: lock_chats
-- Within a chat ids are assigned under this lock, so their order is commit order. Chats of an entity that becomes me are
-- locked too, as their messages change.
SELECT id FROM chats
WHERE id = ANY(%(ids)s) OR id IN (SELECT chat_id FROM chat_members WHERE entity_id = ANY(%(selves)s))
ORDER BY id FOR NO KEY UPDATE

-- name: describe_chats
-- Kind and category from exports, by fixed precedence whatever the order of imports. Precedence of the category: person,
-- export, rule.
WITH given AS (
    SELECT id, max(kind) AS kind, max(category COLLATE "C") AS category FROM (
        SELECT id, array_position('{direct,thread,group,channel}'::text[], kind) AS kind, category
        FROM unnest(%(id)s::uuid[], %(kind)s::text[], %(category)s::text[]) AS g (id, kind, category)
    ) ranked GROUP BY id
), wanted AS (
    SELECT c.id, c.kind AS old_kind, c.category AS old_category,
           ('{direct,thread,group,channel}'::text[])[greatest(g.kind, array_position('{direct,thread,group,channel}'::text[], c.kind))] AS kind,
           CASE WHEN c.category_source = 'user' OR g.category IS NULL THEN c.category
                WHEN c.category_source = 'rule' THEN g.category
                ELSE greatest(g.category, c.category COLLATE "C") END AS category,
           CASE WHEN c.category_source = 'rule' AND g.category IS NOT NULL THEN 'export' ELSE c.category_source END AS category_source
    FROM chats c JOIN given g ON g.id = c.id
), changed AS (
    UPDATE chats c SET kind = w.kind, category = w.category, category_source = w.category_source
    FROM wanted w WHERE c.id = w.id
      AND (c.kind, c.category, c.category_source) IS DISTINCT FROM (w.kind, w.category, w.category_source)
    RETURNING c.id
), days AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT asset, day_key(i.day), 'chat described anew'
    FROM interactions i JOIN changed ON changed.id = i.chat_id
    CROSS JOIN unnest('{interaction_summaries,memory_chunks}'::text[]) AS a (asset) GROUP BY asset, i.day
)
INSERT INTO dirty_partitions (asset, partition_key, reason, from_at, to_at)
SELECT 'interactions', changed.id::text, 'chat described anew', min(m.sent_at), max(m.sent_at)
FROM changed JOIN messages m ON m.chat_id = changed.id GROUP BY changed.id

-- name: insert_members
-- A new member may be named in earlier messages, and takes part in a direct chat from its beginning.
WITH given AS (
    SELECT * FROM unnest(%(chat_id)s::uuid[], %(entity_id)s::uuid[]) AS g (chat_id, entity_id)
), joined AS (
    INSERT INTO chat_members (chat_id, entity_id)
    SELECT chat_id, entity_id FROM given ORDER BY chat_id, entity_id
    ON CONFLICT DO NOTHING
    RETURNING chat_id, entity_id
), crowded AS (
    -- with a third sender it is a group, whatever an export said
    UPDATE chats c SET kind = 'group'
    FROM (SELECT chat_id, count(*) AS joined FROM joined GROUP BY chat_id) j
    WHERE c.id = j.chat_id AND c.kind = 'direct'
      AND j.joined + (SELECT count(*) FROM chat_members m WHERE m.chat_id = c.id) > 2
    RETURNING c.id
), searched AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'memory_chunks', day_key(i.day), 'became a group'
    FROM interactions i JOIN crowded ON crowded.id = i.chat_id GROUP BY i.day
)
INSERT INTO dirty_partitions (asset, partition_key, reason, from_at, to_at)
SELECT 'interactions', c.id::text, 'new members', b.first_at, b.last_at
FROM chats c CROSS JOIN LATERAL (SELECT min(sent_at) AS first_at, max(sent_at) AS last_at FROM messages m WHERE m.chat_id = c.id) b
WHERE c.id IN (SELECT chat_id FROM joined) AND b.first_at IS NOT NULL

-- name: adopt_self
-- An entity becomes me: its messages become outgoing, and roles in its chats are recomputed.
WITH mine AS (
    UPDATE entities SET is_self = true WHERE id = ANY(%(selves)s) AND NOT is_self RETURNING id
), said AS (
    UPDATE messages m SET is_outgoing = true
    FROM chat_members c JOIN mine ON mine.id = c.entity_id
    WHERE m.chat_id = c.chat_id AND m.sender_entity_id = c.entity_id AND NOT m.is_outgoing
)
INSERT INTO dirty_partitions (asset, partition_key, reason, from_at, to_at)
SELECT 'interactions', c.chat_id::text, 'self known', b.first_at, b.last_at
FROM (SELECT DISTINCT chat_id FROM chat_members JOIN mine ON mine.id = entity_id) c
CROSS JOIN LATERAL (SELECT min(sent_at) AS first_at, max(sent_at) AS last_at FROM messages m WHERE m.chat_id = c.chat_id) b
WHERE b.first_at IS NOT NULL

-- name: create_incoming
CREATE TEMP TABLE IF NOT EXISTS incoming (
    chat_id uuid NOT NULL, sender_entity_id uuid, sent_at timestamptz NOT NULL, edited_at timestamptz,
    token_count integer NOT NULL, importance_score real NOT NULL, is_deleted boolean NOT NULL,
    is_time_assumed boolean NOT NULL, kind text NOT NULL, role text, importance_reason text, external_id text NOT NULL,
    content text NOT NULL, content_hash text NOT NULL, reply_to text, topic text, forwarded_from text, parts jsonb, metadata jsonb
) ON COMMIT DELETE ROWS

-- name: copy_incoming
-- Columns in the order of the fields of MessageRow.
COPY incoming (
    chat_id, sender_entity_id, sent_at, edited_at, token_count, importance_score, is_deleted, is_time_assumed,
    kind, role, importance_reason, external_id, content, content_hash, reply_to, topic, forwarded_from, parts, metadata
) FROM STDIN

-- name: create_best
-- The winning version of each message in the batch; of live messages the last.
CREATE TEMP TABLE best ON COMMIT DROP AS
SELECT DISTINCT ON (chat_id, external_id) * FROM incoming i
ORDER BY chat_id, external_id, is_deleted DESC, edited_at DESC NULLS LAST,
    CASE WHEN %(is_live)s THEN ctid END DESC, content_hash COLLATE "C" DESC, sent_at DESC, kind DESC,
    coalesce(sender_entity_id::text, '') DESC, coalesce(reply_to, '') COLLATE "C" DESC, coalesce(topic, '') COLLATE "C" DESC,
    coalesce(forwarded_from, '') COLLATE "C" DESC, coalesce(role, '') DESC, is_time_assumed DESC,
    coalesce(parts::text, '') COLLATE "C" DESC, coalesce(metadata::text, '') COLLATE "C" DESC

-- name: insert_new
-- New messages in the chat's order; marks the chats dirty. is_self is read under the lock. Of several versions any is
-- inserted; update_changed replaces it by the greatest.
WITH inserted AS (
    INSERT INTO messages (
        chat_id, sender_entity_id, sent_at, exported_at, edited_at, deleted_at, token_count, importance_score, is_outgoing,
        is_time_assumed, kind, role, importance_reason, external_id, content, content_hash, reply_to, topic, forwarded_from,
        parts, metadata
    )
    SELECT i.chat_id, i.sender_entity_id, i.sent_at, %(exported_at)s, i.edited_at, CASE WHEN i.is_deleted THEN %(now)s::timestamptz END,
           i.token_count, i.importance_score, coalesce(e.is_self, false), i.is_time_assumed, i.kind, i.role, i.importance_reason,
           i.external_id, i.content, i.content_hash, i.reply_to, i.topic, i.forwarded_from, i.parts, i.metadata
    FROM incoming i LEFT JOIN entities e ON e.id = i.sender_entity_id
    ORDER BY i.chat_id, i.sent_at, length(i.external_id), i.external_id COLLATE "C"
    ON CONFLICT (chat_id, external_id) DO NOTHING
    RETURNING chat_id, external_id, sent_at, deleted_at
), lacking AS (
    -- earlier exports lack the new messages
    UPDATE chat_exports e SET missing = e.missing || n.numbers
    FROM (
        SELECT e.id, array_agg(i.external_id::bigint) AS numbers
        FROM inserted i JOIN chat_exports e ON e.chat_id = i.chat_id AND e.is_whole
        WHERE message_number(i.external_id) BETWEEN e.first_number AND e.last_number
        GROUP BY e.id
    ) n WHERE e.id = n.id
), marked AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason, from_at, to_at)
    SELECT 'interactions', chat_id::text, 'new messages', min(sent_at), max(sent_at) FROM inserted GROUP BY chat_id
)
SELECT count(*) AS messages, count(deleted_at) AS deleted FROM inserted

-- name: changed
-- Stored messages with a greater incoming version. The greatest version ever seen wins (deleted before live, later edit,
-- later export, greater hash, then the rest in a fixed order), so the order of files does not matter. is_changed: more than
-- the export time differs. stays_archived: the archived (or dropped) text is still current. stays_blank: so is the blanked
-- text of a deleted message. Missing in exports is not part of a version. A live message follows all earlier ones whatever
-- the clock says; an equal one changes nothing.
CREATE TEMP TABLE changed ON COMMIT DROP AS
SELECT * FROM (
SELECT m.id, i.*, e.exported_at, m.sent_at AS old_sent_at,
       interaction_of(m.kind, m.chat_id, m.sent_at) AS interaction_id,
       (i.content_hash, i.is_deleted) IS DISTINCT FROM (m.content_hash, t.is_deleted) AS is_other_text,
       (i.content_hash, i.is_deleted, i.edited_at) IS DISTINCT FROM (m.content_hash, t.is_deleted, m.edited_at) AS is_other_version,
       (i.content_hash, i.is_deleted, i.edited_at, i.sent_at, i.kind, i.sender_entity_id, i.reply_to, coalesce(i.topic, m.topic), i.forwarded_from,
        i.role, i.is_time_assumed, i.parts, i.metadata)
       IS DISTINCT FROM
       (m.content_hash, t.is_deleted, m.edited_at, m.sent_at, m.kind, m.sender_entity_id, m.reply_to, m.topic,
        m.forwarded_from, m.role, m.is_time_assumed, p.parts, p.metadata) AS is_changed,
       i.is_deleted AND NOT t.is_deleted AS is_newly_deleted,
       m.is_archived AND i.content_hash = m.content_hash AND i.parts IS NOT DISTINCT FROM p.parts AS stays_archived,
       m.is_blanked AND t.is_deleted AND i.content_hash = m.content_hash AS stays_blank
FROM best i JOIN messages m USING (chat_id, external_id)
LEFT JOIN LATERAL (
    SELECT true AS is_there, parts FROM archived_messages
    WHERE m.is_archived AND month = m.archived_month AND message_id = m.id LIMIT 1
) a ON true
CROSS JOIN LATERAL (
    SELECT CASE WHEN m.is_blanked THEN i.parts WHEN NOT m.is_archived THEN m.parts WHEN a.is_there THEN a.parts ELSE i.parts END AS parts,
           CASE WHEN m.is_blanked THEN i.metadata ELSE m.metadata END AS metadata
) p
CROSS JOIN LATERAL (
    SELECT m.deleted_at IS NOT NULL AND NOT m.is_missing AS is_deleted
) t
CROSS JOIN LATERAL (
    SELECT CASE WHEN %(is_live)s THEN greatest(%(exported_at)s::timestamptz, m.exported_at + interval '1 microsecond')
                ELSE %(exported_at)s::timestamptz END AS exported_at
) e
-- the blanked text of a missing message is restored by a file that has it
WHERE (m.is_missing AND m.is_blanked AND i.content_hash = m.content_hash) OR
    (i.is_deleted, coalesce(i.edited_at, '-infinity'), e.exported_at, i.content_hash COLLATE "C", i.sent_at, i.kind,
     coalesce(i.sender_entity_id::text, ''), coalesce(i.reply_to, '') COLLATE "C", coalesce(i.topic, '') COLLATE "C",
     coalesce(i.forwarded_from, '') COLLATE "C", coalesce(i.role, ''), i.is_time_assumed, coalesce(i.parts::text, '') COLLATE "C",
     coalesce(i.metadata::text, '') COLLATE "C")
    > (t.is_deleted, coalesce(m.edited_at, '-infinity'), m.exported_at, m.content_hash COLLATE "C", m.sent_at, m.kind,
     coalesce(m.sender_entity_id::text, ''), coalesce(m.reply_to, '') COLLATE "C", coalesce(m.topic, '') COLLATE "C",
     coalesce(m.forwarded_from, '') COLLATE "C", coalesce(m.role, ''), m.is_time_assumed, coalesce(p.parts::text, '') COLLATE "C",
     coalesce(p.metadata::text, '') COLLATE "C")
) c WHERE is_changed OR NOT %(is_live)s

-- name: lock_items
-- As whoever folds items does, where something is withheld from them.
SELECT pg_advisory_xact_lock(hashtext('items')) FROM changed WHERE is_changed AND is_deleted LIMIT 1

-- name: mark_changed
-- Consequences of edits and deletions: the chat and its summary become dirty; what rests on a deleted message is withheld
-- at once (P29), and facts that rest on one become candidates. Looked up in the whole chat, as messages move between
-- interactions.
WITH touched AS MATERIALIZED (
    SELECT * FROM changed WHERE is_changed
), gone AS MATERIALIZED (
    SELECT chat_id, external_id FROM touched WHERE is_deleted AND is_other_text
), places AS MATERIALIZED (
    SELECT i.id, i.chat_id FROM interactions i WHERE i.chat_id IN (SELECT chat_id FROM gone)
), marked AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason, from_at, to_at)
    SELECT 'interactions', chat_id::text, 'changed messages', least(min(sent_at), min(old_sent_at)), greatest(max(sent_at), max(old_sent_at))
    FROM touched GROUP BY chat_id
), dirty AS (
    UPDATE interaction_summaries s
    SET status = 'dirty', dirty_reason = CASE WHEN r.deleted OR s.dirty_reason = 'deleted' THEN 'deleted' ELSE 'edited' END
    FROM (
        SELECT id, bool_or(deleted) AS deleted FROM (
            SELECT s.id, t.is_deleted AS deleted FROM touched t JOIN live_summaries s ON s.interaction_id = t.interaction_id
            WHERE t.is_other_text
            UNION ALL
            SELECT s.id, true FROM places p JOIN live_summaries s ON s.interaction_id = p.id
            CROSS JOIN LATERAL unnest(s.message_ids) AS k (external_id)
            JOIN gone g ON g.chat_id = p.chat_id AND g.external_id = k.external_id
        ) resting GROUP BY id
    ) r
    WHERE s.id = r.id
    RETURNING s.interaction_id
), days AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'interaction_summaries', day_key(i.day), 'summary dirty'
    FROM interactions i JOIN dirty ON dirty.interaction_id = i.id GROUP BY i.day
), searched AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'memory_chunks', day_key(i.day), 'changed messages'
    FROM interactions i WHERE i.id IN (SELECT interaction_id FROM touched) GROUP BY i.day
), facts AS (
    UPDATE entity_facts f SET status = 'candidate' WHERE f.id IN (
        SELECT f.id FROM places p JOIN entity_facts f ON f.interaction_id = p.id AND f.status = 'confirmed'
        CROSS JOIN LATERAL unnest(f.message_ids) AS k (external_id)
        JOIN gone g ON g.chat_id = p.chat_id AND g.external_id = k.external_id)
), states AS (
    UPDATE item_states s SET is_withheld = true
    FROM (
        SELECT DISTINCT s.item_id, s.place FROM places p JOIN item_states s ON s.interaction_id = p.id AND NOT s.is_withheld
        CROSS JOIN LATERAL unnest(s.message_ids) AS k (external_id)
        JOIN gone g ON g.chat_id = p.chat_id AND g.external_id = k.external_id
    ) r
    WHERE s.item_id = r.item_id AND s.place = r.place
    RETURNING s.item_id, s.place
)
-- its opening or present state
UPDATE items i SET is_withheld = true FROM states s
WHERE i.id = s.item_id
  AND (s.place = 0 OR s.place = (SELECT max(l.place) FROM item_states l WHERE l.item_id = i.id))

-- name: keep_replaced
-- Saves the version that is about to be replaced, also of deleted messages, whose text the view does not show.
INSERT INTO message_revisions (message_id, content_hash, edited_at, is_deleted, content, known_from, token_count, importance_score)
SELECT m.id, m.content_hash, coalesce(m.edited_at, '0001-01-01Z'), m.deleted_at IS NOT NULL AND NOT m.is_missing,
       coalesce(a.content, m.content), coalesce(m.reworded_at, m.imported_at), m.token_count, m.importance_score
FROM changed c JOIN messages m ON m.id = c.id
LEFT JOIN LATERAL (
    SELECT content FROM archived_messages WHERE m.is_archived AND month = m.archived_month AND message_id = m.id LIMIT 1
) a ON true
WHERE c.is_other_version
ON CONFLICT DO NOTHING

-- name: leave_archive
-- A changed message has its text in its row again until it is summarised and archived anew.
SELECT remove_copies(array_agg(m.archived_month), array_agg(m.id))
FROM changed c JOIN messages m ON m.id = c.id WHERE m.is_archived AND NOT c.stays_archived

-- name: update_changed
-- What rests on an edited message is stale until its conversation is read again (P29).
UPDATE messages m
SET sender_entity_id = c.sender_entity_id, sent_at = c.sent_at, exported_at = c.exported_at, edited_at = c.edited_at,
    deleted_at = CASE WHEN c.is_deleted THEN coalesce(m.deleted_at, %(now)s) WHEN m.is_missing THEN m.deleted_at END,
    is_missing = m.is_missing AND NOT c.is_deleted,
    token_count = c.token_count, importance_score = c.importance_score, importance_reason = c.importance_reason,
    is_outgoing = coalesce((SELECT e.is_self FROM entities e WHERE e.id = c.sender_entity_id), false),
    is_time_assumed = c.is_time_assumed, kind = c.kind, role = c.role,
    content = CASE WHEN c.stays_archived OR c.stays_blank THEN m.content ELSE c.content END,
    parts = CASE WHEN c.stays_archived OR c.stays_blank THEN m.parts ELSE c.parts END, is_blanked = c.stays_blank, is_archived = c.stays_archived,
    archived_at = CASE WHEN c.stays_archived THEN m.archived_at END,
    archived_month = CASE WHEN c.stays_archived THEN m.archived_month END,
    content_hash = c.content_hash, reply_to = c.reply_to, topic = coalesce(c.topic, m.topic), forwarded_from = c.forwarded_from,
    metadata = CASE WHEN c.stays_blank THEN m.metadata ELSE c.metadata END,
    reworded_at = CASE WHEN c.is_other_version THEN known_now() ELSE m.reworded_at END,
    awaits_reading = m.awaits_reading OR (c.is_other_text AND NOT c.is_deleted AND EXISTS (
        SELECT FROM interaction_readings r WHERE r.interaction_id = c.interaction_id))
FROM changed c WHERE c.id = m.id

-- name: fill_topics
-- A partial export lacks the entries that open its topics: topics known from other exports are kept.
UPDATE messages m SET topic = i.topic FROM best i
WHERE m.chat_id = i.chat_id AND m.external_id = i.external_id AND m.topic IS NULL AND i.topic IS NOT NULL

-- name: keep_late
-- And every later version than the current one, whichever file it is in.
INSERT INTO message_revisions (message_id, content_hash, edited_at, is_deleted, content, known_from, token_count, importance_score)
SELECT DISTINCT ON (m.id, i.content_hash, i.edited_at, i.is_deleted)
       m.id, i.content_hash, coalesce(i.edited_at, '0001-01-01Z'), i.is_deleted, CASE WHEN m.is_blanked THEN '' ELSE i.content END, known_now(),
       i.token_count, i.importance_score
FROM incoming i JOIN messages m USING (chat_id, external_id)
WHERE (i.content_hash, i.is_deleted, i.edited_at) IS DISTINCT FROM (m.content_hash, m.deleted_at IS NOT NULL AND NOT m.is_missing, m.edited_at)
ON CONFLICT DO NOTHING

-- name: drop_standing
-- A version that is current again (a later export has the older text) is no revision.
DELETE FROM message_revisions r USING changed c
WHERE r.message_id = c.id AND (r.content_hash, r.is_deleted, r.edited_at) = (c.content_hash, c.is_deleted, coalesce(c.edited_at, '0001-01-01Z'))

-- name: count_changed
SELECT count(*) FILTER (WHERE is_changed AND NOT is_newly_deleted) AS updated,
       count(*) FILTER (WHERE is_newly_deleted) AS deleted FROM changed

-- name: lock_entities
SELECT id FROM entities WHERE id = ANY(%(ids)s) ORDER BY id FOR NO KEY UPDATE

-- name: lock_people
-- With all accounts of their persons, in one order.
SELECT e.id FROM entities e
WHERE e.id IN (
    SELECT id FROM entities WHERE id = ANY(%(ids)s)
    UNION SELECT a.id FROM entities g JOIN entities a ON a.id = g.merged_into OR a.merged_into = coalesce(g.merged_into, g.id)
    WHERE g.id = ANY(%(ids)s))
ORDER BY e.id FOR NO KEY UPDATE

-- name: upsert_names
-- The latest name of an account wins. A person is called as somebody chose, else by the latest name of their accounts; groups
-- where a member's name changed are attributed again (P34).
WITH given AS (
    SELECT * FROM unnest(%(id)s::uuid[], %(name)s::text[], %(at)s::timestamptz[]) AS g (id, name, at)
), people AS (
    SELECT DISTINCT coalesce(e.merged_into, e.id) AS id FROM given JOIN entities e ON e.id = given.id
), accounts AS (
    SELECT a.id, p.id AS person, a.chosen_name, a.name AS before,
           CASE WHEN n.is_newer THEN g.name ELSE n.own END AS own, CASE WHEN n.is_newer THEN g.at ELSE a.name_at END AS at
    FROM people p
    CROSS JOIN LATERAL (SELECT * FROM entities WHERE id = p.id UNION ALL SELECT * FROM entities WHERE merged_into = p.id) a
    LEFT JOIN given g ON g.id = a.id
    CROSS JOIN LATERAL (
        SELECT coalesce(a.own_name, a.name) AS own,
               (g.at, g.name COLLATE "C") > (a.name_at, coalesce(a.own_name, a.name) COLLATE "C") AS is_newer
    ) n
), called AS (
    SELECT person, coalesce(max(chosen_name), (array_agg(own ORDER BY at DESC, own COLLATE "C" DESC))[1]) AS name
    FROM accounts GROUP BY person
), named AS (
    UPDATE entities e SET name = c.name, own_name = nullif(a.own, c.name), name_at = a.at
    FROM accounts a JOIN called c ON c.person = a.person
    WHERE e.id = a.id AND (e.name, e.own_name, e.name_at) IS DISTINCT FROM (c.name, nullif(a.own, c.name), a.at)
    RETURNING e.id, coalesce(e.merged_into, e.id) AS person, a.before <> c.name AS is_other
), searched AS (
    -- chunks are found by the names of participants
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'memory_chunks', day_key(i.day), 'other names'
    FROM (SELECT DISTINCT person FROM named WHERE is_other) n
    JOIN interaction_participants p ON p.entity_id = n.person JOIN interactions i ON i.id = p.interaction_id
    GROUP BY i.day
)
INSERT INTO dirty_partitions (asset, partition_key, reason, from_at, to_at)
SELECT 'interactions', c.id::text, 'other names', b.first_at, b.last_at
FROM (SELECT DISTINCT m.chat_id FROM named JOIN chat_members m ON m.entity_id = named.id WHERE named.is_other) t
JOIN eligible_chats c ON c.id = t.chat_id AND c.kind <> 'direct'
CROSS JOIN LATERAL (SELECT min(sent_at) AS first_at, max(sent_at) AS last_at FROM messages m WHERE m.chat_id = c.id) b
WHERE b.first_at IS NOT NULL

-- name: upsert_titles
-- Title and metadata of the latest exported message.
UPDATE chats c SET
    title = CASE WHEN given.title <> '' AND (given.at, given.title COLLATE "C") > (c.title_at, coalesce(c.title, '') COLLATE "C")
                 THEN given.title ELSE c.title END,
    title_at = CASE WHEN given.title <> '' THEN greatest(given.at, c.title_at) ELSE c.title_at END,
    metadata = CASE WHEN (given.seen_at, given.metadata::text COLLATE "C") > (c.metadata_at, c.metadata::text COLLATE "C")
                    THEN given.metadata ELSE c.metadata END,
    metadata_at = greatest(given.seen_at, c.metadata_at)
FROM unnest(%(id)s::uuid[], %(title)s::text[], %(at)s::timestamptz[], %(metadata)s::jsonb[], %(seen_at)s::timestamptz[])
    AS given (id, title, at, metadata, seen_at)
WHERE c.id = given.id
