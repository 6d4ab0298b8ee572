-- The day it is in the memory. Where the clock is not pinned, it is the day of the reading, not of the build.
select
    {{ local_day(memory_now()) }} as today,
    {{ memory_timezone() }} as timezone,
    {{ var("now", none) is not none }} as is_pinned
