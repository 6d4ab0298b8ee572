-- What conversations say of items, and what became of each item over all of them.

CREATE TABLE interaction_readings (
    interaction_id UUID NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE NOT NULL,
    input_hash TEXT NOT NULL,
    shown_hash TEXT NOT NULL,
    is_checked BOOLEAN DEFAULT true NOT NULL,
    prompt_version TEXT NOT NULL,
    model_version TEXT NOT NULL,
    schema_version INTEGER DEFAULT 1 NOT NULL,
    content JSONB NOT NULL,
    item_ids UUID[] NOT NULL,
    quarantined JSONB DEFAULT '[]' NOT NULL,
    cost_usd NUMERIC(12, 6) DEFAULT 0 NOT NULL,
    read_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    PRIMARY KEY (interaction_id),
    FOREIGN KEY(interaction_id) REFERENCES interactions (id) ON DELETE CASCADE
);
CREATE INDEX interaction_readings_items ON interaction_readings USING gin (item_ids);
CREATE INDEX interaction_readings_unchecked ON interaction_readings (ended_at, interaction_id) WHERE NOT is_checked;
CREATE INDEX interaction_readings_versions ON interaction_readings (prompt_version, model_version, schema_version);

CREATE TABLE reading_attempts (
    interaction_id UUID NOT NULL,
    input_hash TEXT NOT NULL,
    prompt_version TEXT NOT NULL,
    model_version TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    deferrals INTEGER DEFAULT 0 NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'failed')),
    retry_at TIMESTAMP WITH TIME ZONE,
    last_error TEXT NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    PRIMARY KEY (interaction_id),
    FOREIGN KEY(interaction_id) REFERENCES interactions (id) ON DELETE CASCADE
);

CREATE TABLE items (
    id UUID NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('action_item', 'decision')),
    status TEXT NOT NULL CHECK (status IN ('open', 'perhaps_done', 'done', 'cancelled', 'superseded')),
    text TEXT NOT NULL,
    owner TEXT NOT NULL CHECK (owner IN ('self', 'them', 'both', 'other')),
    owner_entity_id UUID,
    owner_name TEXT,
    due_date DATE,
    importance TEXT NOT NULL CHECK (importance IN ('high', 'medium', 'low')),
    probability REAL NOT NULL CHECK (probability BETWEEN 0 AND 1),
    proposed_by UUID,
    agreed_by UUID[] DEFAULT '{}' NOT NULL,
    superseded_by UUID,
    decided_by TEXT DEFAULT 'memory' NOT NULL CHECK (decided_by IN ('memory', 'person')),
    chat_id UUID NOT NULL,
    interaction_id UUID NOT NULL,
    quote TEXT NOT NULL,
    message_ids TEXT[] NOT NULL,
    first_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_at TIMESTAMP WITH TIME ZONE NOT NULL,
    settled_at TIMESTAMP WITH TIME ZONE,
    is_withheld BOOLEAN DEFAULT false NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(chat_id) REFERENCES chats (id)
);
CREATE INDEX items_chat ON items (chat_id, last_at);
CREATE INDEX items_interaction ON items (interaction_id);
CREATE INDEX items_last ON items (last_at, id);
CREATE INDEX items_open ON items (kind, due_date) WHERE status IN ('open', 'perhaps_done') AND NOT is_withheld;
CREATE INDEX items_owner ON items (owner_entity_id);
CREATE INDEX items_superseded ON items (superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE item_people (
    item_id UUID NOT NULL,
    entity_id UUID NOT NULL,
    kind TEXT NOT NULL,
    importance TEXT NOT NULL,
    due_date DATE,
    first_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_at TIMESTAMP WITH TIME ZONE NOT NULL,
    settled_at TIMESTAMP WITH TIME ZONE,
    PRIMARY KEY (item_id, entity_id),
    FOREIGN KEY(item_id) REFERENCES items (id) ON DELETE CASCADE,
    FOREIGN KEY(entity_id) REFERENCES entities (id)
);
CREATE INDEX item_people_due ON item_people (entity_id, due_date) WHERE kind = 'action_item' AND settled_at IS NULL;
CREATE INDEX item_people_entity ON item_people (entity_id, item_id);
CREATE INDEX item_people_said ON item_people (entity_id, kind, importance, first_at DESC);
CREATE INDEX item_people_settled ON item_people (entity_id, kind, settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX item_people_standing ON item_people (entity_id, kind, last_at DESC) WHERE settled_at IS NULL;

CREATE TABLE item_states (
    item_id UUID NOT NULL,
    place INTEGER NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    event TEXT NOT NULL CHECK (event IN ('opened', 'renewed', 'perhaps_done', 'done', 'cancelled', 'superseded', 'reopened', 'edited', 'closed')),
    status TEXT NOT NULL CHECK (status IN ('open', 'perhaps_done', 'done', 'cancelled', 'superseded')),
    text TEXT NOT NULL,
    owner TEXT NOT NULL CHECK (owner IN ('self', 'them', 'both', 'other')),
    due_date DATE,
    probability REAL NOT NULL,
    decided_by TEXT NOT NULL CHECK (decided_by IN ('memory', 'person')),
    superseded_by UUID,
    chat_id UUID,
    interaction_id UUID,
    quote TEXT NOT NULL,
    message_ids TEXT[] NOT NULL,
    is_withheld BOOLEAN DEFAULT false NOT NULL,
    PRIMARY KEY (item_id, place),
    FOREIGN KEY(item_id) REFERENCES items (id) ON DELETE CASCADE,
    FOREIGN KEY(chat_id) REFERENCES chats (id)
);
CREATE INDEX item_states_interaction ON item_states (interaction_id);
CREATE INDEX item_states_time ON item_states (item_id, at DESC, place DESC);

CREATE TABLE item_verdicts (
    id UUID DEFAULT gen_random_uuid() NOT NULL,
    item_id UUID NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('action_item', 'decision')),
    chat_id UUID NOT NULL,
    message_ids TEXT[] NOT NULL,
    item_text TEXT NOT NULL,
    action TEXT NOT NULL CHECK (action IN ('close', 'reopen', 'edit')),
    status TEXT CHECK (status IN ('done', 'cancelled')),
    text TEXT,
    owner TEXT CHECK (owner IN ('self', 'them', 'both', 'other')),
    due_date DATE,
    clear_due_date BOOLEAN DEFAULT false NOT NULL,
    decided_at TIMESTAMP WITH TIME ZONE NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE
);
CREATE INDEX item_verdicts_item ON item_verdicts (item_id, decided_at);

CREATE FUNCTION item_status(kind text, status text, due_date date, last_at timestamptz, now timestamptz, today date)
    RETURNS text LANGUAGE sql IMMUTABLE
    RETURN CASE
        WHEN kind = 'action_item' AND status = 'open'
             AND (due_date < today - 30 AND last_at < now - interval '30 days'
                  OR due_date IS NULL AND last_at < now - interval '60 days')
        THEN 'lapsed' ELSE status END;
COMMENT ON FUNCTION item_status IS
    'B16: an open action item is lapsed 30 days after it was due, without a day 60 days after it was last spoken of.';

-- A person's items are read in ranges, so what orders them stands beside the person, too.
CREATE FUNCTION copy_item() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT kind, importance, due_date, first_at, last_at, settled_at
    INTO NEW.kind, NEW.importance, NEW.due_date, NEW.first_at, NEW.last_at, NEW.settled_at
    FROM pkg.items WHERE id = NEW.item_id;
    RETURN NEW;
END $$;
CREATE TRIGGER item_people_copy BEFORE INSERT ON item_people FOR EACH ROW EXECUTE FUNCTION copy_item();

CREATE FUNCTION copy_to_people() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE pkg.item_people SET kind = NEW.kind, importance = NEW.importance, due_date = NEW.due_date,
        first_at = NEW.first_at, last_at = NEW.last_at, settled_at = NEW.settled_at
    WHERE item_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER items_copy AFTER UPDATE ON items FOR EACH ROW
WHEN ((OLD.kind, OLD.importance, OLD.due_date, OLD.first_at, OLD.last_at, OLD.settled_at)
      IS DISTINCT FROM (NEW.kind, NEW.importance, NEW.due_date, NEW.first_at, NEW.last_at, NEW.settled_at))
EXECUTE FUNCTION copy_to_people();

-- Figures by day: decisions are items now, and what is open is counted at the moment of reading, since it lapses.
DROP FUNCTION count_days;
ALTER TABLE day_statistics DROP COLUMN open_action_items;
CREATE FUNCTION count_days(days date[], minimum integer)
RETURNS TABLE (day date, interactions integer, eligible integer, summarized integer, pending integer, failed integer,
    oldest_pending_at timestamptz, summaries integer, generation_seconds double precision, compression_ratios numeric,
    cost_usd numeric, key_points bigint, decisions bigint, versions jsonb)
LANGUAGE sql STABLE AS $$
    WITH found AS (
        SELECT i.day, i.ended_at, w.is_eligible, w.is_eligible AND w.waits AND NOT w.is_given_up AS is_pending,
               w.is_eligible AND w.waits AND w.is_given_up AS is_failed, w.is_eligible AND NOT w.waits AS is_summarized,
               s.id IS NOT NULL AS is_served, s.generation_seconds, s.compression_ratio, s.cost_usd,
               jsonb_array_length(s.key_points) AS key_points, d.decisions,
               concat_ws('|', s.prompt_version, s.model_version, s.schema_version) AS version
        FROM pkg.interactions i
        JOIN pkg.chats c ON c.id = i.chat_id
        LEFT JOIN pkg.interaction_summaries s ON s.interaction_id = i.id AND s.status IN ('completed', 'dirty')
        LEFT JOIN pkg.summary_attempts a ON a.interaction_id = i.id AND a.input_hash = i.input_hash AND a.state = 'failed'
        LEFT JOIN LATERAL (
            SELECT count(*) AS decisions FROM pkg.items t
            WHERE t.interaction_id = i.id AND t.kind = 'decision' AND NOT t.is_withheld
        ) d ON s.id IS NOT NULL
        CROSS JOIN LATERAL (
            SELECT i.status = 'completed' AND i.message_count >= minimum AND c.category IS DISTINCT FROM 'mass'
                   AND (c.category IS NOT NULL OR c.kind <> 'channel') AS is_eligible,
                   s.id IS NULL OR s.status = 'dirty' OR s.input_hash <> i.input_hash AS waits,
                   a.interaction_id IS NOT NULL AS is_given_up
        ) w
        WHERE i.day = ANY (days)
    ), made AS MATERIALIZED (
        SELECT v.day, jsonb_object_agg(v.version, v.number) AS versions
        FROM (SELECT f.day, f.version, count(*) AS number FROM found f WHERE f.is_served GROUP BY f.day, f.version) v
        GROUP BY v.day
    ), sums AS (
        SELECT f.day, count(*)::int AS interactions, count(*) FILTER (WHERE f.is_eligible)::int AS eligible,
               count(*) FILTER (WHERE f.is_summarized)::int AS summarized, count(*) FILTER (WHERE f.is_pending)::int AS pending,
               count(*) FILTER (WHERE f.is_failed)::int AS failed, min(f.ended_at) FILTER (WHERE f.is_pending) AS oldest,
               count(*) FILTER (WHERE f.is_served)::int AS summaries,
               coalesce(sum(f.generation_seconds::double precision), 0) AS generation_seconds,
               coalesce(sum(f.compression_ratio), 0) AS compression_ratios, coalesce(sum(f.cost_usd), 0) AS cost_usd,
               coalesce(sum(f.key_points), 0)::bigint AS key_points, coalesce(sum(f.decisions), 0)::bigint AS decisions
        FROM found f GROUP BY f.day
    )
    SELECT t.day, t.interactions, t.eligible, t.summarized, t.pending, t.failed, t.oldest, t.summaries,
           t.generation_seconds, t.compression_ratios, t.cost_usd, t.key_points, t.decisions,
           coalesce(m.versions, '{}')
    FROM sums t LEFT JOIN made m ON m.day = t.day
$$;

CREATE TRIGGER items_new AFTER INSERT ON items REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_days_of_interactions();
CREATE TRIGGER items_changed AFTER UPDATE ON items REFERENCING OLD TABLE AS was NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_days_of_both_interactions();
CREATE TRIGGER items_gone AFTER DELETE ON items REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_days_of_interactions();
