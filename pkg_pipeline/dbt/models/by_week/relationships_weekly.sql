-- Figures of each relationship as of the end of each week; names and texts are in the memory's tables.
select
    profiles.week,
    profiles.entity_id,
    profiles.as_of,
    profiles.covers_until,
    profiles.relationship_type,
    profiles.frequency,
    profiles.mean_gap_days,
    profiles.first_interaction_at,
    profiles.last_interaction_at,
    profiles.last_meaningful_contact_at,
    profiles.total_interactions,
    profiles.total_messages,
    profiles.summarized_interactions,
    profiles.coverage,
    jsonb_array_length(profiles.key_decisions) as high_decisions,
    jsonb_array_length(profiles.open_action_items) as open_action_items,
    jsonb_array_length(profiles.milestones) as milestones,
    profiles.status = 'dirty' as is_outdated,
    profiles.is_carried_over,
    profiles.model_version,
    profiles.cost_usd,
    clock_timestamp() as built_at
from {{ source('memory', 'entity_relationship_profiles') }} as profiles
where {{ in_range('profiles.week') }}
  and profiles.dirty_reason is distinct from 'deleted'
