-- Calls of models and their cost by the local day of the call, with the day's budget.
with calls as (
    select
        day,
        lane,
        task,
        model,
        count(*) as calls,
        count(*) filter (where outcome <> 'ok') as failed_calls,
        count(*) filter (where is_usage_estimated) as estimated_calls,
        sum(input_tokens)::bigint as input_tokens,
        sum(output_tokens)::bigint as output_tokens,
        sum(cache_read_tokens)::bigint as cache_read_tokens,
        sum(cache_write_tokens)::bigint as cache_write_tokens,
        sum(cost_usd)::numeric(14, 6) as cost_usd,
        sum(duration_seconds)::double precision as model_seconds,
        max(created_at) as last_call_at
    from {{ ref('stg_llm_calls') }}
    where {{ in_range('day') }}
      -- uses the index over UTC times: a local day lies within a day of the same date in UTC
      and created_at >= date '{{ var("min_date") }}' - interval '2 days'
      and created_at <= date '{{ var("max_date") }}' + interval '2 days'
    group by day, lane, task, model
),

lanes as (
    select
        day,
        lane,
        sum(spent_usd + reserved_usd)::numeric(14, 6) as taken_usd
    from {{ source('memory', 'budgets') }}
    group by day, lane
)

select
    calls.day,
    calls.lane,
    calls.task,
    calls.model,
    calls.calls,
    calls.failed_calls,
    calls.estimated_calls,
    calls.input_tokens,
    calls.output_tokens,
    calls.cache_read_tokens,
    calls.cache_write_tokens,
    calls.cost_usd,
    calls.model_seconds,
    calls.last_call_at,
    budgets.calls as task_budget_calls,
    (budgets.spent_usd + budgets.reserved_usd)::numeric(14, 6) as task_budget_usd,
    lanes.taken_usd as lane_budget_usd,
    (case calls.lane
        when 'live' then {{ "null" if var("live_cap_usd") is none else var("live_cap_usd") }}
        when 'backfill' then {{ "null" if var("backfill_cap_usd") is none else var("backfill_cap_usd") }}
    end)::numeric(14, 6) as lane_cap_usd,
    clock_timestamp() as built_at
from calls
left join {{ source('memory', 'budgets') }} as budgets
    on budgets.day = calls.day and budgets.lane = calls.lane and budgets.task = calls.task
left join lanes on lanes.day = calls.day and lanes.lane = calls.lane
