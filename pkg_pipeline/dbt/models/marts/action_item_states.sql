-- History of each action item: one row per change over the versions of its interaction's summary. Texts are in
-- action_items.
with versions as (
    select
        summaries.id as summary_id,
        summaries.interaction_id,
        interactions.chat_id,
        summaries.action_items,
        summaries.generated_at as recorded_at,
        row_number() over (
            partition by summaries.interaction_id order by summaries.revision_count, summaries.generated_at, summaries.id
        ) as version
    from {{ source('memory', 'interaction_summaries') }} as summaries
    inner join {{ source('memory', 'interactions') }} as interactions on interactions.id = summaries.interaction_id
    where summaries.status in ('completed', 'dirty', 'superseded')
),

said as (
    select
        versions.interaction_id,
        versions.version,
        item.id as item_id,
        item.status,
        item.due_date,
        item.closed_at,
        {{ rests_on_deleted('versions.chat_id', 'item.message_ids') }} as is_withheld
    from versions
    cross join lateral jsonb_to_recordset(versions.action_items) as item (
        id uuid, status text, due_date date, closed_at date, message_ids jsonb
    )
),

known as (
    select
        interaction_id,
        item_id,
        min(version) as first_version
    from said
    group by interaction_id, item_id
    having not bool_or(is_withheld)
),

-- all versions from the item's first one on: a version without it has dropped it
states as (
    select
        known.item_id,
        known.interaction_id,
        versions.version,
        versions.summary_id,
        versions.recorded_at,
        coalesce(said.status, 'dropped') as state,
        said.due_date as due_on,
        said.closed_at as closed_on
    from known
    inner join versions
        on versions.interaction_id = known.interaction_id and versions.version >= known.first_version
    left join said
        on said.interaction_id = known.interaction_id
        and said.version = versions.version
        and said.item_id = known.item_id
),

compared as (
    select
        states.*,
        lag(array[state, due_on::text, closed_on::text]) over (partition by item_id order by version) as state_before
    from states
),

changes as (
    select *
    from compared
    where state_before is distinct from array[state, due_on::text, closed_on::text]
)

select
    md5(item_id::text || ':' || version::text) as state_id,
    item_id,
    interaction_id,
    summary_id,
    version,
    state,
    due_on,
    closed_on,
    recorded_at as recorded_from,
    lead(recorded_at) over (partition by item_id order by version) as recorded_to,
    lead(recorded_at) over (partition by item_id order by version) is null as is_current
from changes
