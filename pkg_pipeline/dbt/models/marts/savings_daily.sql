-- What contexts and windows took, and would have taken in full, by the local day on which they were served (T3).
with served as (
    select served_at, 'context' as kind, tokens, hypothetical_tokens, null::numeric as cost_usd
    from {{ source('memory', 'context_receipts') }}
    union all
    select served_at, 'window' as kind, prompt_tokens, hypothetical_tokens, cost_usd
    from {{ source('memory', 'served_windows') }}
)

select
    {{ local_day('served_at') }} as day,
    kind,
    count(*) as served,
    sum(tokens)::bigint as tokens,
    sum(greatest(hypothetical_tokens, tokens))::bigint as hypothetical_tokens,
    (1 - sum(tokens)::numeric / nullif(sum(greatest(hypothetical_tokens, tokens)), 0))::numeric(5, 4) as saved_share,
    sum(cost_usd)::numeric(14, 6) as cost_usd
from served
group by 1, 2
