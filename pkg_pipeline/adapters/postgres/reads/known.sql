-- What the memory knew at a moment (B11): relations that stand before a statement of the reads under the names of the tables that
-- it reads, each as it was then. A state that is not kept is not made up: it is left out, and not_kept names it. Deleted is deleted.

-- name: everywhere
messages AS NOT MATERIALIZED (
    SELECT m.id, m.chat_id, m.external_id, m.sender_entity_id, m.sent_at, m.token_count, m.importance_score, m.is_outgoing, m.kind,
           m.content, m.content_hash, m.is_archived, m.deleted_at, false AS awaits_reading,
           CASE WHEN m.reworded_at > %(known)s THEN 'infinity' ELSE m.edited_at END AS edited_at
    FROM messages m
    WHERE m.imported_at <= %(known)s AND (m.reworded_at IS NULL OR m.reworded_at <= %(known)s OR EXISTS (
        SELECT FROM message_revisions r
        WHERE r.message_id = m.id AND r.known_from <= %(known)s AND NOT r.is_deleted AND r.content <> ''))
), message_revisions AS NOT MATERIALIZED (
    SELECT r.message_id, r.content, r.edited_at, r.is_deleted FROM message_revisions r WHERE r.known_from <= %(known)s
), live_texts AS NOT MATERIALIZED (
    SELECT t.id, t.external_id, t.content, t.deleted_at, m.edited_at FROM live_texts t JOIN messages m ON m.id = t.id
), interaction_summaries AS NOT MATERIALIZED (
    SELECT s.id, s.interaction_id, s.summary, s.message_ids, s.summary_token_count, s.updated_at,
           CASE WHEN reworded_between(i.chat_id, s.message_ids, s.known_from, %(known)s) THEN 'dirty' ELSE 'completed' END AS status,
           CASE WHEN s.dirty_reason = 'deleted' OR rests_on_deleted(i.chat_id, s.message_ids) THEN 'deleted' END AS dirty_reason
    FROM interaction_summaries s JOIN interactions i ON i.id = s.interaction_id
    WHERE s.status IN ('completed', 'dirty', 'superseded')
      AND s.known_from <= %(known)s AND (s.known_to IS NULL OR s.known_to > %(known)s)
), live_summaries AS NOT MATERIALIZED (
    SELECT * FROM interaction_summaries
), item_states AS NOT MATERIALIZED (
    SELECT * FROM item_states WHERE known_from <= %(known)s
), items AS NOT MATERIALIZED (
    SELECT i.id, i.kind, i.interaction_id, i.importance, i.first_at, s.at AS last_at, i.chat_id, i.message_ids, i.is_withheld,
           s.text, s.owner, i.owner_entity_id, i.owner_name, s.superseded_by, s.due_date, i.holds_until,
           CASE WHEN s.status IN ('done', 'cancelled', 'superseded') THEN s.at END AS settled_at
    FROM items i CROSS JOIN LATERAL (
        SELECT at, text, owner, status, due_date, superseded_by FROM item_states WHERE item_id = i.id ORDER BY place DESC LIMIT 1
    ) AS s
    WHERE i.known_from <= %(known)s
), entity_facts AS NOT MATERIALIZED (
    SELECT f.id, f.entity_id, f.told_by, f.about_name, f.fact_type, f.value, f.message_ids, f.interaction_id, f.valid_from, f.is_ended,
           f.known_from, f.status, f.decided_by,
           CASE WHEN EXISTS (
               SELECT FROM entity_facts c
               WHERE c.entity_id IS NOT DISTINCT FROM f.entity_id AND c.told_by IS NOT DISTINCT FROM f.told_by
                 AND c.fact_type = f.fact_type AND c.valid_from = f.valid_to AND c.known_from <= %(known)s
           ) THEN f.valid_to END AS valid_to
    FROM entity_facts f
    WHERE f.known_from <= %(known)s
      AND NOT EXISTS (SELECT FROM fact_verdicts v WHERE v.fact_id = f.id AND v.decided_at > %(known)s)
)

-- name: of_entity
-- figures are those of what had come in, as conversations are cut now
interaction_participants AS MATERIALIZED (
    SELECT %(entity)s::uuid AS entity_id, k.* FROM participants_known(%(entity)s, %(known)s) AS k
), entity_days AS MATERIALIZED (
    SELECT entity_id, day, sum(messages) OVER w AS messages_total, sum(tokens) OVER w AS tokens_total FROM (
        SELECT entity_id, (started_at AT TIME ZONE 'UTC')::date AS day, sum(message_count) AS messages, sum(token_count) AS tokens
        FROM interaction_participants GROUP BY entity_id, day
    ) AS d WINDOW w AS (PARTITION BY entity_id ORDER BY day)
), chat_members AS MATERIALIZED (
    SELECT c.chat_id, c.entity_id FROM chat_members c
    WHERE c.entity_id = ANY(accounts_of(%(entity)s)) AND EXISTS (SELECT FROM messages m WHERE m.chat_id = c.chat_id)
), item_people AS MATERIALIZED (
    SELECT p.item_id, p.entity_id, p.kind, p.importance, i.due_date, i.first_at, i.last_at, i.settled_at
    FROM item_people p JOIN items i ON i.id = p.item_id WHERE p.entity_id = %(entity)s
), entity_relationship_profiles AS NOT MATERIALIZED (
    SELECT * FROM entity_relationship_profiles
    WHERE known_from <= %(known)s AND (remade_at IS NULL OR remade_at <= %(known)s)
), organizations AS NOT MATERIALIZED (
    -- of somebody whose first word on it came later nobody knew where they work
    SELECT o.id, o.name FROM organizations o WHERE NOT EXISTS (
        SELECT FROM entities e WHERE e.id = %(entity)s AND e.organization_id = o.id
          AND NOT EXISTS (SELECT FROM entity_facts f WHERE f.entity_id = e.id AND f.fact_type = 'organization'))
)

-- name: of_search
-- a piece of what was derived is there if what it was made from stood then
memory_chunks AS NOT MATERIALIZED (
    SELECT c.* FROM memory_chunks c
    WHERE CASE c.source
        WHEN 'summary' THEN EXISTS (SELECT FROM interaction_summaries s WHERE s.id = c.subject_id)
        WHEN 'fact' THEN EXISTS (SELECT FROM entity_facts f WHERE f.id = c.subject_id)
        WHEN 'session_fold' THEN EXISTS (
            SELECT FROM standing_folds w WHERE w.session_id = c.chat_id AND w.to_at = c.at AND w.generated_at <= %(known)s)
        WHEN 'message' THEN EXISTS (SELECT FROM messages m WHERE m.id = c.message_ids[1])
        WHEN 'tool_result' THEN EXISTS (SELECT FROM messages m WHERE m.id = c.message_ids[1])
        ELSE EXISTS (SELECT FROM items i WHERE i.id = c.subject_id) AND NOT EXISTS (
            SELECT FROM pkg.item_states s WHERE s.item_id = c.subject_id AND s.known_from > %(known)s) END
)

-- name: not_kept
-- What of a person was known then in a state that is not kept, newest first; of messages, what was deleted since.
SELECT kind, id, reason, source, chat FROM (
    (SELECT 'profile' AS kind, p.id::text, 'not_kept' AS reason, p.as_of AS at, NULL AS source, NULL AS chat FROM entity_relationship_profiles p
     WHERE p.entity_id = %(entity)s AND p.as_of <= %(as_of)s AND p.known_from <= %(known)s AND p.remade_at > %(known)s
     ORDER BY p.week DESC LIMIT 1)
    UNION ALL
    SELECT i.kind, i.id::text, 'not_kept', i.first_at, NULL, NULL FROM item_people w JOIN items i ON i.id = w.item_id
    WHERE w.entity_id = %(entity)s AND i.first_at <= %(as_of)s AND i.known_from <= %(known)s
      AND NOT EXISTS (SELECT FROM item_states s WHERE s.item_id = i.id AND s.known_from <= %(known)s)
    UNION ALL
    SELECT 'fact', f.id::text, 'not_kept', f.known_from, NULL, NULL FROM entity_facts f
    WHERE f.entity_id = %(entity)s AND f.known_from <= %(known)s AND coalesce(f.valid_from, f.known_from) <= %(as_of)s
      AND EXISTS (SELECT FROM fact_verdicts v WHERE v.fact_id = f.id AND v.decided_at > %(known)s)
    UNION ALL
    SELECT 'reading', r.interaction_id::text, 'not_kept', r.ended_at, NULL, NULL FROM interaction_participants p
    JOIN interaction_readings r ON r.interaction_id = p.interaction_id
    WHERE p.entity_id = %(entity)s AND r.ended_at <= %(as_of)s AND r.known_from <= %(known)s AND r.remade_at > %(known)s
    UNION ALL
    SELECT 'message', m.external_id, CASE WHEN m.deleted_at IS NULL THEN 'not_kept' ELSE 'withheld' END, m.sent_at, c.source, c.external_id
    FROM interaction_participants p JOIN interactions i ON i.id = p.interaction_id JOIN chats c ON c.id = i.chat_id
    JOIN messages m ON m.chat_id = i.chat_id AND m.kind = 'message' AND m.sent_at BETWEEN i.started_at AND i.ended_at
    WHERE p.entity_id = %(entity)s AND m.sent_at <= %(as_of)s AND m.imported_at <= %(known)s
      AND (m.deleted_at > %(known)s OR m.deleted_at IS NULL AND m.reworded_at > %(known)s AND NOT EXISTS (
          SELECT FROM message_revisions r
          WHERE r.message_id = m.id AND r.known_from <= %(known)s AND NOT r.is_deleted AND r.content <> ''))
) AS lost
ORDER BY at DESC, id LIMIT 60
