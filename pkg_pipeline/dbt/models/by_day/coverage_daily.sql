-- Summarised, waiting and failed interactions by the local day on which they began.
select
    day,
    count(*) as interactions,
    sum(message_count)::bigint as messages,
    count(*) filter (where is_eligible) as eligible_interactions,
    count(*) filter (where is_eligible and is_of_age) as due_interactions,
    count(*) filter (where is_eligible and is_summarized) as summarized_interactions,
    count(*) filter (where is_eligible and is_summarized and is_outdated) as outdated_interactions,
    count(*) filter (where is_eligible and is_failed and (is_outdated or not is_summarized)) as failed_interactions,
    count(*) filter (where is_eligible and is_of_age and not is_summarized and not is_failed) as waiting_interactions,
    (
        count(*) filter (where is_eligible and is_summarized)::numeric / nullif(count(*) filter (where is_eligible), 0)
    )::numeric(5, 4) as coverage,
    (
        count(*) filter (where is_eligible and is_of_age and is_summarized)::numeric
        / nullif(count(*) filter (where is_eligible and is_of_age), 0)
    )::numeric(5, 4) as coverage_of_due,
    clock_timestamp() as built_at
from {{ ref('stg_interactions') }}
where {{ in_range('day') }}
group by day
