"""What runs by the clock, in ``PKG_TIMEZONE``: 03:00 the days that are due (P12), Sunday 04:00 the weeks (P20), on the
first 05:00 the months (P24), 06:00 the marts.

An hour that a change of clocks leaves out is kept by the first moment after it; one that comes twice fires once. A tick
that finds its forerunner at work says so and leaves the rest to the sensors, which look every half minute.
"""

from collections.abc import Callable
from typing import Any

import dagster as dg

from pkg_pipeline.defs import publication, requests
from pkg_pipeline.defs.assets import archived_messages, entity_relationship_profiles, interaction_summaries
from pkg_pipeline.defs.due import due_partitions
from pkg_pipeline.defs.hours import DAILY, MARTS, MONTHLY, WEEKLY
from pkg_pipeline.defs.jobs import ARCHIVE_JOB, MARTS_JOB, PROFILES_JOB, SUMMARIES_JOB
from pkg_pipeline.defs.pipeline_memory import PipelineMemory

RUNNING = dg.DefaultScheduleStatus.RUNNING


def build(*, timezone: str, marts: bool) -> list[Any]:
    """The schedules; the one of the marts only where there are dbt assets."""
    found: list[Any] = [_summaries(timezone), _profiles(timezone), _archive(timezone)]
    return [*found, _marts(timezone)] if marts else found


def _summaries(timezone: str) -> dg.ScheduleDefinition:
    @dg.schedule(
        name="summaries_at_three",
        job_name=SUMMARIES_JOB,
        cron_schedule=DAILY,
        execution_timezone=timezone,
        default_status=RUNNING,
        description="Each night, what became due: days as ranges, oldest first, in the live lane.",
    )
    def summaries_at_three(
        context: dg.ScheduleEvaluationContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> list[dg.RunRequest] | dg.SkipReason:
        due = due_partitions(memory, interaction_summaries.NAME)
        running = requests.under_way(context.instance, interaction_summaries.NAME, SUMMARIES_JOB)
        free = requests.not_under_way(due, running)
        if not free:
            return dg.SkipReason(f"{len(due)} days are due and already under way" if due else "no day is due")
        failures = requests.streak(context.instance, SUMMARIES_JOB).failures
        return requests.for_days(free, lane="live", failures=failures)

    return summaries_at_three


def _profiles(timezone: str) -> dg.ScheduleDefinition:
    @dg.schedule(
        name="profiles_sunday_four",
        job_name=PROFILES_JOB,
        cron_schedule=WEEKLY,
        execution_timezone=timezone,
        default_status=RUNNING,
        description="On Sunday, the week that ended at midnight and earlier ones that are due.",
    )
    def profiles_sunday_four(
        context: dg.ScheduleEvaluationContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> list[dg.RunRequest] | dg.SkipReason:
        return _periods(
            context, memory, asset=entity_relationship_profiles.NAME, job=PROFILES_JOB, wait=requests.wait_for_summaries
        )

    return profiles_sunday_four


def _archive(timezone: str) -> dg.ScheduleDefinition:
    @dg.schedule(
        name="archive_first_five",
        job_name=ARCHIVE_JOB,
        cron_schedule=MONTHLY,
        execution_timezone=timezone,
        default_status=RUNNING,
        description="On the first of the month, the months with texts that are old enough.",
    )
    def archive_first_five(
        context: dg.ScheduleEvaluationContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> list[dg.RunRequest] | dg.SkipReason:
        return _periods(context, memory, asset=archived_messages.NAME, job=ARCHIVE_JOB, wait=lambda _: None)

    return archive_first_five


def _marts(timezone: str) -> dg.ScheduleDefinition:
    @dg.schedule(
        name="marts_at_six",
        job_name=MARTS_JOB,
        cron_schedule=MARTS,
        execution_timezone=timezone,
        default_status=RUNNING,
        description="Rebuild the marts and run their tests.",
    )
    def marts_at_six(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        if why := publication.blocked(context.instance):
            return dg.SkipReason(why)
        return dg.RunRequest()

    return marts_at_six


def _periods(
    context: dg.ScheduleEvaluationContext,
    memory: PipelineMemory,
    *,
    asset: str,
    job: str,
    wait: Callable[[dg.DagsterInstance], str | None],
) -> list[dg.RunRequest] | dg.SkipReason:
    """All due weeks or months in the live lane, or why none is asked for."""
    due = due_partitions(memory, asset)
    noun = requests.noun(asset)
    if not due:
        return dg.SkipReason(f"no {noun} is due")
    if why := publication.blocked(context.instance) or wait(context.instance):
        return dg.SkipReason(why)
    free = requests.not_under_way(due, requests.under_way(context.instance, asset, job))
    if not free:
        return dg.SkipReason(f"{len(due)} {noun}s are due and already under way")
    return requests.for_periods(free, lane="live")
