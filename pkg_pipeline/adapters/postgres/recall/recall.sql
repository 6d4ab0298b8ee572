-- Search statements, assembled by store.py: a line ending in "--? name" is kept only with that flag; names in braces are
-- numbers, ids or other statements.

-- name: question_facts
-- Everything about a question that needs no vector, as one row. Names of more than name_limit people are ignored; name_scan
-- bounds the people looked at.
WITH active AS MATERIALIZED (
    SELECT id, model, dimensions FROM embedding_spaces WHERE state = 'active'
), asked AS MATERIALIZED (
    SELECT g.scope, g.place, a.id AS space_id FROM unnest(%(scopes)s::uuid[]) WITH ORDINALITY AS g (scope, place)
    CROSS JOIN active a
), named AS (
    SELECT n.term, p.entity_id
    FROM unnest(%(names)s::int[]) AS n (term)
    CROSS JOIN LATERAL (
        SELECT s.entity_id FROM speaker_terms s WHERE s.term = n.term ORDER BY s.entity_id LIMIT %(name_scan)s
    ) p
    WHERE (%(chat)s::uuid IS NULL OR EXISTS (
        SELECT FROM chat_members m WHERE m.chat_id = %(chat)s AND m.entity_id = ANY(accounts_of(p.entity_id))))
      AND (%(entity)s::uuid IS NULL OR p.entity_id = %(entity)s OR EXISTS (
        SELECT FROM chat_members m JOIN chat_members o ON o.chat_id = m.chat_id AND o.entity_id = ANY(accounts_of(%(entity)s))
        WHERE m.entity_id = ANY(accounts_of(p.entity_id))))
), meant AS (
    SELECT DISTINCT term, entity_id FROM (SELECT term, entity_id, count(*) OVER (PARTITION BY term) AS fitting FROM named) n
    WHERE fitting <= %(name_limit)s
)
SELECT (SELECT id FROM active) AS space_id, (SELECT model FROM active) AS model, (SELECT dimensions FROM active) AS dimensions,
       %(entity)s::uuid IS NULL OR EXISTS (SELECT FROM entities WHERE id = %(entity)s) AS is_entity_known,
       %(chat)s::uuid IS NULL OR EXISTS (SELECT FROM chats WHERE id = %(chat)s) AS is_chat_known,
       (SELECT array_agg(coalesce(s.chunks, 0) ORDER BY g.place)
        FROM asked g LEFT JOIN chunk_scopes s ON s.space_id = g.space_id AND s.scope = g.scope) AS sizes,
       (SELECT array_agg(s.index_name IS NOT NULL ORDER BY g.place)
        FROM asked g LEFT JOIN chunk_scopes s ON s.space_id = g.space_id AND s.scope = g.scope) AS are_indexed,
       (SELECT array_agg((                                                                              --? timed
            SELECT count(*) FROM (                                                                      --? timed
                SELECT FROM chunk_codes k WHERE k.space_id = g.space_id AND k.scope = g.scope           --? timed
                    AND k.at >= coalesce(%(at_from)s::timestamptz, '-infinity')                         --? timed
                    AND k.at < coalesce(%(at_to)s::timestamptz, 'infinity') LIMIT {counted}             --? timed
            ) found) ORDER BY g.place)                                                                  --? timed
        FROM asked g) AS in_range,                                                                      --? timed
       (SELECT array_agg(ARRAY[term::bigint, chunks]) FROM chunk_terms WHERE term = ANY(%(terms)s::int[])) AS frequencies,
       (SELECT array_agg(DISTINCT entity_id ORDER BY entity_id) FROM meant) AS meant,
       (SELECT array_agg(DISTINCT term ORDER BY term) FROM meant) AS names

-- name: nearest_by_codes
-- The nearest of a scope by codes, then by vectors. With more conditions than scope and time, codes are scanned until
-- enough match.
SELECT near.no, near.similarity FROM (
    SELECT k.no, (
        SELECT -(e.embedding <#> %(vector)s::halfvec) FROM chunk_embeddings e
        WHERE e.chunk_no = k.no AND e.space_id = %(space)s
    ) AS similarity
    FROM (
        SELECT chunk_no AS no, code <~> %(code)s::bit(1024) AS distance
        FROM chunk_codes
        WHERE space_id = %(space)s AND scope = %(scope)s
          AND at >= coalesce(%(at_from)s::timestamptz, '-infinity') AND at < %(at_to)s::timestamptz
        ORDER BY distance, no LIMIT {codes}
    ) k
    CROSS JOIN LATERAL (                                                 --? narrowed
        SELECT FROM memory_chunks c WHERE c.no = k.no                    --? narrowed
          AND c.scopes @> %(scopes)s::uuid[]                             --? two_scopes
          AND c.topics && %(topics)s::text[]                             --? topics
          AND c.source = ANY(%(sources)s::text[])                        --? sources
          AND NOT c.is_withheld                                          --? narrowed
        LIMIT 1                                                          --? narrowed
    ) fits                                                               --? narrowed
    ORDER BY k.distance, k.no LIMIT {reranked}
) near
WHERE near.similarity IS NOT NULL
ORDER BY near.similarity DESC, near.no LIMIT {limit}

-- name: nearest_by_graph
-- The nearest of a big scope by its HNSW index, with iterative scans past rows that do not match.
SELECT near.no, near.similarity FROM (
    SELECT e.chunk_no AS no, -(e.embedding::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions})) AS similarity
    FROM chunk_embeddings e
    CROSS JOIN LATERAL (                                                 --? described
        SELECT FROM memory_chunks c WHERE c.no = e.chunk_no              --? described
          AND c.topics && %(topics)s::text[]                             --? topics
          AND c.source = ANY(%(sources)s::text[])                        --? sources
        LIMIT 1                                                          --? described
    ) fits                                                               --? described
    WHERE e.space_id = {space}
      AND e.scopes @> ARRAY['{scope}']::uuid[]                           --? indexed_scope
      AND e.scopes @> %(scopes)s::uuid[]                                 --? two_scopes
      AND e.at >= %(at_from)s::timestamptz                               --? begun
      AND e.at < %(at_to)s::timestamptz
    ORDER BY e.embedding::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions}) LIMIT {limit}
) near
ORDER BY near.similarity DESC, near.no

-- name: by_words
-- The best by words: chunks of the scope with one of the rare terms, scored by all. {scored} bounds questions of common
-- words only. IS TRUE keeps times and topics filters: under a generic plan an index of half the table would be read.
SELECT w.no, w.lexical FROM (
    SELECT c.no, -(c.lexical <#> %(words)s::sparsevec) AS lexical
    FROM memory_chunks c
    WHERE c.terms && %(fetched)s::int[]
      AND c.scopes @> %(scopes)s::uuid[]                                 --? scoped
      AND (c.topics && %(topics)s::text[]) IS TRUE                       --? topics
      AND c.source = ANY(%(sources)s::text[])                            --? sources
      AND (c.at >= %(at_from)s::timestamptz) IS TRUE                     --? begun
      AND (c.at < %(at_to)s::timestamptz) IS TRUE AND NOT c.is_withheld
    LIMIT {scored}
) w
ORDER BY w.lexical DESC, w.no LIMIT {limit}

-- name: no_vectors
-- Placeholder of the nearest for questions without a vector.
SELECT NULL::bigint AS no, NULL::float8 AS similarity WHERE false

-- name: candidates
-- Both lists merged, with both scores and all columns of a candidate. Texts as of then (P9); topics of a dirty summary are
-- left out. What rests on a deleted message, or on a summary no longer served, is left out (P29) even before its chunk is
-- rebuilt; so is, in the past, what rests on a message that was edited since; until that is read again it is stale.
WITH nearest AS MATERIALIZED (
    {nearest}
), worded AS MATERIALIZED (
    {worded}
), found AS MATERIALIZED (
    SELECT no, max(similarity) AS similarity, max(lexical) AS lexical FROM (
        SELECT no, similarity, NULL::float8 AS lexical FROM nearest
        UNION ALL
        SELECT no, NULL, lexical FROM worded
    ) lists GROUP BY no
)
SELECT c.no, c.id, c.source, h.source AS chat_source, h.external_id AS chat_external_id, h.kind, h.title, c.at,
       CASE WHEN c.content IS NOT NULL THEN c.content
            WHEN past.content IS NOT NULL THEN past.content
            WHEN c.start_char IS NULL AND c.end_char IS NULL THEN m.content
            ELSE substr(m.content, coalesce(c.start_char, 0) + 1,
                        coalesce(c.end_char, length(m.content)) - coalesce(c.start_char, 0)) END AS text,
       CASE WHEN c.content IS NULL THEN ARRAY[m.external_id]
            ELSE (coalesce(s.message_ids, r.external_ids, '{{}}'))[:{message_ids}] END AS message_ids,
       coalesce(f.lexical, -(c.lexical <#> %(words)s::sparsevec)) AS lexical,
       coalesce(f.similarity, (                                                                                     --? vectors
           SELECT -(e.embedding <#> %(vector)s::halfvec) FROM chunk_embeddings e                                    --? vectors
           WHERE e.chunk_no = c.no AND e.space_id = %(space)s                                                       --? vectors
       )) AS similarity,                                                                                            --? vectors
       NULL::float8 AS similarity,                                                                                  --? words_only
       c.interaction_id, c.subject_id, c.sender_entity_id, p.name AS speaker, coalesce(p.is_self, false) AS is_self, c.passage, c.passages,
       c.importance,
       CASE WHEN c.topics <> '{{}}' AND EXISTS (
           SELECT FROM pkg.interaction_summaries o WHERE o.interaction_id = c.interaction_id AND o.dirty_reason = 'deleted'
             AND (o.status = 'dirty' OR b.built_at <= o.updated_at)) THEN '{{}}' ELSE c.topics END AS topics,
       CASE WHEN c.content IS NULL THEN false
            WHEN c.source = 'summary' THEN s.status = 'dirty'
            WHEN c.source = 'fact' THEN awaits_reading(c.chat_id, r.external_ids)
            WHEN c.source = 'session_fold' THEN EXISTS (
                SELECT FROM session_summaries w WHERE w.session_id = c.chat_id AND w.to_at = c.at AND w.status = 'dirty')
            ELSE item_is_stale(c.subject_id) END AS is_stale, f.similarity IS NOT NULL AS is_near, f.lexical IS NOT NULL AS is_worded
FROM found f
JOIN memory_chunks c ON c.no = f.no AND NOT c.is_withheld
JOIN chats h ON h.id = c.chat_id
LEFT JOIN entities p ON p.id = c.sender_entity_id
LEFT JOIN live_texts m ON c.content IS NULL AND m.id = c.message_ids[1]
LEFT JOIN LATERAL (
    SELECT r.content FROM message_revisions r
    WHERE m.edited_at > %(as_of)s::timestamptz AND r.message_id = m.id AND r.edited_at <= %(as_of)s::timestamptz AND NOT r.is_deleted
    ORDER BY r.edited_at DESC LIMIT 1
) past ON true
LEFT JOIN live_summaries s ON c.source = 'summary' AND s.id = c.subject_id
LEFT JOIN chunk_states b ON b.interaction_id = c.interaction_id AND b.space_id = 0
LEFT JOIN LATERAL (
    SELECT array_agg(r.external_id ORDER BY r.sent_at, r.id) AS external_ids, count(r.deleted_at) > 0 AS is_gone,
           bool_or(r.edited_at > %(as_of)s::timestamptz) AS is_later
    FROM messages r WHERE c.content IS NOT NULL AND c.source <> 'summary' AND r.id = ANY(c.message_ids)
) r ON true
WHERE CASE WHEN c.content IS NULL THEN m.id IS NOT NULL AND m.deleted_at IS NULL
           WHEN c.source = 'summary' THEN s.id IS NOT NULL AND s.dirty_reason IS DISTINCT FROM 'deleted'
               AND NOT (%(is_past)s AND talk_edited_since(c.interaction_id, %(as_of)s::timestamptz, %(known)s))
           ELSE NOT r.is_gone AND NOT (%(is_past)s AND coalesce(r.is_later, false)) AND NOT EXISTS (
               SELECT FROM session_summaries w
               WHERE c.source = 'session_fold' AND w.session_id = c.chat_id AND w.to_at = c.at AND w.dirty_reason = 'deleted'
                 AND (w.status = 'dirty' OR EXISTS (
                     SELECT FROM session_summaries n WHERE n.parent_summary_id = w.id AND b.built_at <= n.generated_at))) END
ORDER BY similarity DESC NULLS LAST, lexical DESC, c.no
