-- One row per decision: in force, over, superseded by a later one, or taken back. What rests on a deleted message is withheld.
with earlier as (
    select
        superseded_by as decision_id,
        array_agg(description order by first_at, item_id) as descriptions
    from {{ ref('stg_items') }}
    where kind = 'decision' and superseded_by is not null
    group by superseded_by
)

select
    decisions.item_id as decision_id,
    decisions.description,
    decisions.first_on as decided_on,
    decisions.importance,
    decisions.status,
    decisions.superseded_by,
    coalesce(earlier.descriptions, array[]::text[]) as formerly,
    decisions.proposed_by,
    decisions.agreed_by,
    decisions.decided_by,
    decisions.quote,
    decisions.chat_id,
    decisions.chat_source,
    decisions.chat_external_id,
    decisions.chat_title,
    decisions.entity_ids,
    decisions.entity_names,
    decisions.interaction_id,
    decisions.interaction_started_at,
    decisions.interaction_ended_at,
    decisions.summary_id,
    decisions.is_outdated,
    decisions.message_ids
from {{ ref('stg_items') }} as decisions
left join earlier on earlier.decision_id = decisions.item_id
where decisions.kind = 'decision'
