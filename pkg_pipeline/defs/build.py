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
    *, settings: Settings | None = None, resource_overrides: Mapping[str, Any] | None = None
) -> dg.Definitions:
    """The definitions for ``settings`` (default: those in force). ``resource_overrides`` replace resources by key."""
    chosen = settings if settings is not None else settings_module.load()
    daily = partitions.daily(start=chosen.partitions_start, timezone=chosen.timezone)
    summaries = interaction_summaries.build(daily, code_version=summaries_code_version())
    marts = dbt_marts.build()
    return dg.Definitions(
        assets=[messages, interactions, summaries, *marts.assets],
        jobs=jobs.build(),
        schedules=schedules.build(timezone=chosen.timezone),
        sensors=sensors.build(chosen),
        resources={RESOURCE: memory_resource, **marts.resources, **(resource_overrides or {})},
        executor=dg.in_process_executor,  # a small step costs a third of a second in process, twenty in one of its own
    )
