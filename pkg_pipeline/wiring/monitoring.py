"""Wiring of monitoring."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from pkg_pipeline.adapters.postgres.monitoring.store import PostgresMonitoringStore, PostgresStatisticsKeeper
from pkg_pipeline.adapters.postgres.monitoring.work import PostgresWorkStore
from pkg_pipeline.prompts import summary
from pkg_pipeline.prompts.versions import CURRENT_VERSIONS
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.monitoring.stage import CallsCap, MonitoringParams
from pkg_pipeline.wiring.models import caps, due_after_seconds, provider_of
from pkg_pipeline.wiring.process import Process

if TYPE_CHECKING:
    from pkg_pipeline.stages.ingest.records import ImportReport
    from pkg_pipeline.stages.interactions.stage import InteractionsReport
    from pkg_pipeline.stages.ports import LlmTask


DAYS_BETWEEN_RECOUNTS = 10


def monitoring_params(settings: Settings) -> MonitoringParams:
    """P11, P12, P32 and current versions (B5); no caps where nothing is paid."""
    provider = provider_of(settings)
    tasks: tuple[LlmTask, ...] = ("interaction_summary", "relationship_profile") if provider.is_paid else ()
    return MonitoringParams(
        minimum_messages=settings.summary_min_messages,
        due_after_seconds=due_after_seconds(settings),
        gap_seconds=settings.gap_hours * 3_600,
        prompts=frozenset(CURRENT_VERSIONS),
        model=provider.model(settings),
        schema_version=summary.SCHEMA_VERSION,
        unanswered_limit=settings.llm_unanswered_limit,
        usd_caps={lane: caps(settings, tasks[0], lane).usd for lane in ("live", "backfill")} if tasks else {},
        calls_caps=tuple(_calls_cap(settings, task) for task in tasks),
    )


def _calls_cap(settings: Settings, task: LlmTask) -> CallsCap:
    cap = caps(settings, task, "live")
    assert cap.calls is not None, "the live lane has one for every task"
    return CallsCap(task, cap.calls, cap.period)


Report = TypeVar("Report")


class MonitoringWork:
    def __init__(self, process: Process) -> None:
        self.params = monitoring_params(process.settings)
        self.store = PostgresMonitoringStore(process.connections, zone=process.settings.zone)
        self._keeper = PostgresStatisticsKeeper(process.connections, timezone=process.settings.timezone)

    def counting(self, on_day: Callable[[Report], None]) -> Callable[[Report], None]:
        """``on_day`` with a recount every few days of a long run, so that readers count little."""
        days = 0

        def counted(report: Report) -> None:
            nonlocal days
            days += 1
            if days % DAYS_BETWEEN_RECOUNTS == 0:
                self.recount()
            on_day(report)

        return counted

    def recount(self) -> int:
        """Recount days changed since the last recount; returns how many. Only speeds up readers."""
        return self._keeper.recount(minimum_messages=self.params.minimum_messages)

    def set_least_summarised(self, tokens: int) -> None:
        """Conversations of fewer ``tokens`` stand as they are from now on."""
        self._keeper.set_least_summarised(tokens)


def leave_unreported(process: Process, report: ImportReport, made: InteractionsReport) -> None:
    """Store one import's numbers for the next run of the assets, by the names of their metadata."""
    work, counts = PostgresWorkStore(process.connections), report.counts
    taken = {
        "files": report.files,
        "messages_new": counts.new,
        "messages_updated": counts.updated,
        "messages_unchanged": counts.unchanged,
        "messages_deleted": counts.deleted,
    }
    built = {
        "rows": made.interactions,
        "chats": made.chats,
        "completed": made.completed,
        "messages": made.messages,
    }
    work.leave_unreported("messages", taken)
    work.leave_unreported("interactions", built)
