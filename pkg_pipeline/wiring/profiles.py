"""The profiles' part of the composition root: the stage's ports and parameters from the settings in force."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

from pkg_pipeline.adapters.postgres.llm.ledger import PostgresLedgerStore
from pkg_pipeline.adapters.postgres.profiles.reads import PostgresProfileReads
from pkg_pipeline.adapters.postgres.profiles.store import PostgresProfileStore, PostgresWeekStore
from pkg_pipeline.stages.profiles import stage as profiles
from pkg_pipeline.stages.profiles.stage import ProfileDeps, ProfileParams, WeekReport
from pkg_pipeline.stages.summaries.stores import Lane
from pkg_pipeline.wiring.lane_caps import usd_cap
from pkg_pipeline.wiring.summaries import holder

if TYPE_CHECKING:
    from pkg_pipeline.wiring.memory import Memory


class ProfileWork:
    """What ``Memory`` does with relationship profiles."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._weeks = PostgresWeekStore(memory.connections)

    def due_weeks(self) -> list[date]:
        """Sundays of the weeks whose profiles need work now, ascending."""
        memory = self._memory
        return profiles.due_weeks(self._weeks, memory.partitions, now=memory.clock.now(), zone=memory.settings.zone)

    def revive(self) -> int:
        """What was given up under another prompt or model is due again (P19); returns how many."""
        return self._weeks.revive(profiles.prompt_of(self._memory.model_name))

    def build_weeks(
        self,
        weeks: Sequence[date],
        *,
        lane: Lane,
        run_id: str | None = None,
        retry_failed: bool = False,
        on_week: Callable[[WeekReport], None] = lambda _: None,
    ) -> list[WeekReport]:
        """The profiles of these weeks, as of each week's end.

        Raises ``ValueError`` for a day that is no Sunday and for a week that is not over, LlmMisconfigured when every
        further call would fail.
        """
        self._memory.paying(lane, run_id)
        return profiles.build_weeks(
            weeks,
            deps=self._deps,
            params=self._params(lane),
            lane=lane,
            holder=holder(),
            run_id=run_id,
            retry_failed=retry_failed,
            on_week=on_week,
        )

    @cached_property
    def _deps(self) -> ProfileDeps:
        memory = self._memory
        connections = memory.connections
        return ProfileDeps(
            reads=PostgresProfileReads(connections, timezone=memory.settings.timezone),
            writes=PostgresProfileStore(connections),
            weeks=self._weeks,
            ledger=PostgresLedgerStore(connections),
            partitions=memory.partitions,
            budgets=memory.budgets,
            llm=memory.llm,
            counter=memory.counter,
            clock=memory.clock,
        )

    def _params(self, lane: Lane) -> ProfileParams:
        settings = self._memory.settings
        return ProfileParams(
            min_age_days=settings.profile_min_age_days,
            lag_days=settings.profile_lag_days,
            attempt_limit=settings.attempt_limit,
            backoff_seconds=settings.attempt_backoff_seconds,
            lease_seconds=settings.lease_seconds,
            timezone=settings.timezone,
            calls_cap=settings.live_profiles_per_week if lane == "live" else None,
            usd_cap=usd_cap(settings, lane),
            concurrency=settings.llm_concurrency if settings.uses_anthropic else 1,
        )
