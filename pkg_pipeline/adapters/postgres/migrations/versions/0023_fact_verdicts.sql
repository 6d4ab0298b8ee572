-- What a person decided about a fact is kept beside what was read, and stands over it (B2).

ALTER TABLE entity_facts ADD COLUMN read_value text, ADD COLUMN decided_by text NOT NULL DEFAULT 'memory'
    CHECK (decided_by IN ('memory', 'person'));

CREATE TABLE fact_verdicts (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    fact_id uuid NOT NULL,
    entity_id uuid REFERENCES entities (id) ON DELETE CASCADE,
    about_name text,
    told_by uuid REFERENCES entities (id) ON DELETE CASCADE,
    fact_type text NOT NULL,
    said text NOT NULL,
    action text NOT NULL CHECK (action IN ('confirm', 'reject', 'edit', 'add')),
    value text,
    valid_from timestamptz,
    chat_id uuid REFERENCES chats (id) ON DELETE CASCADE,
    message_ids text[] NOT NULL,
    decided_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX fact_verdicts_decided ON fact_verdicts (decided_at);
CREATE INDEX fact_verdicts_entity ON fact_verdicts (entity_id);
CREATE INDEX fact_verdicts_fact ON fact_verdicts (fact_id);
CREATE INDEX fact_verdicts_others ON fact_verdicts (told_by, lower(about_name)) WHERE entity_id IS NULL;

CREATE FUNCTION rests_on_deleted(chat uuid, external_ids text[]) RETURNS boolean LANGUAGE sql STABLE
    RETURN EXISTS (SELECT FROM messages m WHERE m.chat_id = chat AND m.external_id = ANY(external_ids) AND m.deleted_at IS NOT NULL);
COMMENT ON FUNCTION rests_on_deleted IS 'B2: whether one of these messages of a chat was deleted at its source.';
