"""Schedules in ``PKG_TIMEZONE``: 02:30 sessions (H7), 03:00 due days (P12), Sunday 04:00 weeks (P20), the first 05:00
months (P24), 06:00 marts.

An hour skipped by the change of clocks fires at the next moment, a repeated one once. While the last run is still
working nothing is requested; the sensors take up the rest.
"""

from datetime import date
from typing import Any

import dagster as dg

from pkg_pipeline.defs import partitioned
from pkg_pipeline.defs.automation import hours, requests
from pkg_pipeline.defs.automation.due import due_partitions, there
from pkg_pipeline.defs.checks import publication
from pkg_pipeline.defs.hops import FOLDS, MARTS
from pkg_pipeline.defs.lanes import LANE_TAG, SCHEDULED_TAG
from pkg_pipeline.defs.partitioned import Partitioned
from pkg_pipeline.defs.pipeline_memory import PipelineMemory

RUNNING = dg.DefaultScheduleStatus.RUNNING


def build(*, timezone: str, start: date) -> list[Any]:
    return [*(_at_its_hour(kind, timezone, start) for kind in partitioned.ALL), _sessions(timezone), _marts(timezone)]


def _at_its_hour(kind: Partitioned, timezone: str, start: date) -> dg.ScheduleDefinition:
    """Requests all due partitions that no run covers, in the live lane, or says why not."""

    @dg.schedule(
        name=kind.clock.name,
        job_name=kind.job,
        cron_schedule=kind.clock.cron,
        execution_timezone=timezone,
        default_status=RUNNING,
        description=kind.clock.description,
    )
    def due_at_its_hour(
        context: dg.ScheduleEvaluationContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> list[dg.RunRequest] | dg.SkipReason:
        instance = context.instance
        due = there(due_partitions(memory, kind.asset), start)
        if not due:
            return dg.SkipReason(f"no {kind.noun} is due")
        if why := kind.held(instance):
            return dg.SkipReason(why)
        free = requests.not_under_way(due, requests.under_way(instance, kind.asset, kind.job))
        if not free:
            return dg.SkipReason(f"{len(due)} {kind.noun}s are due and already under way")
        return kind.runs(instance, free)

    return due_at_its_hour


def _sessions(timezone: str) -> dg.ScheduleDefinition:
    @dg.schedule(
        name="sessions_half_past_two",
        job_name=FOLDS.job,
        cron_schedule=hours.FOLDS,
        execution_timezone=timezone,
        default_status=RUNNING,
        description="Each night, every live session with enough that no fold covers yet.",
    )
    def sessions_half_past_two(
        _context: dg.ScheduleEvaluationContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> dg.RunRequest | dg.SkipReason:
        if not memory.unfolded_sessions(limit=1):
            return dg.SkipReason("no session has enough to fold")
        # a running run of the sensor is no hindrance: each session is locked by one worker
        return dg.RunRequest(tags={LANE_TAG: "live", SCHEDULED_TAG: "true"})

    return sessions_half_past_two


def _marts(timezone: str) -> dg.ScheduleDefinition:
    @dg.schedule(
        name="marts_at_six",
        job_name=MARTS.job,
        cron_schedule=hours.MARTS,
        execution_timezone=timezone,
        default_status=RUNNING,
        description="The marts' views, and of their tables what is older than what it is made of; with their tests.",
    )
    def marts_at_six(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        if why := publication.blocked(context.instance):
            return dg.SkipReason(why)
        return dg.RunRequest()

    return marts_at_six
