"""What runs by the clock: 03:00 in ``PKG_TIMEZONE`` for the days that are due (P12)."""

from typing import Any

import dagster as dg

from pkg_pipeline.defs import requests
from pkg_pipeline.defs.assets import interaction_summaries
from pkg_pipeline.defs.jobs import MARTS_JOB, SUMMARIES_JOB
from pkg_pipeline.defs.pipeline_memory import PipelineMemory

DAILY = "0 3 * * *"
MARTS = "0 6 * * *"
"""After the night's summaries and, on a Sunday, profiles. The marts are views: only their tests need the hour."""


def build(*, timezone: str, marts: bool) -> list[Any]:
    """The schedules; the one of the marts only where there are dbt assets."""
    found: list[Any] = [_summaries(timezone)]
    if marts:
        found.append(
            dg.ScheduleDefinition(
                name="marts_at_six",
                job_name=MARTS_JOB,
                cron_schedule=MARTS,
                execution_timezone=timezone,
                default_status=dg.DefaultScheduleStatus.RUNNING,
                description="Rebuild the marts' views and run their tests.",
            )
        )
    return found


def _summaries(timezone: str) -> dg.ScheduleDefinition:
    @dg.schedule(
        name="summaries_at_three",
        job_name=SUMMARIES_JOB,
        cron_schedule=DAILY,
        execution_timezone=timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Each night, what became due: days as ranges, oldest first, in the live lane.",
    )
    def summaries_at_three(
        context: dg.ScheduleEvaluationContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> list[dg.RunRequest] | dg.SkipReason:
        due = memory.partitions.due(interaction_summaries.NAME, now=memory.clock.now())
        running = requests.under_way(context.instance, interaction_summaries.NAME, SUMMARIES_JOB)
        free = requests.not_under_way(due, running)
        if not free:
            return dg.SkipReason(f"{len(due)} days are due and already under way" if due else "no day is due")
        failures = requests.streak(context.instance, SUMMARIES_JOB).failures
        return requests.for_days(free, lane="live", failures=failures)

    return summaries_at_three
