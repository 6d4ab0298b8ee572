"""Everything Dagster sees, listed by name. Built from settings and the day with which partitions begin alone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import dagster as dg

from pkg_pipeline import settings as settings_module
from pkg_pipeline.adapters import dbt_project
from pkg_pipeline.defs import first_month, jobs, partitions
from pkg_pipeline.defs.assets import (
    archived_messages,
    entity_relationship_profiles,
    interaction_summaries,
    mart_job,
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
    ``resource_overrides`` replace resources by key; ``marts`` False leaves out dbt's models: loading takes seconds.
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
    resources: dict[str, Any] = {RESOURCE: memory_resource}
    if marts:
        from pkg_pipeline.defs.assets import marts as dbt  # brings dagster_dbt, which takes seconds

        made += dbt.build(dbt_project.prepare(chosen.home), daily=days, weekly=weeks)
        resources["dbt"] = dbt.resource()
    return dg.Definitions(
        assets=[messages, interactions, *made],
        jobs=[*jobs.build(), mart_job.build(), purge.build_job(chosen)],
        schedules=[*schedules.build(timezone=zone, start=start), purge.build_schedule(chosen)],
        sensors=[
            *sensors.build(chosen, start=start),
            first_month.build(start),
            backfills.build(),
            *run_failures.build(chosen),
        ],
        resources={**resources, **(resource_overrides or {})},
        executor=dg.in_process_executor,  # a small step costs a third of a second in process, twenty in one of its own
    )
