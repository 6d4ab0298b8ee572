-- What rests on a message that was edited later is not what stood at a moment (P9).

CREATE FUNCTION edited_since(chat uuid, external_ids text[], moment timestamptz) RETURNS boolean LANGUAGE sql STABLE
    RETURN EXISTS (SELECT FROM messages m WHERE m.chat_id = chat AND m.external_id = ANY(external_ids) AND m.edited_at > moment);
COMMENT ON FUNCTION edited_since IS 'P9: whether one of these messages of a chat was edited after a moment.';

CREATE FUNCTION talk_edited_since(interaction uuid, moment timestamptz) RETURNS boolean LANGUAGE sql STABLE
    RETURN EXISTS (
        SELECT FROM interactions i JOIN messages m ON m.chat_id = i.chat_id AND m.sent_at BETWEEN i.started_at AND i.ended_at
        WHERE i.id = interaction AND m.interaction_id = i.id AND m.edited_at > moment);
COMMENT ON FUNCTION talk_edited_since IS 'P9: whether a message of an interaction was edited after a moment.';
