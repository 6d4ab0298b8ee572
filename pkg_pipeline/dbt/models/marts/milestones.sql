-- Milestones of each relationship, by its newest profile, without those that rest on a deleted message.
with newest as (
    select distinct on (entity_id) *
    from {{ source('memory', 'entity_relationship_profiles') }}
    order by entity_id, week desc
),

told as (
    select
        newest.id as profile_id,
        newest.entity_id,
        newest.week,
        newest.generated_at,
        newest.status = 'dirty' as is_outdated,
        milestone.ordinality as place,
        milestone.value ->> 'title' as title,
        milestone.value ->> 'importance' as importance,
        (milestone.value ->> 'day')::date as day,
        array(
            select jsonb_array_elements_text(milestone.value -> 'interaction_ids')
        )::uuid[] as interaction_ids
    from newest
    cross join lateral jsonb_array_elements(newest.milestones) with ordinality as milestone (value, ordinality)
    where newest.dirty_reason is distinct from 'deleted'
)

select
    md5(told.profile_id::text || ':' || told.place::text) as milestone_id,
    told.entity_id,
    entities.name as entity_name,
    told.day,
    told.title,
    told.importance,
    told.interaction_ids,
    told.week,
    told.profile_id,
    told.is_outdated
from told
inner join {{ source('memory', 'entities') }} as entities on entities.id = told.entity_id
where not exists (
    select 1
    from {{ source('memory', 'interaction_summaries') }} as summaries
    where summaries.interaction_id = any(told.interaction_ids) and summaries.dirty_reason = 'deleted'
      and summaries.status = 'dirty'
)
and not exists (
    -- deleted since the profile was written
    select 1
    from {{ source('memory', 'interactions') }} as interactions
    inner join {{ source('memory', 'messages') }} as messages
        on messages.chat_id = interactions.chat_id
        and messages.sent_at between interactions.started_at and interactions.ended_at
    where interactions.id = any(told.interaction_ids) and messages.deleted_at > told.generated_at
)
