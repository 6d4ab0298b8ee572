-- What each export showed of a chat, so that two of them tell what was deleted in between.

ALTER TABLE messages ADD COLUMN is_missing boolean NOT NULL DEFAULT false;   -- deleted_at follows from exports, nobody said it

CREATE TABLE chat_exports (
    id uuid PRIMARY KEY,                                  -- from the chat, the moment, the owner and the numbers
    chat_id uuid NOT NULL REFERENCES chats ON DELETE CASCADE,
    evidence_at timestamptz NOT NULL,                     -- the latest moment that its whole file tells of
    first_number bigint NOT NULL,
    last_number bigint NOT NULL,
    owner text,                                           -- external id of the exporting account
    is_whole boolean NOT NULL,                            -- it shows every message in between
    verdict text NOT NULL DEFAULT 'open' CHECK (verdict IN ('open', 'accepted', 'kept')),
    missing bigint[] NOT NULL DEFAULT '{}'                -- numbers in between that are known from elsewhere
);
CREATE INDEX chat_exports_chat ON chat_exports (chat_id);

-- What was imported before: it had its messages, more is not known of it.
INSERT INTO chat_exports (id, chat_id, evidence_at, first_number, last_number, is_whole)
SELECT gen_random_uuid(), chat_id, max(greatest(sent_at, edited_at)), min(number), max(number), false
FROM (
    SELECT m.chat_id, m.sent_at, m.edited_at, CASE WHEN m.external_id ~ '^(0|-?[1-9][0-9]{0,17})$' THEN m.external_id::bigint END AS number
    FROM messages m JOIN chats c ON c.id = m.chat_id WHERE c.source = 'telegram'
) m WHERE number IS NOT NULL GROUP BY chat_id;
