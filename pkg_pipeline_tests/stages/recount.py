"""What the derived tables must say, recounted by plain SQL from messages and participants. Holds after any build."""

from __future__ import annotations

from pkg_pipeline_tests.stages.ingest.import_rig import GAP_SECONDS, Rig

# messages of speech by silence, numbered by the stretch they are in
STRETCHES = f"""
    WITH spoken AS (
        SELECT *, interaction_of(kind, chat_id, sent_at) AS interaction_id, row_number() OVER w AS place,
               sent_at - lag(sent_at) OVER w > make_interval(secs => {GAP_SECONDS}) AS begins
        FROM messages WHERE kind = 'message'
        WINDOW w AS (PARTITION BY chat_id ORDER BY sent_at, length(external_id), external_id COLLATE "C")
    ), numbered AS (
        SELECT *, count(*) FILTER (WHERE coalesce(begins, true)) OVER (PARTITION BY chat_id ORDER BY place) AS stretch
        FROM spoken
    ), stretches AS (
        SELECT chat_id, stretch, min(sent_at) AS started_at, max(sent_at) AS ended_at,
               (array_agg(external_id ORDER BY place))[1] AS first_external_id,
               count(*) FILTER (WHERE deleted_at IS NULL) AS message_count,
               coalesce(sum(token_count) FILTER (WHERE deleted_at IS NULL), 0) AS token_count,
               count(*) FILTER (WHERE deleted_at IS NULL AND importance_score >= 0.5) AS important_count
        FROM numbered GROUP BY 1, 2
    )"""

CHECKS = {
    "interactions are the stretches between silences": f"""{STRETCHES}, there AS (
            SELECT chat_id, started_at, ended_at, first_external_id, message_count, token_count, important_count
            FROM stretches
        ), here AS (
            SELECT chat_id, started_at, ended_at, first_external_id, message_count, token_count, important_count
            FROM interactions
        )
        (TABLE there EXCEPT ALL TABLE here) UNION ALL (TABLE here EXCEPT ALL TABLE there)""",
    "every message is in the interaction of its stretch, a service entry in none": f"""{STRETCHES}
        SELECT n.external_id, n.interaction_id FROM numbered n JOIN stretches s USING (chat_id, stretch)
        LEFT JOIN interactions i ON i.id = n.interaction_id
        WHERE i.first_external_id IS DISTINCT FROM s.first_external_id OR i.chat_id <> n.chat_id
        UNION ALL
        SELECT external_id, interaction_id FROM message_texts WHERE kind = 'service' AND interaction_id IS NOT NULL""",
    "in a direct chat both take part in everything": """
        SELECT i.id FROM interactions i JOIN chats c ON c.id = i.chat_id AND c.kind = 'direct'
        JOIN chat_members m ON m.chat_id = c.id
        LEFT JOIN interaction_participants p ON p.interaction_id = i.id AND p.entity_id = m.entity_id
        WHERE (p.message_count, p.token_count) IS DISTINCT FROM (i.message_count, i.token_count)""",
    "participants carry the times of their interaction": """
        SELECT p.* FROM interaction_participants p JOIN interactions i ON i.id = p.interaction_id
        JOIN entities e ON e.id = p.entity_id
        WHERE (p.started_at, p.ended_at) <> (i.started_at, i.ended_at) OR (p.role = 'self') <> e.is_self""",
    "in a group the others' counts are those of their messages": """
        SELECT p.* FROM interaction_participants p JOIN interactions i ON i.id = p.interaction_id
        JOIN chats c ON c.id = i.chat_id AND c.kind <> 'direct'
        JOIN eligible_chats e ON e.id = c.id
        WHERE p.role = 'other' AND ROW(p.message_count::bigint, p.token_count) IS DISTINCT FROM (
            SELECT ROW(count(*), sum(m.token_count)) FROM message_entities b JOIN messages m ON m.id = b.message_id
            WHERE b.entity_id = p.entity_id AND b.interaction_id = p.interaction_id)""",
    "what belongs to somebody is live, in its interaction, at its time": """
        SELECT b.* FROM message_entities b JOIN messages m ON m.id = b.message_id
        WHERE m.deleted_at IS NOT NULL OR m.kind <> 'message'
           OR b.interaction_id IS DISTINCT FROM interaction_of(m.kind, m.chat_id, m.sent_at)
           OR b.sent_at <> m.sent_at""",
    "running totals are sums of the participants": """
        WITH days AS (
            SELECT entity_id, (started_at AT TIME ZONE 'UTC')::date AS day, sum(message_count) AS messages,
                   sum(token_count) AS tokens FROM interaction_participants GROUP BY 1, 2
        ), there AS (
            SELECT entity_id, day, messages, tokens, sum(messages) OVER w, sum(tokens) OVER w FROM days
            WINDOW w AS (PARTITION BY entity_id ORDER BY day)
        ), here AS (
            SELECT entity_id, day, message_count, token_count, messages_total, tokens_total FROM entity_days
        )
        (TABLE there EXCEPT ALL TABLE here) UNION ALL (TABLE here EXCEPT ALL TABLE there)""",
    "the day is that on which it started": """
        SELECT id, day FROM interactions WHERE day <> (started_at AT TIME ZONE 'Europe/Berlin')::date""",
    "outgoing is what I wrote": """
        SELECT m.external_id FROM messages m LEFT JOIN entities e ON e.id = m.sender_entity_id
        WHERE m.is_outgoing <> coalesce(e.is_self, false)""",
    "the text that stands is no earlier version": """
        SELECT m.external_id FROM messages m JOIN message_revisions r ON r.message_id = m.id
        WHERE (r.content_hash, r.is_deleted, r.edited_at)
            = (m.content_hash, m.deleted_at IS NOT NULL, coalesce(m.edited_at, '0001-01-01Z'))""",
    "nothing is left to do": """
        SELECT asset, partition_key, reason FROM dirty_partitions WHERE asset IN ('interactions', 'entity_days')""",
}


def assert_recounts(rig: Rig) -> None:
    for name, sql in CHECKS.items():
        assert rig.rows(sql) == [], name
