-- One person, several accounts (B20). An entity is an account, as imports know it; what a person says of who is who points one
-- at another, and nothing that was imported changes by it.

ALTER TABLE entities
    ADD COLUMN merged_into uuid REFERENCES entities (id),
    ADD COLUMN own_name text,
    ADD COLUMN chosen_name text;
CREATE INDEX entities_merged ON entities (merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX entities_own_name ON entities (lower(own_name)) WHERE own_name IS NOT NULL;

CREATE TABLE entity_verdicts (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    decision_id uuid NOT NULL,
    action text NOT NULL CHECK (action IN ('join', 'part', 'alias', 'unalias', 'rename', 'dismiss')),
    entity_id uuid NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    other_id uuid REFERENCES entities (id) ON DELETE CASCADE,
    name text,
    decided_at timestamptz NOT NULL,
    kept_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    undone_at timestamptz,
    CHECK ((other_id IS NOT NULL) = (action IN ('join', 'dismiss'))),
    CHECK ((name IS NOT NULL) = (action IN ('alias', 'unalias', 'rename')))
);
CREATE UNIQUE INDEX entity_verdicts_decided ON entity_verdicts (decided_at);
CREATE INDEX entity_verdicts_decision ON entity_verdicts (decision_id);
CREATE INDEX entity_verdicts_entity ON entity_verdicts (entity_id);
CREATE INDEX entity_verdicts_other ON entity_verdicts (other_id) WHERE other_id IS NOT NULL;

CREATE TABLE entity_aliases (
    entity_id uuid NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    name text NOT NULL,
    PRIMARY KEY (entity_id, name)
);
CREATE INDEX entity_aliases_name ON entity_aliases (lower(name));

CREATE FUNCTION person_of(entity uuid) RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    RETURN coalesce((SELECT merged_into FROM entities WHERE id = entity), entity);
COMMENT ON FUNCTION person_of IS 'B20: the person whose account an entity is; itself, unless it was merged into another.';

CREATE FUNCTION accounts_of(entity uuid) RETURNS uuid[] LANGUAGE sql STABLE PARALLEL SAFE
    RETURN ARRAY(SELECT entity UNION ALL SELECT id FROM entities WHERE merged_into = entity);
COMMENT ON FUNCTION accounts_of IS 'B20: all accounts of a person, the one that stands for them first.';

CREATE FUNCTION names_of(entity uuid) RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE
    RETURN ARRAY(
        SELECT name FROM (
            SELECT name, 0 AS rank FROM entities WHERE id = entity
            UNION ALL SELECT own_name, 1 FROM entities WHERE own_name IS NOT NULL AND (id = entity OR merged_into = entity)
            UNION ALL SELECT name, 1 FROM entity_aliases WHERE entity_id = entity
        ) known GROUP BY name ORDER BY min(rank), name COLLATE "C");
COMMENT ON FUNCTION names_of IS 'B20: the names of a person: the one that is shown, those of the accounts, those that a person added.';

-- who said it is the person, whichever account wrote
CREATE OR REPLACE VIEW message_texts AS
SELECT m.id, m.chat_id, m.external_id,
       coalesce((SELECT p.merged_into FROM entities p WHERE p.id = m.sender_entity_id), m.sender_entity_id) AS sender_entity_id,
       m.interaction_id, m.sent_at, m.imported_at, m.edited_at,
       m.deleted_at, m.token_count, m.importance_score, m.importance_reason, m.is_outgoing, m.kind, m.role, m.reply_to,
       m.content_hash, m.is_archived, m.archived_at, m.archived_month,
       CASE WHEN m.deleted_at IS NULL THEN coalesce(a.content, m.content) ELSE '' END AS content,
       CASE WHEN m.deleted_at IS NULL THEN coalesce(a.parts, m.parts) END AS parts
FROM messages m
LEFT JOIN LATERAL (
    SELECT content, parts FROM archived_messages
    WHERE m.is_archived AND month = m.archived_month AND message_id = m.id LIMIT 1
) a ON true;

CREATE OR REPLACE VIEW live_messages AS
SELECT m.id, m.chat_id,
       coalesce((SELECT p.merged_into FROM entities p WHERE p.id = m.sender_entity_id), m.sender_entity_id) AS sender_entity_id,
       m.interaction_id, m.sent_at, m.imported_at, m.exported_at, m.edited_at, m.deleted_at, m.archived_at,
       m.token_count, m.importance_score, m.is_outgoing, m.is_archived, m.is_time_assumed, m.kind, m.role,
       m.importance_reason, m.external_id, m.content, m.content_hash, m.reply_to, m.topic, m.forwarded_from,
       m.parts, m.metadata, m.archived_month, m.is_blanked, m.is_missing
FROM messages m WHERE m.kind = 'message' AND m.deleted_at IS NULL;

-- of a person one profile, not one of each account
CREATE OR REPLACE VIEW current_relationship_profiles AS
SELECT * FROM (
    SELECT DISTINCT ON (entity_id) * FROM entity_relationship_profiles
    WHERE NOT EXISTS (SELECT FROM entities e WHERE e.id = entity_id AND e.merged_into IS NOT NULL)
    ORDER BY entity_id, week DESC
) newest WHERE dirty_reason IS DISTINCT FROM 'deleted';
