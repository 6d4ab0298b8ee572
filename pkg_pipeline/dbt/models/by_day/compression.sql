-- Tokens of summaries against tokens of their messages, by the local day on which the interactions began.
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
    sum(jsonb_array_length(decisions))::bigint as decisions,
    sum(jsonb_array_length(action_items))::bigint as action_items,
    clock_timestamp() as built_at
from {{ ref('stg_live_summaries') }}
where {{ in_range('day') }}
group by day, language, method
