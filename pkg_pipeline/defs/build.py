"""The Dagster definitions, made from settings and the day with which partitions begin."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from datetime import date
from typing import Any

import dagster as dg

from pkg_pipeline import settings as settings_module
from pkg_pipeline.adapters import dbt_project
from pkg_pipeline.defs import first_month, partitions
from pkg_pipeline.defs.assets import mart_job
from pkg_pipeline.defs.automation import (
    backfills,
    long_threads,
    lost_retries,
    memories,
    message_batches,
    purge,
    run_failures,
    schedules,
    sensors,
)
from pkg_pipeline.defs.hops import HOPS
from pkg_pipeline.defs.keys import DAY, MONTH, WEEK
from pkg_pipeline.defs.resources import RESOURCE, memory_resource
from pkg_pipeline.settings import Settings

IN_PROCESS = dg.in_process_executor


def build_definitions(
    *,
    start: date,
    settings: Settings | None = None,
    resource_overrides: Mapping[str, Any] | None = None,
    marts: bool = True,
) -> dg.Definitions:
    """The definitions for ``settings`` (default: those in force), with partitions from ``start`` on.
    ``resource_overrides`` replaces resources by key; ``marts=False`` leaves out the dbt assets.
    """
    chosen = settings if settings is not None else settings_module.load()
    zone = chosen.timezone
    days = partitions.daily(start=WEEK.begin(start), timezone=zone)  # so that the first week has all its days
    weeks = partitions.weekly(start=start, timezone=zone)
    months = partitions.monthly(start=start, timezone=zone)
    partitions_of = {DAY: days, WEEK: weeks, MONTH: months}
    made: list[dg.AssetsDefinition] = []
    for hop in HOPS[:-1]:  # the marts are dbt's
        given: dict[str, Any] = {} if hop.grain is None else {"partitions": partitions_of[hop.grain]}
        if hop.version is not None:
            given["code_version"] = hop.version()
        made.append(importlib.import_module(f"pkg_pipeline.defs.assets.{hop.asset}").build(**given))
    if marts:
        from pkg_pipeline.defs.assets import marts as dbt  # brings the wiring

        made += dbt.build(dbt_project.prepare(chosen.home), daily=days, weekly=weeks)
    return dg.Definitions(
        assets=made,
        jobs=[
            # one sensor each, so that a failing one stops no other
            *(
                dg.define_asset_job(
                    hop.job, selection=[hop.asset], description=hop.description, executor_def=IN_PROCESS
                )
                for hop in HOPS[:-1]
            ),
            mart_job.build(),
            purge.build_job(chosen),
            message_batches.build_job(),
            memories.build_job(chosen),
            *long_threads.build_jobs(chosen),
        ],
        schedules=[
            *schedules.build(timezone=zone, start=start),
            purge.build_schedule(chosen),
            memories.build_schedule(chosen),
        ],
        sensors=[
            *sensors.build(chosen, start=start),
            first_month.build(start),
            backfills.build(),
            lost_retries.build(),
            message_batches.build_sensor(),
            memories.build_sensor(chosen),
            *long_threads.build_sensors(chosen),
            *run_failures.build(chosen),
        ],
        resources={RESOURCE: memory_resource, **(resource_overrides or {})},
        executor=IN_PROCESS,  # a small step costs a third of a second in this process, twenty in a new one
    )
