"""Everything Dagster sees, listed by name. Built from settings and the day with which partitions begin alone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import dagster as dg

from pkg_pipeline import settings as settings_module
from pkg_pipeline.defs import first_month, jobs, partitions
from pkg_pipeline.defs.assets import (
    archived_messages,
    dbt_marts,
    entity_relationship_profiles,
    interaction_summaries,
    memory_chunks,
    session_summaries,
)
from pkg_pipeline.defs.assets.interactions import interactions
from pkg_pipeline.defs.assets.messages import messages
from pkg_pipeline.defs.automation import backfills, purge, run_failures, schedules, sensors
from pkg_pipeline.defs.keys import WEEK
from pkg_pipeline.defs.resources import RESOURCE, memory_resource
from pkg_pipeline.defs.versions import (
    chunks_code_version,
    folds_code_version,
    profiles_code_version,
    summaries_code_version,
)
from pkg_pipeline.settings import Settings


def build_definitions(
    *,
    start: date,
    settings: Settings | None = None,
    resource_overrides: Mapping[str, Any] | None = None,
    marts: bool = True,
) -> dg.Definitions:
    """The definitions for ``settings`` (default: those in force), with partitions from ``start`` on.
    ``resource_overrides`` replace resources by key.

    ``marts`` False leaves dbt out, which takes seconds to load.
    """
    chosen = settings if settings is not None else settings_module.load()
    zone = chosen.timezone
    days = partitions.daily(start=WEEK.begin(start), timezone=zone)  # so that every week has all its days
    weeks = partitions.weekly(start=start, timezone=zone)
    months = partitions.monthly(start=start, timezone=zone)
    made = [
        session_summaries.build(code_version=folds_code_version()),
        interaction_summaries.build(days, code_version=summaries_code_version()),
        memory_chunks.build(days, code_version=chunks_code_version()),
        entity_relationship_profiles.build(weeks, code_version=profiles_code_version()),
        archived_messages.build(months),
    ]
    dbt = dbt_marts.build(daily=days, weekly=weeks) if marts else dbt_marts.Marts()
    return dg.Definitions(
        assets=[messages, interactions, *made, *dbt.assets],
        jobs=[*jobs.build(marts=bool(dbt.assets)), *dbt.jobs, purge.build_job(chosen)],
        schedules=[
            *schedules.build(timezone=zone, marts=bool(dbt.assets), start=start),
            *dbt.schedules,
            purge.build_schedule(chosen),
        ],
        sensors=[
            *sensors.build(chosen, start=start),
            first_month.build(start),
            backfills.build(),
            *run_failures.build(chosen),
        ],
        resources={RESOURCE: memory_resource, **dbt.resources, **(resource_overrides or {})},
        executor=dg.in_process_executor,  # a small step costs a third of a second in process, twenty in one of its own
    )
