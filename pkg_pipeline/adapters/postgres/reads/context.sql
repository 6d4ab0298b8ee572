-- An entity's context: one statement, one row of JSON, one snapshot. Every part is an index range cut by LIMIT before
-- joins, so that its cost is independent of what is stored. Fixed limits are literals for the planner: 200 rows of a range
-- with unservable ones, at most 61 items of a kind (more than any budget prints), the newest 100 messages of an interaction for 20
-- excerpts; what fills the rest of the budget is bounded by the tokens left. hot_from = as_of - hot_days; warm_from = as_of - warm_days.

-- name: context
-- everything the tiers may print, newest first (P1-P4, P8-P10, P33, P34)
WITH
-- interactions that started within the hot days …
recent AS (
    SELECT interaction_id FROM interaction_participants
    WHERE entity_id = %(entity)s AND started_at > %(hot_from)s AND started_at <= %(as_of)s
    ORDER BY started_at DESC LIMIT 60
),
-- … and those that run into them from before: at most one a chat, the first to end after hot_from
spanning AS (
    SELECT interaction_id, started_at, ended_at FROM (
        SELECT interaction_id, started_at, ended_at FROM interaction_participants
        WHERE entity_id = %(entity)s AND ended_at > %(hot_from)s
        ORDER BY ended_at LIMIT 50
    ) AS ending WHERE started_at <= %(hot_from)s
),
-- dialogs with recent messages: by interactions, or by membership before they are segmented
dialogs AS (
    (SELECT c.id FROM (SELECT interaction_id FROM recent UNION SELECT interaction_id FROM spanning) AS near
     JOIN interactions i ON i.id = near.interaction_id
     JOIN chats c ON c.id = i.chat_id AND c.kind = 'direct')
    UNION
    (SELECT c.id FROM (SELECT chat_id FROM chat_members WHERE entity_id = ANY(accounts_of(%(entity)s)) ORDER BY chat_id LIMIT 100) AS own
     JOIN chats c ON c.id = own.chat_id AND c.kind = 'direct' LIMIT 20)
),
-- P10: both directions of a dialog; P34: of a group what belongs to the entity
hot AS (
    SELECT id, sent_at, token_count FROM (
        SELECT m.id, m.sent_at, m.token_count FROM dialogs d CROSS JOIN LATERAL (
            SELECT id, sent_at, token_count FROM messages
            WHERE chat_id = d.id AND sent_at > %(hot_from)s AND sent_at <= %(as_of)s
              AND deleted_at IS NULL AND kind = 'message'
            ORDER BY sent_at DESC, id DESC LIMIT %(hot_limit)s + 1
        ) AS m
        UNION
        (SELECT m.id, e.sent_at, m.token_count FROM message_entities e JOIN messages m ON m.id = e.message_id
         WHERE e.entity_id = %(entity)s AND e.sent_at > %(hot_from)s AND e.sent_at <= %(as_of)s
           AND m.deleted_at IS NULL AND m.kind = 'message'
         ORDER BY e.sent_at DESC, e.message_id DESC LIMIT %(hot_limit)s + 1)
    ) AS both_kinds
    ORDER BY sent_at DESC, id DESC LIMIT %(hot_limit)s + 1
),
-- older ones, with their summary unless it rests on a deleted message (P29), or on one that was edited since (P9)
older AS MATERIALIZED (
    SELECT p.interaction_id, p.started_at, p.ended_at, s.id AS summary_id,
           s.dirty_reason IS NOT DISTINCT FROM 'deleted'
               OR %(is_past)s AND s.id IS NOT NULL AND talk_edited_since(p.interaction_id, %(as_of)s, %(known)s) AS is_withheld,
           p.token_count + 10 * p.message_count + 20 AS whole_tokens, coalesce(s.summary_token_count + 30, 0) AS told_tokens
    FROM (
        SELECT interaction_id, started_at, ended_at, token_count, message_count FROM interaction_participants
        WHERE entity_id = %(entity)s AND ended_at <= %(hot_from)s
        ORDER BY ended_at DESC, interaction_id LIMIT 200
    ) AS p
    LEFT JOIN live_summaries s ON s.interaction_id = p.interaction_id
),
summarised AS (
    SELECT summary_id, interaction_id, ended_at FROM older
    WHERE summary_id IS NOT NULL AND NOT is_withheld AND ended_at >= %(warm_from)s
    ORDER BY ended_at DESC, interaction_id LIMIT %(summary_limit)s + 1
),
-- P33; channels, bots and mass groups are never summarised
unsummarised AS (
    SELECT near.interaction_id, near.started_at, near.ended_at, c.id AS chat_id, c.kind
    FROM (
        SELECT interaction_id, started_at, ended_at FROM spanning
        UNION ALL
        SELECT interaction_id, started_at, ended_at FROM older WHERE summary_id IS NULL OR is_withheld
    ) AS near
    JOIN interactions i ON i.id = near.interaction_id
    JOIN eligible_chats c ON c.id = i.chat_id
    WHERE c.kind = 'direct' OR NOT (SELECT is_self FROM entities WHERE id = %(entity)s)
    ORDER BY near.ended_at DESC, near.interaction_id LIMIT %(summary_limit)s + 1
),
-- its messages with score >= 0.5 among the newest, else its last three
excerpts AS (
    SELECT u.interaction_id, x.id, x.sent_at FROM unsummarised u CROSS JOIN LATERAL (
        SELECT id, sent_at FROM (
            SELECT id, sent_at, importance_score, row_number() OVER (ORDER BY sent_at DESC, id DESC) AS back,
                   max(importance_score) OVER () AS best
            FROM (
                SELECT id, sent_at, importance_score FROM (
                    (SELECT m.id, m.sent_at, m.importance_score FROM messages m
                     WHERE u.kind = 'direct' AND m.chat_id = u.chat_id
                       AND m.sent_at >= u.started_at AND m.sent_at <= least(u.ended_at, %(hot_from)s)
                       AND m.deleted_at IS NULL AND m.kind = 'message'
                     ORDER BY m.sent_at DESC, m.id DESC LIMIT 100)
                    UNION ALL
                    (SELECT m.id, m.sent_at, m.importance_score FROM message_entities e
                     JOIN messages m ON m.id = e.message_id
                     WHERE u.kind <> 'direct' AND e.entity_id = %(entity)s AND e.interaction_id = u.interaction_id
                       AND e.sent_at >= u.started_at AND e.sent_at <= least(u.ended_at, %(hot_from)s)
                       AND m.deleted_at IS NULL AND m.kind = 'message'
                     ORDER BY e.sent_at DESC, e.message_id DESC LIMIT 100)
                ) AS newest
            ) AS scored
        ) AS ranked
        WHERE CASE WHEN best >= 0.5 THEN importance_score >= 0.5 ELSE back <= 3 END
        ORDER BY sent_at DESC, id DESC LIMIT 20
    ) AS x
),
-- P4, P9, B17: decisions in force then, by when they were said first
decisions AS (
    (SELECT item_id, 'high' AS band FROM item_people
     WHERE entity_id = %(entity)s AND kind = 'decision' AND importance = 'high' AND first_at <= %(as_of)s
       AND (settled_at IS NULL OR settled_at > %(as_of)s)
     ORDER BY first_at DESC LIMIT 61)
    UNION ALL
    (SELECT item_id, 'medium' FROM item_people
     WHERE entity_id = %(entity)s AND kind = 'decision' AND importance = 'medium'
       AND first_at <= %(hot_from)s AND first_at >= %(warm_from)s
       AND (settled_at IS NULL OR settled_at > %(as_of)s)
     ORDER BY first_at DESC LIMIT 40)
    UNION ALL
    (SELECT item_id, 'low' FROM item_people
     WHERE entity_id = %(entity)s AND kind = 'decision' AND importance = 'low'
       AND first_at <= %(hot_from)s AND first_at >= %(warm_from)s
       AND (settled_at IS NULL OR settled_at > %(as_of)s)
     ORDER BY first_at DESC LIMIT 20)
    UNION ALL
    (SELECT item_id, 'old' FROM item_people
     WHERE entity_id = %(entity)s AND kind = 'decision' AND importance = 'medium' AND first_at < %(warm_from)s
       AND (settled_at IS NULL OR settled_at > %(as_of)s)
     ORDER BY first_at DESC LIMIT 20)
),
-- P3, P9, B16: what was not settled then: spoken of last, due soonest, settled since
unsettled AS (
    SELECT item_id FROM (
        (SELECT item_id FROM item_people
         WHERE entity_id = %(entity)s AND kind = 'action_item' AND settled_at IS NULL AND first_at <= %(as_of)s
         ORDER BY last_at DESC LIMIT 60)
        UNION
        (SELECT item_id FROM item_people
         WHERE entity_id = %(entity)s AND kind = 'action_item' AND settled_at IS NULL AND first_at <= %(as_of)s
           AND due_date >= %(today)s::date - 30
         ORDER BY due_date LIMIT 30)
        UNION
        (SELECT item_id FROM item_people
         WHERE entity_id = %(entity)s AND kind = 'action_item' AND settled_at > %(as_of)s AND first_at <= %(as_of)s
         ORDER BY settled_at LIMIT 40)
    ) AS then_open
    LIMIT 100
),
-- P29: mostly nothing awaits a reading, and no item has to be looked at for it
edits AS (SELECT EXISTS (SELECT FROM messages WHERE awaits_reading) AS is_any),
-- each as it was then, by its newest state that rests on no deleted message; of a decision also the one before
items AS (
    SELECT i.id, i.kind, x.band, i.interaction_id, i.importance, i.first_at, i.chat_id, i.message_ids,
           i.is_withheld,
           coalesce(s.at, i.first_at) AS at, coalesce(s.text, i.text) AS text, coalesce(s.owner, i.owner) AS owner,
           CASE WHEN coalesce(s.owner, i.owner) = i.owner THEN coalesce(o.name, i.owner_name) END AS owner_name, s.due_date,
           item_status_until(i.kind, s.status, s.due_date, i.holds_until, s.at, %(as_of)s, %(today)s) AS status, s.quote, s.decided_by,
           (SELECT is_any FROM edits) AND EXISTS (
               SELECT FROM item_states o JOIN messages m ON m.chat_id = o.chat_id AND m.external_id = ANY(o.message_ids)
               WHERE o.item_id = x.item_id AND m.awaits_reading) AS is_stale,
           s.chat_id AS said_in, s.message_ids AS said_by, f.text AS former, f.first_at AS former_at,
           (SELECT probability FROM item_states WHERE item_id = x.item_id AND place = 0) AS found_with
    FROM (SELECT item_id, band FROM decisions UNION ALL SELECT item_id, 'open' FROM unsettled) AS x
    JOIN items i ON i.id = x.item_id
    LEFT JOIN LATERAL (
        SELECT at, status, text, owner, due_date, quote, decided_by, chat_id, message_ids FROM item_states
        WHERE item_id = x.item_id AND at <= %(as_of)s AND NOT is_withheld
        ORDER BY at DESC, place DESC LIMIT 1
    ) AS s ON true
    LEFT JOIN LATERAL (
        SELECT text, first_at FROM items
        WHERE superseded_by = x.item_id AND x.band <> 'open' AND NOT is_withheld
        ORDER BY last_at DESC, id LIMIT 1
    ) AS f ON true
    LEFT JOIN entities o ON o.id = i.owner_entity_id
    WHERE i.is_withheld OR s.status = 'open' OR (x.band = 'open' AND s.status = 'perhaps_done')
),
-- P6: about what the tiers leave of the budget, for more of what was said, newest first …
room AS (
    SELECT least(%(max_tokens)s, 16000) - 100 - coalesce((SELECT sum(token_count + 10) FROM hot), 0)
           - coalesce((SELECT sum(o.told_tokens) FROM summarised w JOIN older o USING (interaction_id)), 0)
           - 25 * (SELECT least(count(*), 60) FROM items) AS tokens
),
-- … whole conversations in place of what is told of them, always where that is not shorter (B21) …
retold AS (
    SELECT o.interaction_id, o.started_at, o.ended_at, c.id AS chat_id, c.kind FROM (
        SELECT *, sum(greatest(whole_tokens - told_tokens, 0)) OVER (ORDER BY ended_at DESC, interaction_id) AS so_far
        FROM older
        WHERE whole_tokens <= (SELECT tokens FROM room)
           OR (whole_tokens <= told_tokens AND interaction_id IN (SELECT interaction_id FROM summarised))
    ) AS o
    JOIN interactions i ON i.id = o.interaction_id
    JOIN eligible_chats c ON c.id = i.chat_id
    WHERE o.so_far <= (SELECT greatest(tokens, 0) FROM room)
      AND (c.kind = 'direct' OR NOT (SELECT is_self FROM entities WHERE id = %(entity)s))
    ORDER BY o.ended_at DESC, o.interaction_id LIMIT 100
),
whole AS (
    SELECT r.interaction_id, x.id, x.sent_at FROM retold r CROSS JOIN LATERAL (
        (SELECT m.id, m.sent_at FROM messages m
         WHERE r.kind = 'direct' AND m.chat_id = r.chat_id
           AND m.sent_at >= r.started_at AND m.sent_at <= least(r.ended_at, %(hot_from)s)
           AND m.deleted_at IS NULL AND m.kind = 'message'
         ORDER BY m.sent_at DESC, m.id DESC LIMIT 200)
        UNION ALL
        (SELECT m.id, e.sent_at FROM message_entities e JOIN messages m ON m.id = e.message_id
         WHERE r.kind <> 'direct' AND e.entity_id = %(entity)s AND e.interaction_id = r.interaction_id
           AND e.sent_at >= r.started_at AND e.sent_at <= least(r.ended_at, %(hot_from)s)
           AND m.deleted_at IS NULL AND m.kind = 'message'
         ORDER BY e.sent_at DESC, e.message_id DESC LIMIT 200)
    ) AS x
),
-- … and summaries beyond the limit or the warm days
further AS (
    SELECT summary_id, interaction_id FROM (
        SELECT *, sum(told_tokens) OVER (ORDER BY ended_at DESC, interaction_id) AS so_far FROM older
        WHERE summary_id IS NOT NULL AND NOT is_withheld
          AND interaction_id NOT IN (SELECT interaction_id FROM summarised ORDER BY ended_at DESC, interaction_id LIMIT %(summary_limit)s)
    ) AS o
    WHERE so_far <= (SELECT tokens FROM room)
),
-- P9: the text as of then: the newest revision not newer than as_of
texts AS (
    SELECT m.id, m.chat_id, m.external_id, m.sent_at, coalesce(s.is_self, m.is_outgoing) AS is_self, s.name AS speaker,
           left(coalesce(past.content, own_words(m.content, o.own)), %(text_chars)s) AS text,
           length(coalesce(past.content, own_words(m.content, o.own))) > %(text_chars)s AS is_cut,
           m.is_archived AND past.content IS NULL AS is_archived
    FROM (SELECT id FROM hot UNION SELECT id FROM excerpts UNION SELECT id FROM whole) AS wanted
    JOIN messages m ON m.id = wanted.id
    LEFT JOIN entities s ON s.id = m.sender_entity_id
    LEFT JOIN message_echoes o ON o.message_id = m.id AND o.content_hash = m.content_hash
    LEFT JOIN LATERAL (
        SELECT r.content FROM message_revisions r
        WHERE m.edited_at > %(as_of)s AND r.message_id = m.id AND r.edited_at <= %(as_of)s AND NOT r.is_deleted
        ORDER BY r.edited_at DESC LIMIT 1
    ) AS past ON true
),
facts AS (
    SELECT f.id, f.fact_type, f.value, f.message_ids, i.chat_id, coalesce(f.valid_from, i.ended_at, f.known_from) AS at,
           CASE WHEN f.entity_id IS NULL THEN f.about_name END AS about,
           (SELECT is_any FROM edits) AND EXISTS (
               SELECT FROM messages m WHERE m.chat_id = i.chat_id AND m.external_id = ANY(f.message_ids) AND m.awaits_reading) AS is_stale,
           f.decided_by = 'person' AS is_decided
    FROM (
        (SELECT * FROM entity_facts
         WHERE entity_id = %(entity)s AND status = 'confirmed' AND valid_to IS NULL
         ORDER BY fact_type LIMIT 60)
        UNION ALL
        -- P9: what ended since
        (SELECT * FROM entity_facts
         WHERE %(is_past)s AND entity_id = %(entity)s AND status = 'confirmed' AND valid_to > %(as_of)s AND NOT is_ended
         ORDER BY valid_from DESC LIMIT 60)
        UNION ALL
        -- of people known by name only, as this person tells of them
        (SELECT * FROM entity_facts
         WHERE told_by = %(entity)s AND entity_id IS NULL AND status = 'confirmed' AND valid_to IS NULL
         ORDER BY valid_from DESC LIMIT 20)
    ) AS f
    LEFT JOIN interactions i ON i.id = f.interaction_id
    WHERE coalesce(f.valid_from, i.ended_at, '-infinity') <= %(as_of)s
),
summaries AS (
    SELECT s.id, s.interaction_id, i.chat_id, i.started_at, i.ended_at, s.summary, s.status = 'dirty' AS is_stale,
           s.message_ids
    FROM (SELECT summary_id, interaction_id FROM summarised UNION SELECT summary_id, interaction_id FROM further) AS w
    JOIN interaction_summaries s ON s.id = w.summary_id
    JOIN interactions i ON i.id = w.interaction_id
),
-- P3, P9: the newest week that had ended. A week ends six to eight days after its key (time zones): two rows at most
profile AS (
    SELECT id, week, as_of, relationship_type, summary, milestones, key_decisions, open_action_items,
           status = 'dirty' AS is_stale, dirty_reason IS NOT DISTINCT FROM 'deleted' AS is_withheld
    FROM entity_relationship_profiles
    WHERE entity_id = %(entity)s AND week <= %(as_of_day)s::date - 6 AND as_of <= %(as_of)s
    ORDER BY week DESC LIMIT 1
),
-- P8: the messages of the profile (place 0: of its ten newest HIGH decisions) and of each milestone: of the HIGH decisions
-- of its conversations, else the first three of each
profile_sources AS (
    SELECT 0 AS place, d.decided_on || ' ' || d.item_id AS rank, x.chat_id, x.message_ids[1:6] AS message_ids
    FROM profile p
    CROSS JOIN LATERAL (
        SELECT (given ->> 'id')::uuid AS item_id, given ->> 'decided_on' AS decided_on
        FROM jsonb_array_elements(p.key_decisions) AS one (given)
        ORDER BY given ->> 'decided_on' DESC, given ->> 'id' LIMIT 10
    ) AS d
    JOIN items x ON x.id = d.item_id AND NOT x.is_withheld
    UNION ALL
    SELECT m.place, s.interaction_id::text, i.chat_id,
           coalesce((SELECT x.message_ids[1:6] FROM items x
                     JOIN item_people w ON w.item_id = x.id AND w.entity_id = %(entity)s
                     WHERE x.interaction_id = s.interaction_id AND x.kind = 'decision'
                       AND x.importance = 'high' AND NOT x.is_withheld
                     ORDER BY x.id LIMIT 1), s.message_ids[1:3])
    FROM profile p
    CROSS JOIN LATERAL (
        SELECT one.place, ids.interaction FROM jsonb_array_elements(p.milestones) WITH ORDINALITY AS one (given, place)
        CROSS JOIN LATERAL (
            SELECT x.interaction FROM jsonb_array_elements_text(one.given -> 'interaction_ids') AS x (interaction) LIMIT 3
        ) AS ids
        ORDER BY one.place LIMIT 30
    ) AS m
    JOIN live_summaries s ON s.interaction_id = m.interaction::uuid
    JOIN interactions i ON i.id = s.interaction_id
),
chats_seen AS (
    SELECT id, source, external_id, kind, title FROM chats WHERE id IN (
        SELECT chat_id FROM texts UNION SELECT chat_id FROM items UNION SELECT said_in FROM items UNION SELECT chat_id FROM facts
        UNION SELECT chat_id FROM summaries UNION SELECT chat_id FROM unsummarised UNION SELECT chat_id FROM retold
        UNION SELECT chat_id FROM profile_sources
    )
),
-- where they wrote: in channels and with bots alone, or among people
memberships AS (
    SELECT EXISTS (SELECT FROM eligible_chats c WHERE c.id = m.chat_id) AS is_eligible
    FROM (SELECT chat_id FROM chat_members WHERE entity_id = ANY(accounts_of(%(entity)s)) ORDER BY chat_id LIMIT 100) AS m
),
-- B19: who they are to me is heard from the newest words in dialogs, unless a profile tells it
said AS (
    SELECT m.text, m.is_outgoing AS is_self, m.sent_at AS at FROM (
        SELECT DISTINCT c.id FROM chat_members w JOIN eligible_chats c ON c.id = w.chat_id AND c.kind = 'direct'
        WHERE w.entity_id = ANY(accounts_of(%(entity)s)) AND NOT EXISTS (SELECT FROM profile) ORDER BY c.id LIMIT 20
    ) AS d CROSS JOIN LATERAL (
        SELECT left(content, %(heard_chars)s) AS text, is_outgoing, sent_at FROM messages
        WHERE chat_id = d.id AND sent_at <= %(as_of)s AND deleted_at IS NULL AND kind = 'message' AND NOT is_archived
          AND (edited_at IS NULL OR edited_at <= %(as_of)s)
        ORDER BY sent_at DESC, id DESC LIMIT %(heard_messages)s
    ) AS m
    ORDER BY m.sent_at DESC LIMIT %(heard_messages)s
),
-- last contact and language, of the newest interactions
latest AS (
    SELECT p.ended_at, p.message_count, i.language FROM (
        SELECT interaction_id, ended_at, message_count FROM interaction_participants
        WHERE entity_id = %(entity)s AND started_at <= %(as_of)s
        ORDER BY started_at DESC LIMIT 10
    ) AS p JOIN interactions i ON i.id = p.interaction_id
),
-- O(1): totals of the days before, plus the day itself
before AS (
    SELECT messages_total, tokens_total FROM entity_days
    WHERE entity_id = %(entity)s AND day < %(as_of_day)s ORDER BY day DESC LIMIT 1
),
that_day AS (
    SELECT sum(message_count) AS messages, sum(token_count) AS tokens FROM (
        SELECT message_count, token_count FROM interaction_participants
        WHERE entity_id = %(entity)s AND started_at >= %(as_of_day_start)s AND started_at <= %(as_of)s
        ORDER BY started_at DESC LIMIT 1000
    ) AS started
)
SELECT json_build_object(
    'entity', (SELECT row_to_json(x) FROM (
        SELECT e.id, e.merged_into, e.name, e.type, e.is_self, o.id AS organization_id, o.name AS organization,
               (SELECT json_agg(DISTINCT source ORDER BY source) FROM (
                   SELECT source FROM entity_identities WHERE entity_id = ANY(accounts_of(e.id)) LIMIT 50) AS own) AS sources,
               (SELECT json_agg(language ORDER BY messages DESC, ended_at DESC) FROM (
                   SELECT language, sum(message_count) AS messages, max(ended_at) AS ended_at FROM latest
                   GROUP BY language) AS spoken) AS languages,
               (SELECT json_agg(day ORDER BY day) FROM (
                   SELECT day FROM entity_days WHERE entity_id = e.id AND day < %(as_of_day)s
                   ORDER BY day DESC LIMIT 200) AS days) AS days,
               EXISTS (SELECT FROM memberships) AND NOT EXISTS (SELECT FROM memberships WHERE is_eligible) AS is_mass,
               coalesce((SELECT messages_total FROM before), 0) + coalesce((SELECT messages FROM that_day), 0) AS messages,
               coalesce((SELECT tokens_total FROM before), 0) + coalesce((SELECT tokens FROM that_day), 0) AS tokens,
               (SELECT started_at FROM interaction_participants
                WHERE entity_id = e.id AND started_at <= %(as_of)s ORDER BY started_at LIMIT 1) AS first_contact,
               greatest((SELECT max(least(ended_at, %(as_of)s)) FROM latest),
                        (SELECT max(sent_at) FROM hot)) AS last_contact
        FROM entities e LEFT JOIN organizations o ON o.id = e.organization_id
        WHERE e.id = %(entity)s) AS x),
    'said', (SELECT json_agg(said) FROM said),
    'groups', (SELECT json_agg(title ORDER BY title) FROM (
        SELECT DISTINCT c.id, c.title FROM chat_members w
        JOIN eligible_chats e ON e.id = w.chat_id AND e.kind <> 'direct'
        JOIN chats c ON c.id = e.id AND c.title IS NOT NULL
        WHERE w.entity_id = ANY(accounts_of(%(entity)s)) ORDER BY c.id LIMIT 10) AS own),
    'my_organization', (SELECT o.name FROM entities e JOIN organizations o ON o.id = e.organization_id
                        WHERE e.is_self ORDER BY e.id LIMIT 1),
    'me', (SELECT json_build_array(e.id, e.name) FROM entities e WHERE e.is_self AND e.type = 'person' ORDER BY e.id LIMIT 1),
    'chats', (SELECT json_object_agg(id, json_build_array(source, external_id, kind, title)) FROM chats_seen),
    'texts', (SELECT json_object_agg(id, row_to_json(texts)) FROM texts),
    'hot', (SELECT json_agg(id ORDER BY sent_at DESC, id DESC) FROM hot),
    'summaries', (SELECT json_agg(summaries ORDER BY ended_at DESC, interaction_id) FROM summaries),
    'unsummarised', (SELECT json_agg(x ORDER BY x.ended_at DESC, x.interaction_id) FROM (
        SELECT u.interaction_id, u.chat_id, u.started_at, u.ended_at,
               (SELECT json_agg(e.id ORDER BY e.sent_at DESC, e.id DESC) FROM excerpts e
                WHERE e.interaction_id = u.interaction_id) AS messages
        FROM unsummarised u) AS x),
    'whole', (SELECT json_agg(x ORDER BY x.ended_at DESC, x.interaction_id) FROM (
        SELECT r.interaction_id, r.chat_id, r.started_at, r.ended_at,
               (SELECT json_agg(w.id ORDER BY w.sent_at, w.id) FROM whole w
                WHERE w.interaction_id = r.interaction_id) AS messages
        FROM retold r) AS x),
    'withheld', (SELECT json_agg(summary_id ORDER BY ended_at DESC, summary_id) FROM older
                 WHERE is_withheld AND ended_at >= %(warm_from)s),
    'items', (SELECT json_agg(items ORDER BY due_date, at DESC, id) FROM items),
    'profile', (SELECT row_to_json(x) FROM (
        SELECT id, as_of, relationship_type, summary, milestones, is_stale,
               is_withheld OR %(is_past)s AND EXISTS (
                   SELECT FROM profile_sources s WHERE edited_since(s.chat_id, s.message_ids, %(as_of)s, %(known)s)) AS is_withheld,
               (SELECT json_agg(json_build_array(place, chat_id, message_ids) ORDER BY place, rank DESC)
                FROM profile_sources) AS sources,
               (SELECT json_agg(given -> 'id') FROM jsonb_array_elements(open_action_items) AS one (given)
                WHERE given -> 'is_doubted' = 'true') AS doubted
        FROM profile) AS x),
    'facts', (SELECT json_agg(facts ORDER BY about IS NOT NULL, about, fact_type, at DESC, id) FROM facts)
)::text

-- name: archived_texts
-- only for messages with archived text: an old as_of, or a partly restored interaction
SELECT id, left(content, %(text_chars)s) AS text, length(content) > %(text_chars)s AS is_cut FROM live_texts WHERE id = ANY(%(ids)s)
