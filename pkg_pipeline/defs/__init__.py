"""Dagster definitions: assets, jobs, schedules, sensors and checks, one file per concept."""
