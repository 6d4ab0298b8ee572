"""The part of the composition root that folds live sessions: the stage's ports and parameters from the settings."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING
from uuid import UUID

from pkg_pipeline.adapters.postgres.llm.ledger import PostgresLedgerStore
from pkg_pipeline.adapters.postgres.sessions.fold_reads import PostgresFoldReads
from pkg_pipeline.adapters.postgres.sessions.folds import PostgresFoldStore
from pkg_pipeline.memory.session.records import SessionEvent
from pkg_pipeline.settings import SettingsError
from pkg_pipeline.stages.folds import stage as folding
from pkg_pipeline.stages.folds.call import TASK
from pkg_pipeline.stages.folds.making import MadeFolds
from pkg_pipeline.stages.folds.rows import FoldDeps, FoldParams
from pkg_pipeline.stages.folds.stage import Account, FoldReport
from pkg_pipeline.stages.ports import Embedder, EmbedderMisconfigured
from pkg_pipeline.stages.summaries.stores import Lane
from pkg_pipeline.wiring.embedders import embedder_of
from pkg_pipeline.wiring.fold_rules import fold_rules
from pkg_pipeline.wiring.lane_caps import usd_cap
from pkg_pipeline.wiring.summaries import holder

if TYPE_CHECKING:
    from pkg_pipeline.wiring.memory import Memory


class FoldWork:
    """What ``Memory`` does with the folds of live sessions."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._writes = PostgresFoldStore(memory.connections)

    def due(self, *, limit: int) -> int:
        """How many sessions could be worked on now, counted up to ``limit``; no model is loaded for it."""
        return self._writes.due(self._memory.clock.now(), limit=limit)

    def unfolded(self, *, limit: int) -> int:
        """How many sessions ``ask_all`` would ask for, counted up to ``limit``."""
        settings = self._memory.settings
        if not settings.enable_summary:
            return 0
        return self._writes.unfolded(least_messages=settings.fold_min_messages, limit=limit)

    def ask_all(self) -> int:
        """H7, ``scheduled``: sessions with as many unfolded messages as the minimum are due now; how many."""
        settings = self._memory.settings
        if not settings.enable_summary:
            return 0
        return self._writes.ask_all(self._memory.clock.now(), least_messages=settings.fold_min_messages)

    def fold_due(
        self,
        *,
        lane: Lane = "live",
        run_id: str | None = None,
        limit: int | None = None,
        on_session: Callable[[MadeFolds], None] = lambda _: None,
    ) -> FoldReport:
        """All that is due now. Raises LlmMisconfigured when every further call would fail."""
        self._memory.paying(lane, run_id)
        return folding.fold_due(
            deps=self._deps,
            params=self._params(lane),
            account=self._account(lane, run_id),
            limit=limit,
            on_session=on_session,
        )

    def fold_session(self, session_id: UUID, *, trigger: SessionEvent | None = "manual") -> FoldReport:
        """One session at once, whatever its policy says (H7); without a trigger as its policy says.

        Raises SessionUnknown, LlmMisconfigured.
        """
        self._memory.paying("live", None)
        return folding.fold_session(
            session_id,
            deps=self._deps,
            params=self._params("live"),
            account=self._account("live", None),
            trigger=trigger,
        )

    def _account(self, lane: Lane, run_id: str | None) -> Account:
        budgets = self._memory.budgets
        return Account(budgets, lane, lambda: budgets.state(lane=lane, task=TASK).usd, holder(), run_id)

    @cached_property
    def _deps(self) -> FoldDeps:
        memory = self._memory
        return FoldDeps(
            reads=PostgresFoldReads(memory.connections),
            writes=self._writes,
            ledger=PostgresLedgerStore(memory.connections),
            llm=memory.llm,
            counter=memory.counter,
            clock=memory.clock,
            has_embedder=memory.settings.embedder_kind != "none",
            embedder=lambda: self._embedder,
        )

    @cached_property
    def _embedder(self) -> Embedder | None:
        try:
            return embedder_of(self._memory.settings)
        except SettingsError as error:
            raise EmbedderMisconfigured(str(error)) from error

    def _params(self, lane: Lane) -> FoldParams:
        settings = self._memory.settings
        return FoldParams(
            rules=fold_rules(settings),
            step_messages=settings.fold_step_messages,
            step_tokens=settings.fold_step_tokens,
            max_summary_tokens=settings.max_summary_tokens,
            backoff_seconds=settings.attempt_backoff_seconds,
            lease_seconds=settings.lease_seconds,
            timezone=settings.timezone,
            calls_cap=settings.live_folds_per_day if lane == "live" else None,
            usd_cap=usd_cap(settings, lane),
            concurrency=settings.llm_concurrency if settings.uses_anthropic else 1,
        )
