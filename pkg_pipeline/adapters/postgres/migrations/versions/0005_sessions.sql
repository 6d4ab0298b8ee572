-- Live sessions: what is folded of a running chat, and what was served of it.

CREATE TABLE conversation_sessions (             -- one row a chat that is followed while it runs; its id is the chat's
    id uuid PRIMARY KEY REFERENCES chats ON DELETE CASCADE,
    label text,
    policy text NOT NULL CHECK (policy IN ('hysteresis', 'sliding', 'interval', 'thread_size')),
    strategy text NOT NULL CHECK (strategy IN ('rolling', 'retrieval', 'hybrid')),
    summary_interval integer CHECK (summary_interval > 0),   -- of this session; none: the setting
    hwm_message_id bigint NOT NULL DEFAULT 0,    -- the last message that a fold covers
    last_message_id bigint NOT NULL DEFAULT 0,
    message_count bigint NOT NULL DEFAULT 0,     -- live messages, service entries not among them
    token_count bigint NOT NULL DEFAULT 0,       -- theirs: what the whole history would take in a prompt
    messages_since_hwm bigint NOT NULL DEFAULT 0,
    tokens_since_hwm bigint NOT NULL DEFAULT 0,
    first_since_at timestamptz,                  -- when the first of them was said
    last_message_at timestamptz,
    messages_since_fold bigint NOT NULL DEFAULT 0,   -- arrived after the last fold was made
    messages_since_look bigint NOT NULL DEFAULT 0,   -- arrived after the last look at the drift of topics
    last_fold_at timestamptz,                    -- by the memory's clock
    event text CHECK (event IN ('manual', 'scheduled', 'handoff', 'tool_done')),   -- asks for a fold at once
    folding_to_id bigint,                        -- a decided fold that takes several steps goes on up to here
    folding_trigger text,
    is_pending boolean NOT NULL DEFAULT false,   -- something came while a fold was running: one more look
    dirty_folds integer NOT NULL DEFAULT 0,      -- folds over messages that were edited or deleted since
    next_due_at timestamptz,                     -- when the policy is asked next, by the memory's clock
    attempts integer NOT NULL DEFAULT 0,         -- failed ones in a row
    retry_at timestamptz,                        -- by the database's clock
    last_error text,
    running_summary text NOT NULL DEFAULT '',    -- of all folds, kept below a limit
    running_token_count integer NOT NULL DEFAULT 0,
    running_fold_id uuid,                        -- the last fold that is in it
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 70);
CREATE INDEX conversation_sessions_due ON conversation_sessions (next_due_at) WHERE next_due_at IS NOT NULL;
CREATE INDEX conversation_sessions_active ON conversation_sessions (last_message_at DESC NULLS LAST, id);

CREATE TABLE session_summaries (                 -- folds: what stands for the messages of (HWM, cutoff]
    id uuid PRIMARY KEY,
    session_id uuid NOT NULL REFERENCES conversation_sessions ON DELETE CASCADE,
    parent_summary_id uuid REFERENCES session_summaries ON DELETE SET NULL,
    from_message_id bigint NOT NULL,
    to_message_id bigint NOT NULL,
    from_at timestamptz NOT NULL,                -- event times of the two
    to_at timestamptz NOT NULL,
    status text NOT NULL CHECK (status IN ('completed', 'dirty', 'superseded')),
    dirty_reason text CHECK (dirty_reason IN ('edited', 'deleted')),
    trigger text NOT NULL CHECK (trigger IN ('tokens', 'turns', 'time', 'topic_shift', 'manual', 'scheduled', 'handoff',
        'tool_done', 'window', 'hard_limit', 'cooldown', 'interval', 'thread_size')),
    input_hash text NOT NULL,                    -- sha256 over (id, content_hash) of what it covers
    prompt_version text NOT NULL,
    model_version text NOT NULL,
    language text NOT NULL,
    summary text NOT NULL,
    facts jsonb NOT NULL DEFAULT '[]',           -- [{id, fact_type, value, about, confidence, quote, message_ids}]
    decisions jsonb NOT NULL DEFAULT '[]',       -- [{id, description, date, importance, quote, message_ids}]
    open_questions jsonb NOT NULL DEFAULT '[]',  -- [{id, text, quote, message_ids}]
    topics text[] NOT NULL DEFAULT '{}',
    message_ids bigint[] NOT NULL,               -- all that it covers, noise and service entries among them
    noise_ids bigint[] NOT NULL DEFAULT '{}',    -- those of them that no model was shown
    message_count integer NOT NULL,
    source_token_count integer NOT NULL,
    summary_token_count integer NOT NULL,
    quarantined jsonb NOT NULL DEFAULT '[]',
    cost_usd numeric(12,6) NOT NULL,
    generation_seconds real NOT NULL,
    generated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK (from_message_id <= to_message_id)
);
CREATE UNIQUE INDEX session_summaries_window
    ON session_summaries (session_id, from_message_id, to_message_id, input_hash) WHERE status <> 'superseded';
CREATE INDEX session_summaries_range ON session_summaries (session_id, to_message_id DESC) WHERE status <> 'superseded';
CREATE INDEX session_summaries_time ON session_summaries (session_id, to_at);
CREATE INDEX session_summaries_dirty ON session_summaries (session_id) WHERE status = 'dirty';
CREATE INDEX session_summaries_parent ON session_summaries (parent_summary_id) WHERE parent_summary_id IS NOT NULL;

CREATE TABLE memory_topics (                     -- what a session is about, over its folds
    session_id uuid NOT NULL REFERENCES conversation_sessions ON DELETE CASCADE,
    topic text NOT NULL,
    mention_count integer NOT NULL,
    last_seen_at timestamptz NOT NULL,
    PRIMARY KEY (session_id, topic)
);
CREATE INDEX memory_topics_rank ON memory_topics (session_id, mention_count DESC, last_seen_at DESC);

CREATE TABLE served_windows (                    -- what a prompt took, and would have taken
    id uuid PRIMARY KEY,
    session_id uuid NOT NULL REFERENCES conversation_sessions ON DELETE CASCADE,
    strategy text NOT NULL,
    model text,                                  -- for which it was made, where the caller said so
    prompt_tokens integer NOT NULL,
    hypothetical_tokens bigint NOT NULL,         -- without compression
    budget jsonb NOT NULL,
    tiers jsonb NOT NULL,                        -- per tier: tokens and ids
    left_out jsonb NOT NULL DEFAULT '[]',
    reported_prompt_tokens integer,              -- by the model's own count, where it is known
    completion_tokens integer,
    cost_usd numeric(12,6),
    served_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX served_windows_session ON served_windows (session_id, served_at DESC);
CREATE INDEX served_windows_reported ON served_windows (model, served_at DESC) WHERE reported_prompt_tokens IS NOT NULL;

-- within a chat ids are in the order of arrival: what comes after a high-water mark is one range
CREATE INDEX messages_chat_order ON messages (chat_id, id);
