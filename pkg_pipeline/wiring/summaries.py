"""Wiring of summaries, backfills and profiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg_pool import PoolTimeout

from pkg_pipeline.adapters.postgres.profiles.reads import PostgresProfileReads
from pkg_pipeline.adapters.postgres.profiles.store import PostgresProfileStore, PostgresWeekStore
from pkg_pipeline.adapters.postgres.summaries.backfills import PostgresBackfillStore
from pkg_pipeline.adapters.postgres.summaries.store import PostgresSummaryStore
from pkg_pipeline.settings import SettingsError
from pkg_pipeline.stages.llm.ask import Asking
from pkg_pipeline.stages.llm.gathering import Gathering
from pkg_pipeline.stages.llm.stores import UNANSWERED_REST_SECONDS
from pkg_pipeline.stages.ports import Billing, LlmMisconfigured
from pkg_pipeline.stages.profiles.stage import Profiles
from pkg_pipeline.stages.reads.stores import StoreUnavailable
from pkg_pipeline.stages.summaries.backfill import Asked, Backfills
from pkg_pipeline.stages.summaries.backfill_stores import BackfillRequest, Forecast
from pkg_pipeline.stages.summaries.batched import BatchedSummaries
from pkg_pipeline.stages.summaries.making import MakingRules
from pkg_pipeline.stages.summaries.stage import DayReport, Summaries
from pkg_pipeline.stages.summaries.stores import ALL_DUE, Scope
from pkg_pipeline.wiring.models import due_after_seconds
from pkg_pipeline.wiring.process import Process

if TYPE_CHECKING:
    from pkg_pipeline.wiring.memory import Memory


def summaries_stage(process: Process) -> Summaries:
    settings = process.settings
    return Summaries(
        store=PostgresSummaryStore(process.connections, timezone=settings.timezone),
        partitions=process.partitions,
        access=process.access,
        clock=process.clock,
        rules=MakingRules(
            window_messages=settings.window_messages,
            update_messages=settings.update_max_messages,
            talks_together=settings.talks_together,
        ),
        due_after_seconds=due_after_seconds(settings),
        minimum_messages=settings.summary_min_messages,
        gap_seconds=settings.gap_hours * 3_600,
        gathering=partial(_gathering, process),
    )


def _gathering(process: Process, asking: Asking, scope: Scope) -> Gathering | None:
    """None where the service has no batches: then each is asked at once."""
    client = process.batch_client
    if client is None or not client.are_served():
        return None
    leases = PostgresSummaryStore(process.connections, timezone=process.settings.timezone)
    return Gathering(client, process.batches.store, asking, leases, redo_stale=scope.redo_stale)


def summarize(
    memory: Memory, days: tuple[date, date], billing: Billing, scope: Scope | None, on_day: Callable[[DayReport], None]
) -> list[DayReport]:
    """As ``Memory.summarize``."""
    scope = scope or ALL_DUE
    counted = memory.monitoring.counting(on_day)
    if scope.backfill_id is not None:
        backfills = memory.backfills
        counted = backfills.watched(scope.backfill_id, counted)
        in_batches = backfills.wants_batches(scope.backfill_id)
        scope = replace(backfills.scope_of(scope.backfill_id), in_batches=in_batches)
    reports = memory.summaries.run(days, billing, scope, counted)
    memory.monitoring.recount()
    return reports


def batched_summaries(memory: Memory) -> BatchedSummaries:
    backfills, monitoring = memory.backfills, memory.monitoring
    return BatchedSummaries(
        summaries=memory.summaries,
        batches=memory.batches,
        watched=lambda key, on_day: backfills.watched(key, monitoring.counting(on_day)),
        without_answers=lambda key: backfills.store.rest(
            key, seconds=UNANSWERED_REST_SECONDS, reason="a message batch ended without an answer"
        ),
        recount=monitoring.recount,
    )


def backfills_stage(process: Process, summaries: Summaries) -> Backfills:
    settings = process.settings
    return Backfills(
        store=PostgresBackfillStore(process.connections),
        summaries=summaries,
        usd_per_day=settings.backfill_usd_per_day,
        older_than_days=settings.backfill_older_than_days,
        limit=settings.backfill_limit,
        client=lambda: process.batch_client,
        batch_from_calls=settings.backfill_batch_from_calls,
        cancel_batches=process.batches.cancel,
    )


def profiles_stage(process: Process) -> Profiles:
    settings = process.settings
    return Profiles(
        reads=PostgresProfileReads(process.connections, timezone=settings.timezone),
        writes=PostgresProfileStore(process.connections),
        weeks=PostgresWeekStore(process.connections),
        partitions=process.partitions,
        access=process.access,
        clock=process.clock,
        zone=settings.zone,
        min_age_days=settings.profile_min_age_days,
        lag_days=settings.profile_lag_days,
    )


class ReachableBackfills:
    """For a server: a missing database raises ``StoreUnavailable``."""

    def __init__(self, backfills: Backfills) -> None:
        self._backfills = backfills

    def request(self, **given: Any) -> BackfillRequest:
        """Default age and limit from the settings. Raises ``BackfillWrong``."""
        return self._backfills.request(**given)

    def foretell(self, request: BackfillRequest) -> Forecast:
        with _reaching():
            return self._backfills.foretell(request)

    def ask(self, request: BackfillRequest, *, requested_by: str) -> Asked:
        with _reaching():
            return self._backfills.ask(request, requested_by=requested_by)


@contextmanager
def _reaching() -> Iterator[None]:
    try:
        yield
    except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout) as error:
        raise StoreUnavailable("the database does not answer; nothing was written down") from error
    except SettingsError as error:
        raise LlmMisconfigured(str(error)) from error
