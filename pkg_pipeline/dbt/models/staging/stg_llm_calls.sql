-- The ledger with the local day of each call.
select
    {{ local_day('calls.created_at') }} as day,
    calls.*
from {{ source('memory', 'llm_calls') }} as calls
