-- The marts themselves are dbt's; here is only what a build needs of the database besides.

-- name: build_alone
-- One build at a time: two that make the same view or table for the first time would meet.
SELECT pg_advisory_lock(hashtext('marts'))
