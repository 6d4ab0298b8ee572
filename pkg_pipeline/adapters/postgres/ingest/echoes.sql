-- What was served, as fingerprints of its lines, and which parts of messages repeat it (B14).

-- name: keep
-- What many blocks have is one row; the oldest go.
WITH new AS (
    INSERT INTO served_lines (print)
    SELECT p FROM unnest(%(prints)s::bigint[]) AS g (p) WHERE NOT EXISTS (SELECT FROM served_lines l WHERE l.print = p) ORDER BY p
    ON CONFLICT DO NOTHING
)
DELETE FROM served_lines WHERE no <= (SELECT max(no) FROM served_lines) - %(most)s

-- name: served
SELECT print FROM served_lines WHERE print = ANY(%(prints)s::bigint[])

-- name: mark
-- After the messages, in their transaction. An edited message is another text, to which the mark does not apply.
INSERT INTO message_echoes AS e (message_id, content_hash, own)
SELECT m.id, m.content_hash, g.own
FROM jsonb_to_recordset(%(echoes)s::jsonb) AS g (chat uuid, key text, hash text, own int[])
JOIN messages m ON m.chat_id = g.chat AND m.external_id = g.key AND m.content_hash = g.hash
ON CONFLICT (message_id) DO UPDATE SET content_hash = excluded.content_hash, own = excluded.own
