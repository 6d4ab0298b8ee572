-- Questions that are sent together and answered within a day (P31). No words of a conversation: what a batch asks is in the
-- memory of the process that sends it, and nowhere else.

CREATE TABLE llm_batches (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    service_id text,
    foreign_ids text[] NOT NULL DEFAULT '{}',
    state text NOT NULL DEFAULT 'submitting' CHECK (state IN ('submitting', 'sent', 'read', 'done', 'dropped')),
    backfill_id uuid,
    redo_stale boolean NOT NULL,
    run_id text,
    questions int NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    read_at timestamptz
);
CREATE INDEX llm_batches_open ON llm_batches (created_at) WHERE state NOT IN ('done', 'dropped');
CREATE INDEX llm_batches_backfill ON llm_batches (backfill_id) WHERE backfill_id IS NOT NULL;

CREATE TABLE llm_batch_items (
    id uuid PRIMARY KEY,
    batch_id uuid NOT NULL REFERENCES llm_batches (id) ON DELETE CASCADE,
    request_hash text NOT NULL,
    task text NOT NULL,
    model text NOT NULL,
    prompt_version text NOT NULL,
    prompt_tokens int NOT NULL,
    room int NOT NULL,
    day date NOT NULL,
    is_forgotten boolean NOT NULL DEFAULT false,
    outcome text,
    error text,
    worked_at timestamptz
);
CREATE INDEX llm_batch_items_batch ON llm_batch_items (batch_id);

CREATE TABLE llm_batch_subjects (
    item_id uuid NOT NULL REFERENCES llm_batch_items (id) ON DELETE CASCADE,
    position int NOT NULL,
    subject_kind text NOT NULL,
    subject_id uuid NOT NULL,
    token bigint NOT NULL,
    PRIMARY KEY (item_id, position)
);
CREATE INDEX llm_batch_subjects_subject ON llm_batch_subjects (subject_kind, subject_id);
