-- Tokens of summaries against tokens of their messages, by the local day on which the interactions began.
with said as (
    select
        interaction_id,
        count(*) filter (where kind = 'decision') as decisions,
        count(*) filter (where kind = 'action_item') as action_items
    from {{ source('memory', 'items') }}
    where not is_withheld
    group by interaction_id
)

select
    day,
    language,
    method,
    count(*) as summaries,
    sum(message_count)::bigint as messages,
    sum(source_token_count)::bigint as source_tokens,
    sum(summary_token_count)::bigint as summary_tokens,
    (sum(source_token_count)::numeric / greatest(sum(summary_token_count), 1))::numeric(12, 2) as compression_ratio,
    sum(jsonb_array_length(key_points))::bigint as key_points,
    coalesce(sum(said.decisions), 0)::bigint as decisions,
    coalesce(sum(said.action_items), 0)::bigint as action_items,
    clock_timestamp() as built_at
from {{ ref('stg_live_summaries') }}
left join said using (interaction_id)
where {{ in_range('day') }}
group by day, language, method
