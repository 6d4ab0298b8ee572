-- The decisions of live summaries that may be shown.
select
    decision.id as decision_id,
    decision.description,
    decision.date as decided_on,
    decision.importance,
    decision.quote,
    decision.message_ids,
    summaries.*
from {{ ref('stg_live_summaries') }} as summaries
cross join lateral jsonb_to_recordset(summaries.decisions) as decision (
    id uuid, description text, date date, importance text, quote text, message_ids jsonb
)
where not {{ rests_on_deleted('summaries.chat_id', 'decision.message_ids') }}
