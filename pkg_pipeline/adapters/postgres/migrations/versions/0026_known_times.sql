-- What was true at a moment, and what the memory knew of it at another one (B11).

CREATE FUNCTION known_now() RETURNS timestamptz LANGUAGE sql
    RETURN coalesce(nullif(current_setting('pkg.now', true), '')::timestamptz, clock_timestamp());
COMMENT ON FUNCTION known_now IS 'B11: now by the clock of the memory, which may be pinned.';

-- what is there was known from when it was made, as far as that was kept
ALTER TABLE messages ALTER COLUMN imported_at SET DEFAULT coalesce(nullif(current_setting('pkg.now', true), '')::timestamptz, clock_timestamp()), ADD COLUMN reworded_at timestamptz;
UPDATE messages m SET reworded_at = greatest(m.imported_at, m.edited_at)
WHERE EXISTS (SELECT FROM message_revisions r WHERE r.message_id = m.id);

ALTER TABLE message_revisions ADD COLUMN known_from timestamptz;
UPDATE message_revisions r SET known_from = m.imported_at FROM messages m WHERE m.id = r.message_id;
ALTER TABLE message_revisions ALTER COLUMN known_from SET NOT NULL, ALTER COLUMN known_from SET DEFAULT coalesce(nullif(current_setting('pkg.now', true), '')::timestamptz, clock_timestamp());

ALTER TABLE interaction_summaries ADD COLUMN known_from timestamptz, ADD COLUMN known_to timestamptz;
UPDATE interaction_summaries
SET known_from = generated_at, known_to = CASE WHEN status = 'superseded' THEN coalesce(updated_at, generated_at) END;
ALTER TABLE interaction_summaries ALTER COLUMN known_from SET NOT NULL, ALTER COLUMN known_from SET DEFAULT coalesce(nullif(current_setting('pkg.now', true), '')::timestamptz, clock_timestamp());

ALTER TABLE interaction_readings ADD COLUMN known_from timestamptz, ADD COLUMN remade_at timestamptz;
UPDATE interaction_readings SET known_from = read_at;
ALTER TABLE interaction_readings ALTER COLUMN known_from SET NOT NULL, ALTER COLUMN known_from SET DEFAULT coalesce(nullif(current_setting('pkg.now', true), '')::timestamptz, clock_timestamp());

ALTER TABLE entity_relationship_profiles ADD COLUMN known_from timestamptz, ADD COLUMN remade_at timestamptz;
UPDATE entity_relationship_profiles SET known_from = generated_at;
ALTER TABLE entity_relationship_profiles ALTER COLUMN known_from SET NOT NULL, ALTER COLUMN known_from SET DEFAULT coalesce(nullif(current_setting('pkg.now', true), '')::timestamptz, clock_timestamp());

-- a person's own states were known when they were decided, others when their conversation was read
ALTER TABLE item_states ADD COLUMN known_from timestamptz;
UPDATE item_states s SET known_from = CASE WHEN s.interaction_id IS NULL THEN s.at ELSE coalesce(
    (SELECT r.known_from FROM interaction_readings r WHERE r.interaction_id = s.interaction_id), s.at) END;
ALTER TABLE item_states ALTER COLUMN known_from SET NOT NULL, ALTER COLUMN known_from SET DEFAULT coalesce(nullif(current_setting('pkg.now', true), '')::timestamptz, clock_timestamp());
ALTER TABLE items ADD COLUMN known_from timestamptz;
UPDATE items i SET known_from = coalesce((SELECT min(s.known_from) FROM item_states s WHERE s.item_id = i.id), i.first_at);
ALTER TABLE items ALTER COLUMN known_from SET NOT NULL, ALTER COLUMN known_from SET DEFAULT coalesce(nullif(current_setting('pkg.now', true), '')::timestamptz, clock_timestamp());
ALTER TABLE entity_facts ALTER COLUMN known_from SET DEFAULT coalesce(nullif(current_setting('pkg.now', true), '')::timestamptz, clock_timestamp());

CREATE FUNCTION keep_known_to() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.known_to := CASE WHEN NEW.status = 'superseded' THEN coalesce(OLD.known_to, pkg.known_now()) END;
    RETURN NEW;
END $$;
CREATE TRIGGER interaction_summaries_known_to BEFORE UPDATE OF status ON interaction_summaries
    FOR EACH ROW EXECUTE FUNCTION keep_known_to();

DROP FUNCTION edited_since, talk_edited_since;

CREATE FUNCTION edited_since(chat uuid, external_ids text[], moment timestamptz, known timestamptz DEFAULT 'infinity')
    RETURNS boolean LANGUAGE sql STABLE
    RETURN EXISTS (
        SELECT FROM messages m WHERE m.chat_id = chat AND m.external_id = ANY(external_ids) AND m.edited_at > moment
          AND (m.reworded_at IS NULL OR m.reworded_at <= known
               OR EXISTS (SELECT FROM message_revisions r WHERE r.message_id = m.id AND r.edited_at > moment AND r.known_from <= known)));
COMMENT ON FUNCTION edited_since IS 'P9: whether one of these messages of a chat was edited after a moment, as far as was known by another.';

CREATE FUNCTION talk_edited_since(interaction uuid, moment timestamptz, known timestamptz DEFAULT 'infinity')
    RETURNS boolean LANGUAGE sql STABLE
    RETURN EXISTS (
        SELECT FROM interactions i JOIN messages m ON m.chat_id = i.chat_id AND m.sent_at BETWEEN i.started_at AND i.ended_at
        WHERE i.id = interaction AND m.interaction_id = i.id AND m.edited_at > moment
          AND (m.reworded_at IS NULL OR m.reworded_at <= known
               OR EXISTS (SELECT FROM message_revisions r WHERE r.message_id = m.id AND r.edited_at > moment AND r.known_from <= known)));
COMMENT ON FUNCTION talk_edited_since IS 'P9: whether a message of an interaction was edited after a moment, as far as was known by another.';

CREATE FUNCTION reworded_between(chat uuid, external_ids text[], after timestamptz, until timestamptz) RETURNS boolean LANGUAGE sql STABLE
    RETURN EXISTS (
        SELECT FROM messages m WHERE m.chat_id = chat AND m.external_id = ANY(external_ids) AND m.reworded_at > after
          AND (m.reworded_at <= until OR EXISTS (
              SELECT FROM message_revisions r WHERE r.message_id = m.id AND r.known_from > after AND r.known_from <= until)));
COMMENT ON FUNCTION reworded_between IS 'B11: whether other words of one of these messages came in between two moments.';

CREATE FUNCTION participants_known(entity uuid, known timestamptz)
    RETURNS TABLE (interaction_id uuid, started_at timestamptz, ended_at timestamptz, message_count bigint, token_count bigint)
    LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT i.id, min(m.sent_at), max(m.sent_at), count(*) FILTER (WHERE w.is_own),
           coalesce(sum(m.token_count) FILTER (WHERE w.is_own), 0)::bigint
    FROM interaction_participants p
    JOIN interactions i ON i.id = p.interaction_id
    JOIN chats c ON c.id = i.chat_id
    JOIN messages m ON m.chat_id = i.chat_id AND m.sent_at BETWEEN i.started_at AND i.ended_at AND m.interaction_id = i.id
        AND m.imported_at <= known
    CROSS JOIN LATERAL (
        SELECT (m.deleted_at IS NULL OR m.deleted_at > known)
               AND (c.kind = 'direct' OR m.sender_entity_id = p.entity_id
                    OR EXISTS (SELECT FROM message_entities e WHERE e.entity_id = p.entity_id AND e.message_id = m.id)) AS is_own
    ) AS w
    WHERE p.entity_id = entity
    GROUP BY i.id HAVING count(*) FILTER (WHERE w.is_own) > 0;
END;
COMMENT ON FUNCTION participants_known IS 'B11: what of a person''s interactions was known at a moment, by their present cuts.';

CREATE FUNCTION summaries_as_of(at timestamptz, known_at timestamptz DEFAULT 'infinity') RETURNS SETOF interaction_summaries
    LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT s.* FROM interaction_summaries s JOIN interactions i ON i.id = s.interaction_id
    WHERE i.ended_at <= at AND s.status IN ('completed', 'dirty', 'superseded')
      AND s.known_from <= known_at AND (s.known_to IS NULL OR s.known_to > known_at)
      AND s.dirty_reason IS DISTINCT FROM 'deleted' AND NOT rests_on_deleted(i.chat_id, s.message_ids)
      AND NOT talk_edited_since(i.id, at, known_at);
END;
COMMENT ON FUNCTION summaries_as_of IS 'B11: the summaries of what was over at a moment, as the memory had them at another.';

CREATE FUNCTION items_as_of(at timestamptz, known_at timestamptz DEFAULT 'infinity')
    RETURNS TABLE (item_id uuid, kind text, status text, text text, owner text, due_date date, since timestamptz)
    LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT i.id, i.kind, s.status, s.text, s.owner, s.due_date, s.at
    FROM items i CROSS JOIN LATERAL (
        SELECT * FROM item_states s
        WHERE s.item_id = i.id AND s.at <= items_as_of.at AND s.known_from <= known_at AND NOT s.is_withheld
        ORDER BY s.at DESC, s.place DESC LIMIT 1
    ) AS s
    WHERE i.first_at <= items_as_of.at AND i.known_from <= known_at AND NOT i.is_withheld
      AND NOT edited_since(i.chat_id, i.message_ids, items_as_of.at, known_at)
      AND NOT edited_since(s.chat_id, s.message_ids, items_as_of.at, known_at);
END;
COMMENT ON FUNCTION items_as_of IS 'B11: action items and decisions as they stood at a moment, as far as was known at another.';

CREATE FUNCTION facts_as_of(at timestamptz, known_at timestamptz DEFAULT 'infinity') RETURNS SETOF entity_facts
    LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT f.* FROM entity_facts f
    WHERE f.status = 'confirmed' AND f.known_from <= known_at AND coalesce(f.valid_from, f.known_from) <= at
      AND (f.valid_to IS NULL OR f.valid_to > at OR NOT EXISTS (
          -- what ended it was not known yet
          SELECT FROM entity_facts c
          WHERE c.entity_id IS NOT DISTINCT FROM f.entity_id AND c.told_by IS NOT DISTINCT FROM f.told_by AND c.fact_type = f.fact_type
            AND c.valid_from = f.valid_to AND c.known_from <= known_at))
      -- what a person decided later leaves open what stood before
      AND NOT EXISTS (SELECT FROM fact_verdicts v WHERE v.fact_id = f.id AND v.decided_at > known_at)
      AND NOT EXISTS (SELECT FROM interactions i WHERE i.id = f.interaction_id AND edited_since(i.chat_id, f.message_ids, at, known_at));
END;
COMMENT ON FUNCTION facts_as_of IS 'B11: confirmed facts in force at a moment, as far as was known at another.';
