-- Rules that many statements share, said once. Bodies are bound to tables here, not to a search path, and all but
-- is_folded, take_leases and remove_copies are put in place by the planner: their plans are those of the rule written out.

-- ── which rows count ──────────────────────────────────────────────────────────────────────────

CREATE VIEW eligible_chats AS
SELECT id, source, external_id, kind, category FROM chats
WHERE category IS DISTINCT FROM 'mass' AND (category IS NOT NULL OR kind <> 'channel');
COMMENT ON VIEW eligible_chats IS
    'P34: chats that are summarised, searched and told of: none that is mass, no channel unless its export or a person gave it a category.';

CREATE VIEW live_summaries AS SELECT * FROM interaction_summaries WHERE status IN ('completed', 'dirty');
COMMENT ON VIEW live_summaries IS 'The one summary of an interaction that is served, as its table has it: where dirty_reason is deleted, its words are shown nowhere.';

CREATE VIEW live_messages AS
SELECT id, chat_id, sender_entity_id, interaction_id, sent_at, imported_at, exported_at, edited_at, deleted_at, archived_at,
       token_count, importance_score, is_outgoing, is_archived, is_time_assumed, kind, role, importance_reason, external_id,
       content, content_hash, reply_to, topic, forwarded_from, parts, metadata, archived_month, is_blanked, is_missing
FROM messages WHERE kind = 'message' AND deleted_at IS NULL;
COMMENT ON VIEW live_messages IS 'What is said: no service entries, nothing that was deleted at its source.';

CREATE VIEW live_texts AS SELECT * FROM message_texts WHERE kind = 'message' AND deleted_at IS NULL;
COMMENT ON VIEW live_texts IS 'live_messages with their words, wherever those are kept.';

CREATE VIEW standing_folds AS SELECT * FROM session_summaries WHERE status <> 'superseded';
COMMENT ON VIEW standing_folds IS 'Folds that no later one replaced, as their table has them: where dirty_reason is deleted, their words are shown nowhere.';

CREATE VIEW held_leases AS SELECT * FROM leases WHERE expires_at > clock_timestamp();
COMMENT ON VIEW held_leases IS 'Leases in force.';

CREATE VIEW session_states AS
SELECT id, policy, strategy, summary_interval, hwm_message_id, last_message_id, message_count, token_count,
       messages_since_hwm, tokens_since_hwm, first_since_at, last_message_at, messages_since_fold, messages_since_look,
       last_fold_at, event, folding_to_id, folding_trigger, is_pending, dirty_folds, label
FROM conversation_sessions;
COMMENT ON VIEW session_states IS 'What policies and readers know of a session (H1, H16).';

-- ── values ────────────────────────────────────────────────────────────────────────────────────

CREATE FUNCTION day_key(day date) RETURNS text LANGUAGE sql STABLE RETURN to_char(day, 'YYYY-MM-DD');
COMMENT ON FUNCTION day_key IS 'The partition key of a day.';

CREATE FUNCTION month_key(day date) RETURNS text LANGUAGE sql STABLE RETURN to_char(day, 'YYYY-MM-01');
COMMENT ON FUNCTION month_key IS 'The partition key of the month that has this day.';

CREATE FUNCTION next_month(month date) RETURNS date LANGUAGE sql IMMUTABLE
    RETURN (month::timestamp + interval '1 month')::date;
COMMENT ON FUNCTION next_month IS 'The day a month after this one, which is the first of a month.';

CREATE FUNCTION message_number(external_id text) RETURNS bigint LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN external_id ~ '^(0|-?[1-9][0-9]{0,17})$' THEN external_id::bigint END;
COMMENT ON FUNCTION message_number IS 'The number that a source gave a message, where its id is one that an export can lack.';

CREATE FUNCTION text_bytes(content text, parts jsonb) RETURNS integer LANGUAGE sql IMMUTABLE
    RETURN octet_length(content) + coalesce(octet_length(parts::text), 0);
COMMENT ON FUNCTION text_bytes IS 'What a message in the archive counts for in archive_months.content_bytes.';

-- ── conditions ────────────────────────────────────────────────────────────────────────────────

CREATE FUNCTION is_of_age(ended_at timestamptz, now timestamptz, due_after double precision, gap double precision)
    RETURNS boolean LANGUAGE sql STABLE
    RETURN ended_at <= now - make_interval(secs => due_after) AND ended_at < now - make_interval(secs => gap);
COMMENT ON FUNCTION is_of_age IS 'P11: over for at least due_after seconds, and for more than the silence that ends an interaction.';

CREATE FUNCTION is_unsummarised(summary_status text, summarised_hash text, input_hash text)
    RETURNS boolean LANGUAGE sql IMMUTABLE
    RETURN summary_status IS NULL OR summary_status = 'dirty' OR summarised_hash <> input_hash;
COMMENT ON FUNCTION is_unsummarised IS 'P11: without a current summary: none that is live, a dirty one, or one of another input.';

CREATE FUNCTION is_stale(
    prompt_version text, model_version text, schema_version integer,
    prompts text[], model text, summary_schema integer
) RETURNS boolean LANGUAGE sql IMMUTABLE
    RETURN prompt_version <> ALL (prompts) OR model_version <> model OR schema_version <> summary_schema;
COMMENT ON FUNCTION is_stale IS 'B5: a summary that another prompt, model or schema made.';

CREATE FUNCTION is_near(mark dirty_partitions, chat_id uuid, started_at timestamptz, ended_at timestamptz, gap double precision)
    RETURNS boolean LANGUAGE sql STABLE
    RETURN mark.asset = 'interactions' AND mark.partition_key = chat_id::text
       AND mark.from_at <= ended_at + make_interval(secs => gap) AND mark.to_at >= started_at - make_interval(secs => gap);
COMMENT ON FUNCTION is_near IS
    'Whether the mark of a changed chat reaches an interaction, which is then left alone until its chat was looked at again.';

CREATE FUNCTION is_folded(chat uuid, interaction uuid, started_at timestamptz, ended_at timestamptz)
    RETURNS boolean LANGUAGE sql STABLE
    RETURN EXISTS (
        SELECT FROM conversation_sessions c WHERE c.id = is_folded.chat AND c.hwm_message_id > 0 AND NOT EXISTS (
            SELECT FROM messages m
            WHERE m.chat_id = c.id AND m.sent_at BETWEEN is_folded.started_at AND is_folded.ended_at
              AND m.interaction_id = is_folded.interaction
              AND (m.id > c.hwm_message_id AND m.deleted_at IS NULL OR EXISTS (
                  SELECT FROM session_summaries f WHERE f.session_id = c.id AND f.status = 'dirty'
                    AND m.id BETWEEN f.from_message_id AND f.to_message_id))));
COMMENT ON FUNCTION is_folded IS
    'T8: whether every live message of an interaction is folded and none stands under a dirty fold, which is as good as summarised.';

CREATE FUNCTION archive_ready(month date, ended_before timestamptz, now timestamptz)
    RETURNS TABLE (id uuid, chat_id uuid, day date, started_at timestamptz, ended_at timestamptz, message_count integer,
                   important_messages jsonb) LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT i.id, i.chat_id, i.day, i.started_at, i.ended_at, i.message_count, s.important_messages
    FROM interactions i LEFT JOIN live_summaries s ON s.interaction_id = i.id
    WHERE i.day >= archive_ready.month AND i.day < next_month(archive_ready.month)
      AND i.status = 'completed' AND i.ended_at < archive_ready.ended_before
      AND (s.status = 'completed' AND s.input_hash = i.input_hash
           OR s.id IS NULL AND is_folded(i.chat_id, i.id, i.started_at, i.ended_at))
      AND NOT EXISTS (SELECT FROM archive_holds h WHERE h.interaction_id = i.id AND h.held_until > archive_ready.now)
      AND NOT EXISTS (SELECT FROM dirty_partitions d WHERE is_near(d, i.chat_id, i.started_at, i.ended_at, 0));
END;
COMMENT ON FUNCTION archive_ready IS
    'P16: interactions of a month that ended before the age, are summarised (or folded, T8) as they are now, and that nobody restored; with what their summary calls important.';

-- ── what is done together ─────────────────────────────────────────────────────────────────────

CREATE FUNCTION take_leases(kind text, subjects uuid[], holder text, seconds double precision)
    RETURNS TABLE (subject_id uuid, token bigint) LANGUAGE sql
BEGIN ATOMIC
    INSERT INTO leases AS l (kind, subject_id, token, holder, expires_at)
    SELECT take_leases.kind, g.id, nextval('lease_tokens'), take_leases.holder,
           clock_timestamp() + make_interval(secs => take_leases.seconds)
    FROM (SELECT unnest(take_leases.subjects) AS id ORDER BY 1) g
    ON CONFLICT (kind, subject_id) DO UPDATE
        SET token = excluded.token, holder = excluded.holder, expires_at = excluded.expires_at
        WHERE l.expires_at <= clock_timestamp()
    RETURNING l.subject_id, l.token;
END;
COMMENT ON FUNCTION take_leases IS 'W4: leases of those subjects that nobody holds, each with a new fencing token.';

CREATE FUNCTION remove_copies(months date[], ids bigint[]) RETURNS void LANGUAGE sql
BEGIN ATOMIC
    WITH gone AS (
        DELETE FROM archived_messages a USING unnest(remove_copies.months, remove_copies.ids) AS g (month, id)
        WHERE a.month = g.month AND a.message_id = g.id
        RETURNING a.month, text_bytes(a.content, a.parts) AS bytes
    ), locked AS MATERIALIZED (
        SELECT month FROM archive_months WHERE month = ANY (remove_copies.months) ORDER BY month FOR UPDATE
    )
    UPDATE archive_months k SET message_count = k.message_count - g.messages, content_bytes = k.content_bytes - g.bytes
    FROM locked JOIN (SELECT month, count(*) AS messages, sum(bytes) AS bytes FROM gone GROUP BY month) g USING (month)
    WHERE k.month = locked.month;
END;
COMMENT ON FUNCTION remove_copies IS 'Takes messages out of the archive, and out of what their months count. Locks the months in order.';

-- ── what the rules change ─────────────────────────────────────────────────────────────────────

-- a channel without a category is mass in every place now: whom its messages belong to is decided anew
INSERT INTO dirty_partitions (asset, partition_key, reason, from_at, to_at)
SELECT 'interactions', c.id::text, 'channels are mass', min(m.sent_at), max(m.sent_at)
FROM chats c JOIN messages m ON m.chat_id = c.id WHERE c.kind = 'channel' AND c.category IS NULL GROUP BY c.id;

COMMENT ON VIEW message_texts IS 'Live and archived texts together, none of a deleted message.';
COMMENT ON VIEW memory_chunk_texts IS 'Pieces of text with their words, wherever those are kept.';
COMMENT ON VIEW current_relationship_profiles IS 'The newest profile of each person.';
COMMENT ON VIEW unanswered_calls IS 'How many calls of a lane in a row brought no whole answer, and when the last was.';
