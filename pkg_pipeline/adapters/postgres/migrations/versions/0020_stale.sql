-- What rests on a message that was edited since its conversation was read is served, and marked (P29).

ALTER TABLE messages ADD COLUMN awaits_reading boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN messages.awaits_reading IS 'edited since its conversation was read: what rests on it is stale (P29)';
CREATE INDEX messages_awaiting ON messages (chat_id, external_id) WHERE awaits_reading;

CREATE FUNCTION awaits_reading(chat uuid, external_ids text[]) RETURNS boolean LANGUAGE sql STABLE
    RETURN EXISTS (SELECT FROM messages m WHERE m.chat_id = chat AND m.external_id = ANY(external_ids) AND m.awaits_reading);
COMMENT ON FUNCTION awaits_reading IS 'P29: whether one of these messages of a chat was edited since its conversation was read.';

CREATE FUNCTION item_is_stale(item uuid) RETURNS boolean LANGUAGE sql STABLE
    RETURN EXISTS (SELECT FROM item_states s WHERE s.item_id = item AND awaits_reading(s.chat_id, s.message_ids));
COMMENT ON FUNCTION item_is_stale IS 'P29: whether a message that an item rests on was edited since it was read.';
