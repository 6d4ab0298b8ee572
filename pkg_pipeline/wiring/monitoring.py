"""Monitoring's part of the composition root: what the figures are measured against, and who counts them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from pkg_pipeline.adapters.postgres.monitoring.store import PostgresMonitoringStore, PostgresStatisticsKeeper
from pkg_pipeline.offline import MODEL as OFFLINE_MODEL
from pkg_pipeline.prompts import interaction_summary
from pkg_pipeline.prompts.versions import CURRENT_VERSIONS
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.llm.run import TASK as SUMMARIES_TASK
from pkg_pipeline.stages.monitoring.stage import CallsCap, MonitoringParams
from pkg_pipeline.stages.profiles.making import TASK as PROFILES_TASK

if TYPE_CHECKING:
    from pkg_pipeline.wiring.memory import Memory

DAYS_BETWEEN_RECOUNTS = 10


def monitoring_params(settings: Settings) -> MonitoringParams:
    """P11, P12, P32 and what is in force (B5). Where nothing is paid there are no caps."""
    paid = settings.uses_anthropic
    return MonitoringParams(
        minimum_messages=settings.summary_min_messages,
        due_after_seconds=max(settings.summary_min_age_days * 86_400, settings.gap_hours * 3_600),
        gap_seconds=settings.gap_hours * 3_600,
        prompts=frozenset(CURRENT_VERSIONS),
        model=settings.llm_model if paid else OFFLINE_MODEL,
        schema_version=interaction_summary.SCHEMA_VERSION,
        unanswered_limit=settings.llm_unanswered_limit,
        usd_caps={"live": settings.live_usd_per_day, "backfill": settings.backfill_usd_per_day} if paid else {},
        calls_caps=(
            CallsCap(SUMMARIES_TASK, settings.live_summaries_per_day, "day"),
            CallsCap(PROFILES_TASK, settings.live_profiles_per_week, "week"),
        )
        if paid
        else (),
    )


Report = TypeVar("Report")


class MonitoringWork:
    """What ``Memory`` does with figures."""

    def __init__(self, memory: Memory) -> None:
        self.params = monitoring_params(memory.settings)
        self.store = PostgresMonitoringStore(memory.connections, zone=memory.settings.zone)
        self._keeper = PostgresStatisticsKeeper(memory.connections, timezone=memory.settings.timezone)

    def counting(self, on_day: Callable[[Report], None]) -> Callable[[Report], None]:
        """``on_day``, with a recount every few days: a long run leaves its readers few days to count themselves."""
        days = 0

        def counted(report: Report) -> None:
            nonlocal days
            days += 1
            if days % DAYS_BETWEEN_RECOUNTS == 0:
                self.recount()
            on_day(report)

        return counted

    def recount(self) -> int:
        """Count what changed since the last recount; how many days. Readers are exact without it, but slower."""
        return self._keeper.recount(minimum_messages=self.params.minimum_messages)
