-- The memory's current day: that of the pinned clock, else today at the time of reading.
select
    {{ local_day(memory_now()) }} as today,
    {{ memory_timezone() }} as timezone,
    {{ var("now", none) is not none }} as is_pinned
