{{ config(meta={'dagster': {'ref': {'name': 'coverage_daily'}}}) }}
-- Shares lie between 0 and 1, and a day's summarised, waiting and failed interactions are among its eligible ones.
select day
from {{ ref('coverage_daily') }}
where coverage not between 0 and 1
   or coverage_of_due not between 0 and 1
   or (coverage is null) <> (eligible_interactions = 0)
   or summarized_interactions + waiting_interactions > eligible_interactions
   or due_interactions > eligible_interactions
   or outdated_interactions > summarized_interactions
