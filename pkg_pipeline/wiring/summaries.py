"""The summaries' part of the composition root: the stage's ports and parameters from the settings in force."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

from pkg_pipeline.adapters.postgres.summaries.store import PostgresSummaryStore
from pkg_pipeline.prompts import interaction_summary
from pkg_pipeline.prompts.versions import CURRENT_VERSIONS
from pkg_pipeline.stages.summaries import stage as summaries
from pkg_pipeline.stages.summaries.stage import DayReport, Estimate, SummaryDeps, SummaryParams
from pkg_pipeline.stages.summaries.stores import ALL_DUE, Eligibility, Lane, Scope
from pkg_pipeline.wiring.lane_caps import usd_cap

if TYPE_CHECKING:
    from pkg_pipeline.wiring.memory import Memory


class SummaryWork:
    """What ``Memory`` does with summaries."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._store = PostgresSummaryStore(memory.connections, timezone=memory.settings.timezone)

    def summarize(
        self,
        days: tuple[date, date],
        *,
        lane: Lane,
        run_id: str | None = None,
        scope: Scope = ALL_DUE,
        on_day: Callable[[DayReport], None] = lambda _: None,
    ) -> list[DayReport]:
        """What is due in the closed range of days. Raises LlmMisconfigured when every further call would fail.

        On a backfill's account what it asked for counts, whatever else the scope says; ``BackfillUnknown`` if there is
        none of that id.
        """
        backfill_id = scope.backfill_id
        if backfill_id is not None:
            scope = self._memory.backfills.scope_of(backfill_id)
            on_day = self._memory.backfills.watched(backfill_id, on_day)
        self._memory.paying(lane, run_id, backfill_id)
        return summaries.summarize_days(
            days,
            deps=self._deps,
            params=self._params(lane),
            prompt_version=interaction_summary.VERSION,
            lane=lane,
            holder=holder(),
            run_id=run_id,
            scope=scope,
            on_day=on_day,
        )

    def eligibility(self) -> Eligibility:
        """What counts as due, failed and stale now; no model is loaded for it."""
        settings = self._memory.settings
        return Eligibility(
            now=self._memory.clock.now(),
            due_after_seconds=self._memory.due_after_seconds,
            minimum_messages=settings.summary_min_messages,
            attempt_limit=settings.attempt_limit,
            prompt_version=interaction_summary.VERSION,
            model=self._memory.model_name,
            current_versions=tuple(sorted(CURRENT_VERSIONS)),
            schema_version=interaction_summary.SCHEMA_VERSION,
            gap_seconds=settings.gap_hours * 3_600,
        )

    def revive(self) -> int:
        """What was given up under another prompt or model is due again (P19); returns how many."""
        return self._store.revive(prompt_version=interaction_summary.VERSION, model=self._memory.model_name)

    def estimate(self) -> Estimate:
        """What summarising all that is due would take, before anything is paid."""
        waiting = self._store.waiting(
            eligibility=self.eligibility(), window_messages=self._memory.settings.window_messages
        )
        return summaries.estimate(self._memory.llm, waiting)

    @cached_property
    def _deps(self) -> SummaryDeps:
        memory = self._memory
        return SummaryDeps(
            store=self._store,
            partitions=memory.partitions,
            budgets=memory.budgets,
            llm=memory.llm,
            counter=memory.counter,
            clock=memory.clock,
        )

    def _params(self, lane: Lane) -> SummaryParams:
        settings = self._memory.settings
        return SummaryParams(
            due_after_seconds=self._memory.due_after_seconds,
            minimum_messages=settings.summary_min_messages,
            attempt_limit=settings.attempt_limit,
            backoff_seconds=settings.attempt_backoff_seconds,
            lease_seconds=settings.lease_seconds,
            window_messages=settings.window_messages,
            fact_confidence=settings.fact_confirm_confidence,
            timezone=settings.timezone,
            calls_cap=settings.live_summaries_per_day if lane == "live" else None,
            usd_cap=usd_cap(settings, lane),
            concurrency=settings.llm_concurrency if self._memory.llm.is_paid else 1,
            gap_seconds=settings.gap_hours * 3_600,
            update_messages=settings.update_max_messages,
            also_current=tuple(sorted(CURRENT_VERSIONS - {interaction_summary.VERSION})),
            schema_version=interaction_summary.SCHEMA_VERSION,
        )


def holder() -> str:
    """Whose leases these are: this process."""
    return f"{socket.gethostname()}:{os.getpid()}"
