"""Everything Dagster sees, listed by name. Built from settings alone: no connection, no table, no model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dagster as dg

from pkg_pipeline import settings as settings_module
from pkg_pipeline.defs import jobs, partitions, schedules, sensors
from pkg_pipeline.defs.assets import dbt_marts, interaction_summaries
from pkg_pipeline.defs.assets.interactions import interactions
from pkg_pipeline.defs.assets.messages import messages
from pkg_pipeline.defs.resources import RESOURCE, memory_resource
from pkg_pipeline.defs.versions import summaries_code_version
from pkg_pipeline.settings import Settings


def build_definitions(
    *, settings: Settings | None = None, resource_overrides: Mapping[str, Any] | None = None, marts: bool = True
) -> dg.Definitions:
    """The definitions for ``settings`` (default: those in force). ``resource_overrides`` replace resources by key.

    ``marts`` False leaves dbt out, which takes seconds to load.
    """
    chosen = settings if settings is not None else settings_module.load()
    daily = partitions.daily(start=chosen.partitions_start, timezone=chosen.timezone)
    summaries = interaction_summaries.build(daily, code_version=summaries_code_version())
    dbt = dbt_marts.build() if marts else dbt_marts.Marts()
    return dg.Definitions(
        assets=[messages, interactions, summaries, *dbt.assets],
        jobs=jobs.build(marts=bool(dbt.assets)),
        schedules=schedules.build(timezone=chosen.timezone, marts=bool(dbt.assets)),
        sensors=sensors.build(chosen),
        resources={RESOURCE: memory_resource, **dbt.resources, **(resource_overrides or {})},
        executor=dg.in_process_executor,  # a small step costs a third of a second in process, twenty in one of its own
    )
