-- Profiles, the archive and backfills, and what summaries, interactions and the ledger say of them.

-- ── what was ───────────────────────────────────────────────────────────────────────────────

ALTER TABLE interactions ADD COLUMN important_count integer NOT NULL DEFAULT 0;   -- messages with score ≥ 0.5 (P16)
UPDATE interactions i SET important_count = found.important
FROM (
    SELECT x.id, count(*) AS important FROM interactions x
    JOIN messages m ON m.chat_id = x.chat_id AND m.sent_at BETWEEN x.started_at AND x.ended_at
    WHERE m.kind = 'message' AND m.deleted_at IS NULL AND m.importance_score >= 0.5
    GROUP BY x.id
) AS found WHERE found.id = i.id;

ALTER TABLE interaction_summaries
    ADD COLUMN schema_version integer NOT NULL DEFAULT 1,
    ADD COLUMN method text NOT NULL DEFAULT 'whole' CHECK (method IN ('whole', 'windows', 'update')),
    ADD COLUMN window_count integer NOT NULL DEFAULT 1;

-- what is served, by what made it: which of it is stale is told without a look at each
CREATE INDEX interaction_summaries_versions ON interaction_summaries (prompt_version, model_version, schema_version)
    WHERE status IN ('completed', 'dirty');

ALTER TABLE llm_calls ADD COLUMN backfill_id uuid;
CREATE INDEX llm_calls_backfill ON llm_calls (backfill_id) WHERE backfill_id IS NOT NULL;

CREATE INDEX entity_facts_interval ON entity_facts (entity_id, valid_from DESC) WHERE status = 'confirmed';

-- ── profiles ───────────────────────────────────────────────────────────────────────────────

CREATE TABLE entity_relationship_profiles (
    entity_id uuid NOT NULL REFERENCES entities ON DELETE CASCADE,
    week date NOT NULL,                          -- partition: the Sunday on which the week begins, by the local calendar
    id uuid NOT NULL,
    as_of timestamptz NOT NULL,                  -- the week's end
    covers_until timestamptz NOT NULL,           -- summaries of interactions that ended by then went in (P22)
    status text NOT NULL DEFAULT 'completed' CHECK (status IN ('completed', 'dirty')),
    dirty_reason text CHECK (dirty_reason IN ('edited', 'deleted')),
    input_hash text NOT NULL,
    prompt_version text NOT NULL,
    model_version text NOT NULL,
    schema_version integer NOT NULL DEFAULT 1,
    language text NOT NULL CHECK (language IN ('en', 'ru', 'zh')),
    relationship_type text NOT NULL
        CHECK (relationship_type IN ('client', 'partner', 'colleague', 'friend', 'acquaintance', 'vendor', 'other')),
    frequency text NOT NULL CHECK (frequency IN ('daily', 'weekly', 'monthly', 'quarterly', 'rare')),
    mean_gap_days real,                          -- between the starts of consecutive interactions; none for a single one
    summary text NOT NULL,
    timeline text NOT NULL DEFAULT '',
    first_interaction_at timestamptz NOT NULL,
    last_interaction_at timestamptz NOT NULL,
    last_meaningful_contact_at timestamptz,
    total_interactions integer NOT NULL,
    total_messages bigint NOT NULL,
    summarized_interactions integer NOT NULL,
    coverage numeric(5, 4) NOT NULL CHECK (coverage BETWEEN 0 AND 1),
    top_topics jsonb NOT NULL DEFAULT '[]',
    milestones jsonb NOT NULL DEFAULT '[]',
    key_decisions jsonb NOT NULL DEFAULT '[]',
    open_action_items jsonb NOT NULL DEFAULT '[]',
    quarantined jsonb NOT NULL DEFAULT '[]',
    is_carried_over boolean NOT NULL DEFAULT false,   -- an unchanged input: the words of an earlier week, no call (P23)
    source_token_count integer NOT NULL,
    summary_token_count integer NOT NULL,
    cost_usd numeric(12, 6) NOT NULL,
    generation_seconds real NOT NULL,
    generated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (entity_id, week)
);
CREATE UNIQUE INDEX entity_relationship_profiles_id ON entity_relationship_profiles (id);
CREATE INDEX entity_relationship_profiles_week ON entity_relationship_profiles (week, entity_id);

CREATE VIEW current_relationship_profiles AS
SELECT DISTINCT ON (entity_id) * FROM entity_relationship_profiles ORDER BY entity_id, week DESC;

CREATE TABLE profile_attempts (
    entity_id uuid NOT NULL REFERENCES entities ON DELETE CASCADE,
    week date NOT NULL,
    input_hash text NOT NULL,
    prompt_version text NOT NULL,
    model_version text NOT NULL,
    attempts integer NOT NULL,
    deferrals integer NOT NULL DEFAULT 0,
    state text NOT NULL CHECK (state IN ('waiting', 'failed')),
    retry_at timestamptz,                        -- by the database's clock
    last_error text NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (entity_id, week)
);

-- ── archive ────────────────────────────────────────────────────────────────────────────────

ALTER TABLE messages ADD COLUMN archived_month date;   -- where in the archive the text is

CREATE TABLE archived_messages (
    month date NOT NULL,                         -- first day of the local month in which the interaction started
    message_id bigint NOT NULL,
    chat_id uuid NOT NULL,
    interaction_id uuid NOT NULL,
    external_id text NOT NULL,
    sent_at timestamptz NOT NULL,
    content text NOT NULL,
    content_hash text NOT NULL,
    parts jsonb,
    archived_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (month, message_id)
) PARTITION BY RANGE (month);
CREATE INDEX archived_messages_interaction ON archived_messages (interaction_id);
CREATE INDEX archived_messages_chat ON archived_messages (chat_id, sent_at);

CREATE TABLE archive_months (
    month date PRIMARY KEY,
    state text NOT NULL CHECK (state IN ('kept', 'dropped')),
    message_count bigint NOT NULL DEFAULT 0,
    content_bytes bigint NOT NULL DEFAULT 0,
    dropped_at timestamptz
);

CREATE TABLE archive_holds (
    interaction_id uuid PRIMARY KEY,             -- somebody restored texts of it
    held_until timestamptz NOT NULL              -- by the memory's clock: not archived again before
);

-- Live and archive together: what re-reads old messages reads here. A dropped month leaves the mark. The LIMIT keeps each
-- lookup a lookup: joined as a whole, the planner may read all of the archive for a few messages.
CREATE VIEW message_texts AS
SELECT m.id, m.chat_id, m.external_id, m.sender_entity_id, m.interaction_id, m.sent_at, m.imported_at, m.edited_at,
       m.deleted_at, m.token_count, m.importance_score, m.importance_reason, m.is_outgoing, m.kind, m.role, m.reply_to,
       m.content_hash, m.is_archived, m.archived_at, m.archived_month,
       coalesce(a.content, m.content) AS content, coalesce(a.parts, m.parts) AS parts
FROM messages m
LEFT JOIN LATERAL (
    SELECT content, parts FROM archived_messages
    WHERE m.is_archived AND month = m.archived_month AND message_id = m.id LIMIT 1
) a ON true;

-- ── backfills ──────────────────────────────────────────────────────────────────────────────

CREATE TABLE backfills (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    asset text NOT NULL,
    state text NOT NULL DEFAULT 'requested' CHECK (state IN ('requested', 'running', 'done', 'cancelled')),
    request jsonb NOT NULL,                      -- age, range, limit, stale, failed, as they were asked for
    forecast jsonb NOT NULL,                     -- interactions, tokens, calls and USD told before
    requested_by text NOT NULL,
    requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    finished_at timestamptz,
    resume_at timestamptz,                       -- a cap or the service stopped it: not asked for again before
    waits_for text
);
CREATE INDEX backfills_open ON backfills (requested_at) WHERE state IN ('requested', 'running');

CREATE TABLE backfill_interactions (
    backfill_id uuid NOT NULL REFERENCES backfills ON DELETE CASCADE,
    interaction_id uuid NOT NULL,
    day date NOT NULL,
    done_at timestamptz,
    PRIMARY KEY (backfill_id, interaction_id)
);
CREATE INDEX backfill_interactions_left ON backfill_interactions (backfill_id, day) WHERE done_at IS NULL;
CREATE INDEX backfill_interactions_interaction ON backfill_interactions (interaction_id);
