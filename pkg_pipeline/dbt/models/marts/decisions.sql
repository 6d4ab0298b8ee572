-- One row per decision of a live summary. A decision that rests on a message deleted at its source is withheld.
select
    decisions.decision_id,
    decisions.description,
    decisions.decided_on,
    decisions.importance,
    decisions.quote,
    decisions.chat_id,
    decisions.chat_source,
    decisions.chat_external_id,
    decisions.chat_title,
    coalesce(concerned.entity_ids, array[]::uuid[]) as entity_ids,
    coalesce(concerned.entity_names, array[]::text[]) as entity_names,
    decisions.interaction_id,
    decisions.interaction_started_at,
    decisions.interaction_ended_at,
    decisions.summary_id,
    decisions.is_outdated,
    array(select jsonb_array_elements_text(decisions.message_ids)) as message_ids
from {{ ref('stg_decisions') }} as decisions
left join {{ ref('stg_concerned') }} as concerned on concerned.item_id = decisions.decision_id
where concerned.is_withheld is not true
