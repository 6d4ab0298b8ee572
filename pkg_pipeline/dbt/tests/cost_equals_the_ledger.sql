{{ config(meta={'dagster': {'ref': {'name': 'llm_cost_daily'}}}) }}
-- In the built range each row equals the ledger up to the row's newest call, and no group is missing. Calls made
-- since the build are ignored.
with built as (
    select coalesce(max(built_at), 'infinity') as at
    from {{ ref('llm_cost_daily') }}
    where {{ in_range('day') }}
),

ledger as (
    select
        calls.day,
        calls.lane,
        calls.task,
        calls.model,
        count(*) as calls,
        sum(calls.cost_usd) as cost_usd
    from {{ ref('stg_llm_calls') }} as calls
    cross join built
    left join {{ ref('llm_cost_daily') }} as mart using (day, lane, task, model)
    where {{ in_range('calls.day') }} and calls.created_at <= coalesce(mart.last_call_at, built.at)
    group by calls.day, calls.lane, calls.task, calls.model
),

mart as (
    select *
    from {{ ref('llm_cost_daily') }}
    where {{ in_range('day') }}
)

select
    coalesce(ledger.day, mart.day) as day,
    ledger.cost_usd as ledger_usd,
    mart.cost_usd as mart_usd
from ledger
full join mart
    on mart.day = ledger.day and mart.lane = ledger.lane and mart.task = ledger.task and mart.model = ledger.model
where ledger.cost_usd is distinct from mart.cost_usd or ledger.calls is distinct from mart.calls
