"""The partitioned assets, one declaration each: the schedule and sensor that request their runs, and what holds them
off. Grain, job and due work are in ``hops.py``, the asset in ``assets/``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

import dagster as dg

from pkg_pipeline.defs.assets import (
    archived_messages,
    entity_relationship_profiles,
    interaction_summaries,
    memory_chunks,
)
from pkg_pipeline.defs.automation import requests
from pkg_pipeline.defs.automation.hours import CHUNKS as CHUNKS_HOUR
from pkg_pipeline.defs.automation.hours import DAILY, MONTHLY, WEEKLY, last_monthly, week_has_come
from pkg_pipeline.defs.checks import publication
from pkg_pipeline.defs.hops import GRAIN_OF, HOP
from pkg_pipeline.defs.pipeline_memory import PipelineMemory
from pkg_pipeline.stages.partitions import DuePartition

Hold = Callable[[dg.DagsterInstance], str | None]
"""Why nothing is requested now, or None."""

Ripe = Callable[[dg.DagsterInstance, PipelineMemory, Sequence[DuePartition]], Sequence[DuePartition]]
"""Which of the due partitions a sensor may request, so that it is not earlier than the schedule."""


def _all(_instance: dg.DagsterInstance, _memory: PipelineMemory, due: Sequence[DuePartition]) -> Sequence[DuePartition]:
    return due


@dataclass(frozen=True, slots=True)
class ByClock:
    """The schedule, in ``PKG_TIMEZONE``."""

    name: str
    cron: str
    description: str


@dataclass(frozen=True, slots=True)
class BySensor:
    """The sensor; ``idle`` is its message when there is nothing to do."""

    name: str
    description: str
    idle: str
    ripe: Ripe = _all


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitioned:
    """How runs of an asset are requested. ``holds`` are asked in their order.

    ``has_run_keys``: whether marks and attempts give each request its own run key. Weeks and months become due by their
    end and have no marks; their requests check that no run covers the partition.
    """

    asset: str
    clock: ByClock
    sensor: BySensor
    holds: Sequence[Hold] = ()
    has_run_keys: bool = False

    @property
    def job(self) -> str:
        return HOP[self.asset].job

    @property
    def noun(self) -> str:
        return GRAIN_OF[self.asset].noun

    def held(self, instance: dg.DagsterInstance) -> str | None:
        """The first reason to request nothing, or None."""
        return next((why for hold in self.holds if (why := hold(instance)) is not None), None)

    def runs(
        self, instance: dg.DagsterInstance, due: Sequence[DuePartition], *, limit: int | None = None
    ) -> list[dg.RunRequest]:
        failures = requests.streak(instance, self.job).failures if self.has_run_keys else None
        return requests.for_partitions(due, lane="live", failures=failures, limit=limit)


def _weeks_whose_hour_has_come(
    _instance: dg.DagsterInstance, memory: PipelineMemory, due: Sequence[DuePartition]
) -> Sequence[DuePartition]:
    now, zone = memory.clock.now(), memory.settings.zone
    return [one for one in due if week_has_come(date.fromisoformat(one.key), now=now, zone=zone)]


def _months_not_worked_off(
    instance: dg.DagsterInstance, memory: PipelineMemory, due: Sequence[DuePartition]
) -> Sequence[DuePartition]:
    since = last_monthly(now=memory.clock.now(), zone=memory.settings.zone)
    attempted = requests.materialized_since(instance, due, since)
    return [one for one in due if one.key not in attempted]


SUMMARIES = Partitioned(
    asset=interaction_summaries.NAME,
    clock=ByClock(
        "summaries_at_three",
        DAILY,
        "Each night, what became due: days as ranges, oldest first, in the live lane.",
    ),
    sensor=BySensor(
        "due_days",
        "Days with completed interactions to summarise, changed ones to redo, or retries that came due.",
        idle="no day is due",
    ),
    has_run_keys=True,
)

CHUNKS = Partitioned(
    asset=memory_chunks.NAME,
    clock=ByClock(
        "chunks_half_past_three",
        CHUNKS_HOUR,
        "After the night's summaries, the days with something that is not searchable yet.",
    ),
    sensor=BySensor(
        "due_chunks",
        "Days with new, changed or deleted messages, summaries or facts that recall does not find as they are.",
        idle="everything is searchable",
    ),
    has_run_keys=True,
)

PROFILES = Partitioned(
    asset=entity_relationship_profiles.NAME,
    clock=ByClock(
        "profiles_sunday_four",
        WEEKLY,
        "On Sunday, the week that ended at midnight and earlier ones that are due.",
    ),
    sensor=BySensor(
        "due_weeks",
        "Weeks that Sunday's run left over, put off, or that rest on something that changed.",
        idle="nothing is left over",
        ripe=_weeks_whose_hour_has_come,
    ),
    holds=(publication.blocked, requests.wait_for_summaries),
)

ARCHIVE = Partitioned(
    asset=archived_messages.NAME,
    clock=ByClock(
        "archive_first_five",
        MONTHLY,
        "On the first of the month, the months with texts that are old enough.",
    ),
    sensor=BySensor(
        "due_months",
        "Months not worked off since the last first of a month: a missed hour, a failed run.",
        idle="nothing is left over",
        ripe=_months_not_worked_off,
    ),
    holds=(publication.blocked,),
)

ALL = (SUMMARIES, CHUNKS, PROFILES, ARCHIVE)
"""In the order of the flow."""
