-- name: build_alone
-- One dbt build at a time: concurrent builds would create the same relation.
SELECT pg_advisory_lock(hashtext('marts'))
