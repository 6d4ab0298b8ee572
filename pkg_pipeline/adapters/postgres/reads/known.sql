-- What the memory knew at a moment (B11): relations that stand before a statement of the reads under the names of the tables that
-- it reads, each as it was then. A state that is not kept is not made up: it is left
-- out, and not_kept names it. Deleted is deleted.

-- name: everywhere
messages AS NOT MATERIALIZED (
    SELECT m.id, m.chat_id, m.external_id, m.sender_entity_id, m.sent_at,
           coalesce(w.token_count, m.token_count) AS token_count, coalesce(w.importance_score, m.importance_score) AS importance_score, m.is_outgoing, m.kind,
           m.content, m.content_hash, m.is_archived, m.deleted_at,
           CASE WHEN m.reworded_at > %(known)s THEN 'infinity' ELSE m.edited_at END AS edited_at,
           m.reworded_at <= %(known)s AND EXISTS (
               SELECT FROM interaction_readings r
               WHERE r.interaction_id = interaction_of(m.kind, m.chat_id, m.sent_at) AND r.known_from < m.reworded_at
                 AND NOT EXISTS (SELECT FROM past_versions p
                                 WHERE p.kind = 'reading' AND p.subject_id = r.interaction_id AND p.known_to >= m.reworded_at
                                   AND (p.known_to < %(known)s OR p.known_to = %(known)s AND p.written_at <= %(served)s))
           ) AS awaits_reading
    FROM messages m LEFT JOIN LATERAL words_known(m.id, m.reworded_at, %(known)s) AS w ON true
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
    FROM (
        SELECT * FROM interaction_summaries
        UNION ALL
        SELECT o.* FROM past_versions p
        CROSS JOIN LATERAL jsonb_populate_record(NULL::interaction_summaries, p.was || jsonb_build_object('known_to', p.known_to)) AS o
        WHERE p.kind = 'summary' AND p.known_to > %(known)s
    ) AS s JOIN interactions i ON i.id = s.interaction_id
    WHERE s.status IN ('completed', 'dirty', 'superseded')
      AND s.known_from <= %(known)s AND (s.known_to IS NULL OR s.known_to > %(known)s)
), live_summaries AS NOT MATERIALIZED (
    SELECT * FROM interaction_summaries
)

-- name: versions
-- Of each row that was written over, what it was at the moment: when this was known, or, where a message that it rests on was
-- edited after as_of, before those words came in. At one moment of a clock that stands, the database's decides.
past AS MATERIALIZED (
    SELECT DISTINCT ON (p.kind, p.subject_id) p.kind, p.subject_id, p.people, p.was,
           p.known_from <= %(known)s AND coalesce(p.known_from < k.at, true)
               AND NOT EXISTS (SELECT FROM unnest(p.chats) AS c WHERE rests_on_deleted(c, p.message_ids)) AS is_told
    FROM past_versions p
    LEFT JOIN LATERAL (
        SELECT min(edit_known(c, p.message_ids, %(as_of)s, %(known)s)) AS at FROM unnest(p.chats) AS c WHERE p.kind IN ('item', 'fact')
    ) AS k ON true
    WHERE (p.kind IN ('chat', 'entity') OR (p.kind, p.subject_id) IN (
              SELECT o.kind, o.subject_id FROM past_versions o WHERE o.people && accounts_of(%(entity)s)
              UNION SELECT 'item', w.item_id FROM item_people w WHERE w.entity_id = %(entity)s))
      AND (p.known_to > %(known)s OR p.known_to = %(known)s AND p.written_at > %(served)s OR p.known_to >= k.at)
    ORDER BY p.kind, p.subject_id, p.no
), item_states AS NOT MATERIALIZED (
    SELECT * FROM item_states WHERE known_from <= %(known)s AND item_id NOT IN (SELECT subject_id FROM past WHERE kind = 'item')
    UNION ALL
    SELECT s.* FROM past p CROSS JOIN LATERAL jsonb_populate_recordset(NULL::item_states, p.was -> 'states') AS s WHERE p.kind = 'item'
), items AS NOT MATERIALIZED (
    SELECT i.id, i.kind, i.interaction_id, i.importance, i.first_at, s.at AS last_at, i.chat_id, i.message_ids,
           i.is_withheld OR coalesce(greatest(made_at('item', i.id, i.known_from), s.known_from) >= k.at, false) AS is_withheld,
           s.text, s.owner, i.owner_entity_id, i.owner_name, s.superseded_by, s.due_date, i.holds_until,
           CASE WHEN s.status IN ('done', 'cancelled', 'superseded') THEN s.at END AS settled_at
    FROM items i CROSS JOIN LATERAL (
        SELECT at, text, owner, status, due_date, superseded_by, known_from FROM item_states WHERE item_id = i.id ORDER BY place DESC LIMIT 1
    ) AS s
    CROSS JOIN LATERAL (
        SELECT least(edit_known(i.chat_id, i.message_ids, %(as_of)s, %(known)s), (
            SELECT min(edit_known(o.chat_id, o.message_ids, %(as_of)s, %(known)s)) FROM item_states o
            WHERE o.item_id = i.id AND o.at <= %(as_of)s)) AS at
    ) AS k
    WHERE i.known_from <= %(known)s AND i.id NOT IN (SELECT subject_id FROM past WHERE kind = 'item')
    UNION ALL
    SELECT i.id, i.kind, i.interaction_id, i.importance, i.first_at, i.last_at, i.chat_id, i.message_ids, i.is_withheld,
           i.text, i.owner, i.owner_entity_id, i.owner_name, i.superseded_by, i.due_date, i.holds_until, i.settled_at
    FROM past p CROSS JOIN LATERAL jsonb_populate_record(NULL::items, p.was) AS i WHERE p.kind = 'item' AND p.is_told
), item_people AS MATERIALIZED (
    SELECT p.item_id, p.entity_id, p.kind, p.importance, i.due_date, i.first_at, i.last_at, i.settled_at
    FROM item_people p JOIN items i ON i.id = p.item_id
    WHERE p.entity_id = %(entity)s AND p.item_id NOT IN (SELECT subject_id FROM past WHERE kind = 'item')
    UNION ALL
    SELECT i.id, %(entity)s, i.kind, i.importance, i.due_date, i.first_at, i.last_at, i.settled_at
    FROM past p JOIN items i ON i.id = p.subject_id WHERE p.kind = 'item' AND p.people && accounts_of(%(entity)s)
), entity_facts AS NOT MATERIALIZED (
    SELECT f.* FROM entity_facts f
    WHERE f.known_from <= %(known)s AND f.id NOT IN (SELECT subject_id FROM past WHERE kind = 'fact')
      AND (made_at('fact', f.id, f.known_from) >= (
               SELECT edit_known(i.chat_id, f.message_ids, %(as_of)s, %(known)s) FROM interactions i WHERE i.id = f.interaction_id)) IS NOT TRUE
    UNION ALL
    SELECT f.* FROM past p CROSS JOIN LATERAL jsonb_populate_record(NULL::entity_facts, p.was) AS f
    WHERE p.kind = 'fact' AND p.is_told AND p.was IS NOT NULL
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
), entity_relationship_profiles AS NOT MATERIALIZED (
    SELECT * FROM entity_relationship_profiles
    WHERE known_from <= %(known)s AND id NOT IN (SELECT subject_id FROM past WHERE kind = 'profile')
    UNION ALL
    SELECT o.* FROM past p CROSS JOIN LATERAL jsonb_populate_record(NULL::entity_relationship_profiles, p.was) AS o
    WHERE p.kind = 'profile' AND p.is_told AND p.was IS NOT NULL
), chats AS NOT MATERIALIZED (
    SELECT c.id, c.source, c.external_id, o.kind, o.category, o.title
    FROM chats c LEFT JOIN past p ON p.kind = 'chat' AND p.subject_id = c.id
    CROSS JOIN LATERAL jsonb_populate_record(c, p.was) AS o
), eligible_chats AS NOT MATERIALIZED (
    SELECT id, source, external_id, kind, category FROM chats
    WHERE category IS DISTINCT FROM 'mass' AND (category IS NOT NULL OR kind <> 'channel')
), entities AS NOT MATERIALIZED (
    SELECT e.id, e.merged_into, e.is_self, o.type, o.name, o.organization_id
    FROM entities e LEFT JOIN past p ON p.kind = 'entity' AND p.subject_id = e.id
    CROSS JOIN LATERAL jsonb_populate_record(e, p.was) AS o
), organizations AS NOT MATERIALIZED (
    -- of somebody whose first word on it came later nobody knew where they work
    SELECT o.id, o.name FROM organizations o WHERE NOT EXISTS (
        SELECT FROM entities e WHERE e.id = %(entity)s AND e.organization_id = o.id
          AND NOT EXISTS (SELECT FROM entity_facts f WHERE f.entity_id = e.id AND f.fact_type = 'organization'))
)

-- name: of_search
item_states AS NOT MATERIALIZED (
    SELECT * FROM item_states WHERE known_from <= %(known)s
), items AS NOT MATERIALIZED (
    SELECT i.* FROM items i WHERE i.known_from <= %(known)s AND EXISTS (SELECT FROM item_states s WHERE s.item_id = i.id)
), entity_facts AS NOT MATERIALIZED (
    SELECT f.* FROM entity_facts f
    WHERE f.known_from <= %(known)s
      AND NOT EXISTS (SELECT FROM past_versions p WHERE p.kind = 'fact' AND p.subject_id = f.id AND p.known_to > %(known)s)
), -- a piece of what was derived is there if what it was made from stood then
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
    (SELECT p.kind, p.subject_id::text AS id, 'not_kept' AS reason, p.known_to AS at, NULL AS source, NULL AS chat FROM past_versions p
     WHERE p.people @> ARRAY[%(entity)s::uuid] AND p.was IS NULL AND p.known_from <= %(known)s AND p.known_to > %(known)s
     ORDER BY p.known_to DESC LIMIT 60)
    UNION ALL
    SELECT i.kind, i.id::text, 'not_kept', i.first_at, NULL, NULL FROM item_people w JOIN items i ON i.id = w.item_id
    WHERE w.entity_id = %(entity)s AND i.first_at <= %(as_of)s AND i.known_from <= %(known)s
      AND NOT EXISTS (SELECT FROM item_states s WHERE s.item_id = i.id AND s.known_from <= %(known)s)
      AND NOT EXISTS (SELECT FROM past_versions p WHERE p.kind = 'item' AND p.subject_id = i.id AND p.known_to > %(known)s)
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
