-- The summaries that are served, each with its interaction and chat.
select
    summaries.id as summary_id,
    summaries.interaction_id,
    summaries.status = 'dirty' as is_outdated,
    summaries.method,
    summaries.language,
    summaries.model_version,
    summaries.message_count,
    summaries.source_token_count,
    summaries.summary_token_count,
    summaries.key_points,
    interactions.day,
    interactions.started_at as interaction_started_at,
    interactions.ended_at as interaction_ended_at,
    interactions.chat_id,
    chats.source as chat_source,
    chats.external_id as chat_external_id,
    chats.title as chat_title
from {{ source('memory', 'interaction_summaries') }} as summaries
inner join {{ source('memory', 'interactions') }} as interactions on interactions.id = summaries.interaction_id
inner join {{ source('memory', 'chats') }} as chats on chats.id = interactions.chat_id
where summaries.status in ('completed', 'dirty')
