-- Who is who (B20): decisions, the persons that follow from them, and what of the derived rows moves with them at once.

-- name: standing
SELECT action, entity_id AS entity, other_id AS other, name FROM entity_verdicts WHERE undone_at IS NULL ORDER BY decided_at

-- name: selves
SELECT id FROM entities WHERE is_self AND id = ANY(%(ids)s)

-- name: lock_items
SELECT pg_advisory_xact_lock(hashtext('items'))

-- name: is_quiet
-- Nothing was ever decided.
SELECT NOT EXISTS (SELECT FROM entity_verdicts)

-- name: lock
-- Whoever may change, and whom these stand under now, in the order in which imports lock them: whoever is locked only
-- later is locked out of order.
SELECT id FROM entities
WHERE id = ANY(%(accounts)s) OR merged_into IS NOT NULL OR chosen_name IS NOT NULL
   OR id IN (SELECT merged_into FROM entities) OR id IN (SELECT entity_id FROM entity_aliases)
ORDER BY id FOR NO KEY UPDATE

-- name: point
-- Points accounts at their persons; returns those that changed, with whose they were and are.
WITH wanted AS (
    SELECT * FROM unnest(%(accounts)s::uuid[], %(persons)s::uuid[], %(chosen)s::text[]) AS g (account, person, chosen)
), changed AS (
    SELECT e.id, coalesce(e.merged_into, e.id) AS old, coalesce(w.person, e.id) AS new, w.chosen
    FROM entities e LEFT JOIN wanted w ON w.account = e.id
    WHERE (w.account IS NOT NULL OR e.merged_into IS NOT NULL OR e.chosen_name IS NOT NULL)
      AND (e.merged_into, e.chosen_name) IS DISTINCT FROM (nullif(w.person, e.id), w.chosen)
)
UPDATE entities e SET merged_into = nullif(c.new, e.id), chosen_name = c.chosen
FROM changed c WHERE e.id = c.id RETURNING c.id, c.old, c.new

-- name: drop_aliases
DELETE FROM entity_aliases a
WHERE NOT EXISTS (SELECT FROM unnest(%(people)s::uuid[], %(names)s::text[]) AS g (person, name)
                  WHERE g.person = a.entity_id AND g.name = a.name)
RETURNING entity_id

-- name: add_aliases
INSERT INTO entity_aliases (entity_id, name)
SELECT * FROM unnest(%(people)s::uuid[], %(names)s::text[]) AS g (person, name) ORDER BY 1, 2
ON CONFLICT DO NOTHING RETURNING entity_id

-- name: shown_names
SELECT id, name FROM entities WHERE id = ANY(%(people)s) OR merged_into = ANY(%(people)s)

-- name: create_moved
-- In which chats an id means another person now; is_split: one that meant several accounts of this chat means several people.
CREATE TEMP TABLE moved_people ON COMMIT DROP AS
SELECT m.chat_id, coalesce(g.old, p.now) AS old, min(p.now::text)::uuid AS new, count(DISTINCT p.now) > 1 AS is_split
FROM chat_members m
CROSS JOIN LATERAL (SELECT person_of(m.entity_id) AS now) p
LEFT JOIN unnest(%(accounts)s::uuid[], %(olds)s::uuid[]) AS g (account, old) ON g.account = m.entity_id
WHERE m.chat_id IN (SELECT chat_id FROM chat_members WHERE entity_id = ANY(%(accounts)s))
GROUP BY m.chat_id, coalesce(g.old, p.now)
HAVING bool_or(p.now <> coalesce(g.old, p.now))

-- name: pairs
SELECT DISTINCT old, new FROM moved_people WHERE NOT is_split ORDER BY 1, 2

-- name: mark_chats
-- Chats of these people are cut and attributed anew; returns them.
WITH touched AS (
    SELECT DISTINCT chat_id FROM chat_members WHERE entity_id = ANY(%(accounts)s)
), marked AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason, from_at, to_at)
    SELECT 'interactions', t.chat_id::text, 'who is who', min(m.sent_at), max(m.sent_at)
    FROM touched t JOIN messages m ON m.chat_id = t.chat_id GROUP BY t.chat_id
)
SELECT chat_id FROM touched ORDER BY 1

-- name: move_in_readings
-- Readings say by id whose something is. What nobody can say without reading again is read again.
UPDATE interaction_readings r SET content = replace(r.content::text, %(old)s::uuid::text, %(new)s::uuid::text)::jsonb
FROM interactions i JOIN moved_people m ON m.chat_id = i.chat_id AND m.old = %(old)s AND m.new = %(new)s AND NOT m.is_split
WHERE i.id = r.interaction_id AND strpos(r.content::text, %(old)s::uuid::text) > 0

-- name: read_again
UPDATE interaction_readings r SET input_hash = ''
FROM interactions i JOIN moved_people m ON m.chat_id = i.chat_id AND m.is_split
WHERE i.id = r.interaction_id AND strpos(r.content::text, m.old::text) > 0

-- name: read_apart
-- A talk says nothing of an item from another chat with nobody of the talk in it any more.
UPDATE interaction_readings r SET input_hash = '', shown_hash = ''
FROM interactions t
WHERE t.id = r.interaction_id AND t.chat_id = ANY(%(chats)s) AND EXISTS (
    SELECT FROM items i WHERE i.id = ANY(r.item_ids) AND i.chat_id <> t.chat_id AND NOT EXISTS (
        SELECT FROM chat_members a JOIN entities e ON e.id = a.entity_id AND NOT e.is_self
        WHERE a.chat_id = i.chat_id AND EXISTS (
            SELECT FROM chat_members b WHERE b.chat_id = t.chat_id AND b.entity_id = ANY(accounts_of(person_of(e.id))))))

-- name: mark_readings
-- What is known of people follows from readings: of the talks in which they took part, and of those that know somebody by name.
INSERT INTO dirty_partitions (asset, partition_key, reason)
SELECT 'items', r.interaction_id::text, 'who is who' FROM interaction_readings r
WHERE r.interaction_id IN (
    SELECT p.interaction_id FROM interaction_participants p WHERE p.entity_id = ANY(%(people)s)
    UNION
    SELECT f.interaction_id FROM entity_facts f
    WHERE f.about_name IS NOT NULL AND (f.entity_id = ANY(%(people)s) OR lower(f.about_name) = ANY(%(names)s::text[])))

-- name: move_pieces
-- Recall finds pieces by whose they are, in the order in which they are made. Without their hashes the next run makes them anew.
UPDATE memory_chunks c
SET scopes = ARRAY(SELECT coalesce(m.new, s) FROM unnest(c.scopes) AS s
                   LEFT JOIN moved_people m ON m.chat_id = c.chat_id AND m.old = s AND NOT m.is_split
                   GROUP BY 1 ORDER BY coalesce(m.new, s) = c.chat_id, coalesce(m.new, s)),
    sender_entity_id = coalesce((SELECT m.new FROM moved_people m
                                 WHERE m.chat_id = c.chat_id AND m.old = c.sender_entity_id AND NOT m.is_split), c.sender_entity_id),
    index_hash = ''
WHERE c.chat_id IN (SELECT chat_id FROM moved_people)
  AND EXISTS (SELECT FROM moved_people m WHERE m.chat_id = c.chat_id AND m.old = ANY(c.scopes || c.sender_entity_id))
RETURNING no, interaction_id

-- name: move_vectors
UPDATE chunk_embeddings e SET scopes = c.scopes, index_hash = '' FROM memory_chunks c
WHERE e.chunk_no = ANY(%(numbers)s) AND c.no = e.chunk_no

-- name: outdate_pieces
UPDATE chunk_states SET input_hash = '' WHERE interaction_id = ANY(%(interactions)s)

-- name: copy_codes
-- A piece has a code in each of its scopes: from that of all (zero) into new ones …
INSERT INTO chunk_codes (space_id, scope, chunk_no, at, code)
SELECT k.space_id, s.scope, k.chunk_no, k.at, k.code
FROM chunk_embeddings e CROSS JOIN LATERAL unnest(e.scopes) AS s (scope)
JOIN chunk_codes k ON k.space_id = e.space_id AND k.scope = '00000000-0000-0000-0000-000000000000'
                  AND k.at = e.at AND k.chunk_no = e.chunk_no
WHERE e.chunk_no = ANY(%(numbers)s)
ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING
RETURNING space_id, scope

-- name: drop_codes
-- … and out of those it left.
DELETE FROM chunk_codes k USING chunk_embeddings e
WHERE e.chunk_no = ANY(%(numbers)s) AND k.space_id = e.space_id AND k.scope = ANY(%(scopes)s)
  AND k.at = e.at AND k.chunk_no = e.chunk_no AND k.scope <> ALL(e.scopes)
RETURNING k.space_id, k.scope

-- name: move_terms
-- Whoever is meant by an account's name is the person.
INSERT INTO speaker_terms (term, entity_id)
SELECT t.term, g.new FROM unnest(%(olds)s::uuid[], %(news)s::uuid[]) AS g (old, new) JOIN speaker_terms t ON t.entity_id = g.old
WHERE g.old <> g.new ORDER BY 1, 2 ON CONFLICT DO NOTHING

-- name: drop_terms
DELETE FROM speaker_terms t USING entities e WHERE e.id = t.entity_id AND e.merged_into IS NOT NULL

-- name: outdate_profiles
-- The newest profile of each tells of another person than before, and its week is due. Those of whoever lost accounts (lost) may
-- tell what somebody else said, if they were made since the accounts were joined: their words are withheld until they are made anew.
WITH newest AS (
    SELECT DISTINCT ON (entity_id) entity_id, week FROM entity_relationship_profiles
    WHERE entity_id = ANY(%(people)s) ORDER BY entity_id, week DESC
), joined AS (
    SELECT min(v.kept_at) AS at FROM entity_verdicts v
    WHERE v.action = 'join' AND (v.entity_id = ANY(%(accounts)s) OR v.other_id = ANY(%(accounts)s))
)
UPDATE entity_relationship_profiles p
SET status = 'dirty', dirty_reason = CASE WHEN p.entity_id = ANY(%(lost)s) THEN 'deleted' ELSE p.dirty_reason END
WHERE (p.entity_id, p.week) IN (SELECT entity_id, week FROM newest)
   OR (p.entity_id = ANY(%(lost)s) AND p.generated_at >= (SELECT at FROM joined))

-- name: mark_week
INSERT INTO dirty_partitions (asset, partition_key, reason)
SELECT 'entity_relationship_profiles', key, 'who is who' FROM (
    SELECT greatest(
        (SELECT max(partition_key) FROM partition_states WHERE asset = 'entity_relationship_profiles'),
        (SELECT max(partition_key) FROM dirty_partitions WHERE asset = 'entity_relationship_profiles')) AS key
) newest WHERE key IS NOT NULL

-- name: outdate_summaries
-- Those that call somebody by a part of a name that is none any more, since many use first names only; their days are due.
WITH called AS (
    SELECT DISTINCT m.chat_id, p.part FROM unnest(%(accounts)s::uuid[], %(names)s::text[]) AS g (account, name)
    JOIN chat_members m ON m.entity_id = g.account
    CROSS JOIN LATERAL regexp_split_to_table(g.name, '\s+') AS p (part) WHERE p.part <> ''
), dirty AS (
    UPDATE live_summaries s SET status = 'dirty', updated_at = clock_timestamp()
    FROM interactions i JOIN called c ON c.chat_id = i.chat_id
    WHERE s.interaction_id = i.id AND s.status = 'completed'
      AND strpos(concat_ws(' ', s.summary, s.key_points::text), c.part) > 0
    RETURNING i.day
)
INSERT INTO dirty_partitions (asset, partition_key, reason)
SELECT 'interaction_summaries', day_key(day), 'who is who' FROM dirty GROUP BY day

-- ── decisions ─────────────────────────────────────────────────────────────────────────────────

-- name: accounts
-- The accounts of these people: of each person in turn the one that stands for them, then the others.
SELECT e.id, p.person, e.name, coalesce(e.own_name, e.name) AS own_name, e.chosen_name, e.is_self,
       coalesce((SELECT array_agg(i.source || ':' || i.external_id ORDER BY 1) FROM entity_identities i WHERE i.entity_id = e.id), '{}')
           AS identities,
       ARRAY(SELECT a.name FROM entity_aliases a WHERE a.entity_id = p.person ORDER BY a.name) AS aliases
FROM (SELECT person_of(g.id) AS person, min(g.place) AS place FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS g (id, place) GROUP BY 1) p
JOIN entities e ON e.id = ANY(accounts_of(p.person))
ORDER BY p.place, e.merged_into IS NOT NULL, e.id

-- name: accounts_named
SELECT entity_id FROM unnest(%(keys)s::text[]) AS g (key)
JOIN entity_identities i ON i.source = split_part(g.key, ':', 1) AND i.external_id = substr(g.key, strpos(g.key, ':') + 1)
UNION SELECT id FROM entities WHERE id::text = ANY(%(ids)s)

-- name: chats
-- Of all accounts of these people.
SELECT DISTINCT m.chat_id FROM unnest(%(people)s::uuid[]) AS g (id)
JOIN chat_members m ON m.entity_id = ANY(accounts_of(person_of(g.id))) ORDER BY 1

-- name: last_at
SELECT max(decided_at) FROM entity_verdicts

-- name: keep
INSERT INTO entity_verdicts (decision_id, action, entity_id, other_id, name, decided_at)
VALUES (%(decision)s, %(action)s, %(entity)s, %(other)s, %(name)s, %(at)s)

-- name: about
SELECT entity_id FROM entity_verdicts WHERE decision_id = %(decision)s UNION
SELECT other_id FROM entity_verdicts WHERE decision_id = %(decision)s AND other_id IS NOT NULL

-- name: undo
UPDATE entity_verdicts SET undone_at = %(at)s WHERE decision_id = %(decision)s AND undone_at IS NULL

-- name: decisions
-- Newest first; of one, or those about a person, or all.
SELECT v.decision_id AS id, array_agg(v.action ORDER BY v.decided_at) AS actions, min(v.decided_at) AS decided_at,
       min(v.undone_at) AS undone_at, string_agg(v.name, ', ' ORDER BY v.decided_at) AS name,
       array_agg(v.entity_id ORDER BY v.decided_at) AS entity_ids, array_agg(e.name ORDER BY v.decided_at) AS called,
       array_agg(v.other_id ORDER BY v.decided_at) AS other_ids, array_agg(o.name ORDER BY v.decided_at) AS others,
       (SELECT json_object_agg(i.entity_id, i.account) FROM (
            SELECT entity_id, min(source || ':' || external_id) AS account FROM entity_identities
            WHERE entity_id = ANY(array_agg(v.entity_id) || array_agg(v.other_id)) GROUP BY entity_id) i) AS accounts
FROM entity_verdicts v JOIN entities e ON e.id = v.entity_id LEFT JOIN entities o ON o.id = v.other_id
WHERE (%(decision)s::uuid IS NULL OR v.decision_id = %(decision)s)
  AND (%(entity)s::uuid IS NULL OR v.decision_id IN (
      SELECT a.decision_id FROM entity_verdicts a
      WHERE a.entity_id = ANY(accounts_of(%(entity)s)) OR a.other_id = ANY(accounts_of(%(entity)s))))
GROUP BY v.decision_id ORDER BY min(v.decided_at) DESC LIMIT %(limit)s

-- name: decisions_between
SELECT DISTINCT decision_id FROM entity_verdicts WHERE decision_id BETWEEN %(first)s AND %(last)s LIMIT 2

-- ── suggestions ───────────────────────────────────────────────────────────────────────────────

-- name: candidates
-- Everybody but me, with what they are known by. Of values that a person rejected none counts.
SELECT e.id, names_of(e.id) AS names, accounts_of(e.id) AS accounts,
       coalesce((SELECT array_agg(i.source || ':' || i.external_id ORDER BY 1) FROM entity_identities i
                 WHERE i.entity_id = ANY(accounts_of(e.id))), '{}') AS identities,
       coalesce((SELECT array_agg(f.fact_type || ':' || f.value ORDER BY 1) FROM entity_facts f
                 WHERE f.entity_id = e.id AND f.status <> 'rejected' AND f.fact_type IN ('phone', 'email', 'handle', 'account')), '{}') AS contacts
FROM entities e WHERE e.merged_into IS NULL AND NOT e.is_self AND e.type = 'person' ORDER BY e.id

-- name: dismissals
SELECT entity_id AS entity, other_id AS other FROM entity_verdicts WHERE action = 'dismiss' AND undone_at IS NULL
