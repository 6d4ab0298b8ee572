-- What a person decides about facts (B2).

-- name: fact
-- None of a fact that rests on a deleted message.
SELECT f.id, f.entity_id, f.about_name, f.told_by, f.fact_type, f.value, coalesce(f.read_value, f.value) AS said, f.status,
       f.decided_by
FROM entity_facts f LEFT JOIN interactions i ON i.id = f.interaction_id
WHERE f.id = %(id)s AND NOT rests_on_deleted(i.chat_id, f.message_ids)

-- name: alike
-- The facts of the same type that are known of the same one, with the messages they rest on.
SELECT f.id, f.value, coalesce(f.read_value, f.value) AS said, i.chat_id, f.message_ids
FROM entity_facts f LEFT JOIN interactions i ON i.id = f.interaction_id
WHERE CASE WHEN %(entity_id)s::uuid IS NULL
           THEN f.entity_id IS NULL AND lower(f.about_name) = lower(%(about_name)s) AND f.told_by IS NOT DISTINCT FROM %(told_by)s::uuid
           ELSE f.entity_id = %(entity_id)s::uuid END
  AND lower(f.fact_type) = lower(%(fact_type)s)
ORDER BY f.id

-- name: last_at
SELECT max(decided_at) FROM fact_verdicts

-- name: keep
INSERT INTO fact_verdicts (fact_id, entity_id, about_name, told_by, fact_type, said, action, value, valid_from, chat_id,
    message_ids, decided_at)
VALUES (%(fact_id)s, %(entity_id)s, %(about_name)s, %(told_by)s, %(fact_type)s, %(said)s, %(action)s, %(value)s, %(valid_from)s,
    %(chat_id)s, %(message_ids)s, %(at)s)

-- name: of_people
-- What was decided about facts of these people, of somebody by the name that one person calls them, and about these facts.
SELECT v.fact_id, person_of(v.entity_id) AS entity_id, v.about_name, person_of(v.told_by) AS told_by, v.fact_type, v.said,
       v.action, v.value, v.decided_at AS at
FROM fact_verdicts v
WHERE v.entity_id IN (SELECT a FROM unnest(%(people)s::uuid[]) AS p, unnest(accounts_of(p)) AS a) OR v.fact_id = ANY(%(facts)s)
   OR (v.entity_id IS NULL AND EXISTS (
        SELECT FROM unnest(%(names)s::text[], %(tellers)s::uuid[]) AS n (name, teller)
        WHERE lower(v.about_name) = n.name AND person_of(v.told_by) IS NOT DISTINCT FROM n.teller))
ORDER BY v.decided_at

-- name: unmade
-- Of whom a person added facts that have no row, or one of somebody else.
SELECT DISTINCT person FROM (
    SELECT person_of(v.entity_id) AS person, v.fact_id FROM fact_verdicts v WHERE v.action = 'add'
) v
WHERE NOT EXISTS (SELECT FROM entity_facts f WHERE f.id = v.fact_id AND f.entity_id = v.person)
