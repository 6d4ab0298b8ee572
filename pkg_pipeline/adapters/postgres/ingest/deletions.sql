-- What exports contain of chats, and what was deleted in between. The caller locks the chats.

-- name: known_in_spans
-- How many messages of each span are stored, to compare with the number in the file.
SELECT g.place, count(*) AS known
FROM unnest(%(chat_id)s::uuid[], %(first)s::bigint[], %(last)s::bigint[]) WITH ORDINALITY AS g (chat_id, first, last, place)
JOIN messages m ON m.chat_id = g.chat_id
WHERE message_number(m.external_id) BETWEEN g.first AND g.last
GROUP BY g.place

-- name: create_shown
CREATE TEMP TABLE IF NOT EXISTS shown (chat_id uuid NOT NULL, number bigint NOT NULL) ON COMMIT DELETE ROWS

-- name: copy_shown
COPY shown (chat_id, number) FROM STDIN

-- name: missing
-- Of each chat the stored messages within the span that are not in "shown".
SELECT m.chat_id, array_agg(m.number) AS numbers
FROM unnest(%(chat_id)s::uuid[], %(first)s::bigint[], %(last)s::bigint[]) AS g (chat_id, first, last)
JOIN LATERAL (
    SELECT m.chat_id, message_number(m.external_id) AS number
    FROM messages m WHERE m.chat_id = g.chat_id
) m ON m.number BETWEEN g.first AND g.last
WHERE NOT EXISTS (SELECT FROM shown s WHERE s.chat_id = m.chat_id AND s.number = m.number)
GROUP BY m.chat_id

-- name: note_exports
-- A repeated import of an export changes nothing; a verdict stays until another is given.
INSERT INTO chat_exports (id, chat_id, evidence_at, first_number, last_number, owner, is_whole, verdict, missing)
SELECT id, chat_id, evidence_at, first, last, owner, is_whole, verdict,
       coalesce((SELECT array_agg(value::bigint) FROM jsonb_array_elements_text(missing) AS e (value)), '{}')
FROM unnest(%(id)s::uuid[], %(chat_id)s::uuid[], %(evidence_at)s::timestamptz[], %(first)s::bigint[], %(last)s::bigint[], %(owner)s::text[],
            %(is_whole)s::boolean[], %(verdict)s::text[], %(missing)s::jsonb[])
    AS g (id, chat_id, evidence_at, first, last, owner, is_whole, verdict, missing)
ON CONFLICT (id) DO UPDATE SET
    missing = excluded.missing,
    verdict = CASE WHEN excluded.verdict = 'open' THEN chat_exports.verdict ELSE excluded.verdict END

-- name: accept
UPDATE chat_exports SET verdict = 'accepted' WHERE chat_id = ANY(%(chats)s) AND verdict = 'open' AND missing <> '{}'

-- name: exports
-- All exports of the chats in which one lacks messages.
SELECT e.id, e.chat_id, c.source, c.external_id, e.evidence_at, e.first_number, e.last_number, e.owner, e.is_whole, e.verdict, e.missing,
       CASE WHEN e.missing = '{}' THEN 0 ELSE (
           SELECT count(*) FROM messages m
           WHERE m.chat_id = e.chat_id AND m.kind = 'message'
             AND message_number(m.external_id) BETWEEN e.first_number AND e.last_number
       ) END AS known
FROM chat_exports e JOIN chats c ON c.id = e.chat_id
WHERE e.chat_id IN (SELECT chat_id FROM chat_exports WHERE chat_id = ANY(%(chats)s) AND missing <> '{}')

-- name: candidates
-- Messages missing in any export of these chats, without service entries, messages deleted by their source, and blanked
-- messages, which only a file with their text restores.
SELECT DISTINCT m.chat_id, m.id, m.external_id::bigint AS number, m.is_missing
FROM (SELECT chat_id, unnest(missing)::text AS external_id FROM chat_exports WHERE chat_id = ANY(%(chats)s)) g
JOIN messages m USING (chat_id, external_id)
WHERE m.kind = 'message' AND (m.deleted_at IS NULL OR (m.is_missing AND NOT m.is_blanked))

-- name: create_changed
-- Same columns as ingest's table of that name: messages now deleted or restored.
CREATE TEMP TABLE changed ON COMMIT DROP AS
SELECT m.*, m.sent_at AS old_sent_at, interaction_of(m.kind, m.chat_id, m.sent_at) AS interaction_id, m.id = ANY(%(gone)s) AS is_deleted,
       m.id = ANY(%(gone)s) AS is_newly_deleted, true AS is_changed, true AS is_other_text
FROM messages m WHERE m.id = ANY(%(gone)s) OR m.id = ANY(%(back)s)

-- name: mark_missing
UPDATE messages m SET is_missing = c.is_deleted FROM changed c WHERE m.id = c.id

-- name: delete_missing
UPDATE messages m SET deleted_at = CASE WHEN c.is_deleted THEN %(now)s::timestamptz END FROM changed c WHERE m.id = c.id
