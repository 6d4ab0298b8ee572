"""The jobs and schedules of the marts that are kept by day and by week; those of the views stand with all the others.

Each morning what is older than its sources is rebuilt, and nothing else: a backfill of old days over noon is in the
marts the next morning.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from pkg_pipeline.defs.assets import interaction_summaries
from pkg_pipeline.defs.automation import mart_freshness
from pkg_pipeline.defs.automation.requests import describe
from pkg_pipeline.defs.checks import publication
from pkg_pipeline.defs.keys import DAY, WEEK, Grain, batches
from pkg_pipeline.defs.lanes import range_tags
from pkg_pipeline.defs.pipeline_memory import PipelineMemory

DAYS_JOB = "build_day_marts"
WEEKS_JOB = "build_week_marts"
SIX = "0 6 * * *"
PROFILES = dg.AssetKey("entity_relationship_profiles")
SUMMARIES = dg.AssetKey(interaction_summaries.NAME)

KEYS_PER_RUN = 400
"""A run is one dbt command whatever its range: a year and more in one."""


def jobs(*, by_day: dg.AssetsDefinition, by_week: dg.AssetsDefinition) -> list[Any]:
    said = {DAYS_JOB: "Rebuild a range of days of the marts.", WEEKS_JOB: "Rebuild a range of weeks of the marts."}
    return [
        dg.define_asset_job(job, selection=dg.AssetSelection.assets(assets), description=said[job])
        for job, assets in ((DAYS_JOB, by_day), (WEEKS_JOB, by_week))
    ]


def build(
    *, by_day: dg.AssetsDefinition, by_week: dg.AssetsDefinition, timezone: str
) -> Sequence[dg.ScheduleDefinition]:
    return [_days(by_day, timezone), _weeks(by_week, timezone)]


def _days(marts: dg.AssetsDefinition, timezone: str) -> dg.ScheduleDefinition:
    @dg.schedule(
        name="day_marts_at_six",
        job_name=DAYS_JOB,
        cron_schedule=SIX,
        execution_timezone=timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Days of coverage, cost and compression that changed since they were built.",
    )
    def day_marts_at_six(
        context: dg.ScheduleEvaluationContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> list[dg.RunRequest] | dg.SkipReason:
        settings = memory.settings
        keys = mart_freshness.stale(context.instance, SUMMARIES, marts.keys)
        first_mart = min(marts.keys)
        # days of age by the memory's clock, days of calls by the real one
        for now in (memory.clock.now(), datetime.now(UTC)):
            keys |= set(
                mart_freshness.since_last_build(
                    context.instance,
                    first_mart,
                    today=now.astimezone(settings.zone).date(),
                    recent_days=round(settings.summary_min_age_days) + 1,
                    first=memory.partitions_start,
                )
            )
        return _requests(context, keys, DAY)

    return day_marts_at_six


def _weeks(marts: dg.AssetsDefinition, timezone: str) -> dg.ScheduleDefinition:
    @dg.schedule(
        name="week_marts_at_six",
        job_name=WEEKS_JOB,
        cron_schedule=SIX,
        execution_timezone=timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Weeks of relationships whose profiles changed since they were built.",
    )
    def week_marts_at_six(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest] | dg.SkipReason:
        return _requests(context, mart_freshness.stale(context.instance, PROFILES, marts.keys), WEEK)

    return week_marts_at_six


def _requests(
    context: dg.ScheduleEvaluationContext, keys: Iterable[str], grain: Grain
) -> list[dg.RunRequest] | dg.SkipReason:
    """One run a stretch. The run key names the morning: what is still stale the next one is asked for again."""
    stretches = list(batches(sorted(keys), key=str, grain=grain, size=KEYS_PER_RUN))
    if not stretches:
        return dg.SkipReason("everything is as new as what it is made of")
    if why := publication.blocked(context.instance):
        return dg.SkipReason(why)
    return [
        dg.RunRequest(
            run_key=f"{context.scheduled_execution_time.isoformat()}:{stretch[0]}...{stretch[-1]}",
            tags=range_tags(stretch[0], stretch[-1], lane="live", only_due=False, reason=describe(stretch, grain)),
        )
        for stretch in stretches
    ]
