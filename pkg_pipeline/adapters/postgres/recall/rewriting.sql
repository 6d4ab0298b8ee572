-- name: languages
-- Languages with at least this share of the searchable messages, most frequent first; without mass chats (P34).
WITH spoken AS (
    SELECT i.language, sum(i.message_count) AS messages FROM interactions i
    JOIN eligible_chats c ON c.id = i.chat_id
    GROUP BY i.language
)
SELECT language FROM spoken
WHERE messages > 0 AND messages >= %(least_share)s::float8 * (SELECT sum(messages) FROM spoken)
ORDER BY messages DESC, language
