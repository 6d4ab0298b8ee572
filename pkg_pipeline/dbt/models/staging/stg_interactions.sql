-- Interactions with their state: eligible, due, summarised or failed (P11, P19).
select
    interactions.id as interaction_id,
    interactions.day,
    interactions.message_count,
    summaries.id is not null as is_summarized,
    coalesce(summaries.status = 'dirty' or summaries.input_hash <> interactions.input_hash, false) as is_outdated,
    coalesce(attempts.state = 'failed', false) as is_failed,
    interactions.message_count >= {{ var('minimum_messages') }}
    and interactions.token_count >= {{ var('minimum_tokens') }}
    and chats.category is distinct from 'mass'
    and (chats.category is not null or chats.kind <> 'channel') as is_eligible,
    interactions.ended_at <= {{ memory_now() }} - make_interval(secs => {{ var('due_after_seconds') }}) as is_of_age
from {{ source('memory', 'interactions') }} as interactions
inner join {{ source('memory', 'chats') }} as chats on chats.id = interactions.chat_id
left join {{ source('memory', 'interaction_summaries') }} as summaries
    on summaries.interaction_id = interactions.id and summaries.status in ('completed', 'dirty')
left join {{ source('memory', 'summary_attempts') }} as attempts
    on attempts.interaction_id = interactions.id and attempts.input_hash = interactions.input_hash
