"""Backfills (P31, B5): selected once as rows, priced, done when none of them needs work."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from pkg_pipeline.stages.llm.batch_ports import LlmBatches
from pkg_pipeline.stages.summaries.backfill_stores import (
    Backfill,
    BackfillRequest,
    Chosen,
    Forecast,
    waiting_of,
)
from pkg_pipeline.stages.summaries.stage import DayReport, Summaries, calls_for, estimate
from pkg_pipeline.stages.summaries.stores import Eligibility, Scope

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.summaries.backfills import PostgresBackfillStore

MOST_INTERACTIONS = 1_000_000
"""Larger limits are taken for mistakes."""


class BackfillWrong(ValueError):
    """Invalid request; ``field`` as in the API."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field = field


class BackfillUnknown(LookupError):
    """No backfill of this id."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The backfill and whether it is new; only a forecast if nothing matches."""

    forecast: Forecast
    backfill: Backfill | None = None
    is_new: bool = False


@dataclass(slots=True, kw_only=True)
class Backfills:
    """Requests over the ``summaries`` stage; methods with an id raise ``BackfillUnknown``."""

    store: PostgresBackfillStore
    summaries: Summaries
    usd_per_day: float
    older_than_days: float
    limit: int
    on_left: Callable[[UUID, int], object] = lambda _id, _left: None
    """Callback after days of a backfill were processed: (id, interactions left)."""
    client: Callable[[], LlmBatches | None] = lambda: None
    batch_from_calls: int = 0
    """From so many calls on in message batches, where the service has them; 0: only on request."""
    cancel_batches: Callable[[UUID], object] = lambda _: None

    def request(
        self,
        *,
        older_than_days: float | None = None,
        limit: int | None = None,
        first_day: date | None = None,
        last_day: date | None = None,
        stale: bool = False,
        failed: bool = False,
        batch: bool | None = None,
    ) -> BackfillRequest:
        """Raises ``BackfillWrong``."""
        age = self.older_than_days if older_than_days is None else older_than_days
        most = self.limit if limit is None else limit
        return check(BackfillRequest(age, most, first_day, last_day, stale, failed, batch))

    def foretell(self, request: BackfillRequest) -> Forecast:
        return self._forecast(request, self._chosen(request))

    def ask(self, request: BackfillRequest, *, requested_by: str) -> Asked:
        """Store the request with its selection, or return an equal open one. Raises ``BackfillWrong``."""
        check(request)
        if (found := self.store.same(request)) is not None:
            self.settle(found)
            known = self.told(found)
            return Asked(known.forecast, known)
        chosen = self._chosen(request)
        forecast = self._forecast(request, chosen)
        if not chosen:
            return Asked(forecast)
        now, gap = self.summaries.clock.now(), self.summaries.gap_seconds
        age = timedelta(seconds=max(request.older_than_days * 86_400, gap))
        identity, is_new = self.store.create(
            request, forecast, chosen, ended_before=now - age, requested_by=requested_by
        )
        known = self.told(identity)
        return Asked(known.forecast, known, is_new)

    def scope_of(self, backfill_id: UUID) -> Scope:
        request, _ = self._known(backfill_id)
        return Scope(retry_failed=request.failed, redo_stale=request.stale, backfill_id=backfill_id)

    def wants_batches(self, backfill_id: UUID) -> bool:
        """Whether what is left of it goes into message batches: a few leftovers do not."""
        known = self.told(backfill_id)
        most = max(known.forecast.interactions, 1)
        calls = math.ceil(known.forecast.calls * known.progress.left / most)
        return self._batches_for(known.request, calls) is not None

    def cancel(self, backfill_id: UUID) -> bool:
        """False if it is not open. What batches of it have brought is read as ever. Raises an ``LlmError`` if the
        service does not end them.
        """
        cancelled = self.store.cancel(backfill_id)
        if cancelled:
            self.cancel_batches(backfill_id)
        return cancelled

    def settle(self, backfill_id: UUID, *, days: tuple[date, date] | None = None) -> int:
        """Mark what needs no more work; returns how many are left, 0 ends the backfill."""
        return self.store.settle(backfill_id, eligibility=self._eligibility(backfill_id), days=days)

    def ready_days(self, backfill_id: UUID) -> list[str]:
        """Keys of its days that can be processed or were processed by others since ``settle``; none if it has ended."""
        _, state = self._known(backfill_id)
        if state not in ("requested", "running"):
            return []
        days = self.store.ready_days(backfill_id, eligibility=self._eligibility(backfill_id))
        return [day.isoformat() for day in days]

    def open(self) -> Sequence[tuple[UUID, datetime | None]]:
        """Open backfills, oldest first, with the end of their pause if in the future."""
        return self.store.open_ids()

    def told(self, backfill_id: UUID) -> Backfill:
        found = self.store.listed(limit=1, only=backfill_id)
        if not found:
            raise BackfillUnknown(f"there is no backfill {backfill_id}")
        return found[0]

    def stale_count(self) -> int:
        """Served summaries of another prompt, model or schema (B5)."""
        return self.store.stale_count(eligibility=self.summaries.eligibility())

    def watched(self, backfill_id: UUID, on_day: Callable[[DayReport], None]) -> Callable[[DayReport], None]:
        """``on_day`` that also records a backfill's progress per day, and a stop."""
        self.store.begin(backfill_id)

        def note(report: DayReport) -> None:
            self.on_left(backfill_id, self.settle(backfill_id, days=(report.day, report.day)))
            if report.rest_seconds > 0:
                self.store.rest(backfill_id, seconds=report.rest_seconds, reason=report.stop_reason)
            on_day(report)

        return note

    def _known(self, backfill_id: UUID) -> tuple[BackfillRequest, str]:
        found = self.store.request_of(backfill_id)
        if found is None:
            raise BackfillUnknown(f"there is no backfill {backfill_id}")
        return found

    def _eligibility(self, backfill_id: UUID) -> Eligibility:
        return self.summaries.eligibility(self.scope_of(backfill_id))

    def _chosen(self, request: BackfillRequest) -> Sequence[Chosen]:
        check(request)
        scope = Scope(retry_failed=request.failed, redo_stale=request.stale)
        seconds = request.older_than_days * 86_400
        eligibility = replace(self.summaries.eligibility(scope), due_after_seconds=seconds)
        return self.store.choose(request, eligibility=eligibility, joining=self.summaries.joining())

    def _batches_for(self, request: BackfillRequest, calls: int) -> LlmBatches | None:
        wanted = 0 < self.batch_from_calls <= calls if request.batch is None else request.batch
        client = self.client() if wanted else None
        return client if client is not None and client.are_served() else None

    def _forecast(self, request: BackfillRequest, chosen: Sequence[Chosen]) -> Forecast:
        waiting = waiting_of(chosen)
        most = self.summaries.joining().most
        calls, llm = calls_for(waiting, most), self.summaries.access.llm()
        batches = self._batches_for(request, calls)
        calibration = self.summaries.access.calibration()
        price = at_once = estimate(llm, waiting, most=most, calibration=calibration)
        if batches is not None:
            price = estimate(llm, waiting, most=most, price=batches.price, calibration=calibration)
        return Forecast(
            interactions=waiting.interactions,
            messages=waiting.messages,
            days=len({one.day for one in chosen}),
            calls=calls,
            tokens=price.tokens,
            usd=price.usd,
            usd_per_day=self.usd_per_day,
            batched=batches is not None,
            usd_at_once=at_once.usd,
        )


def check(request: BackfillRequest) -> BackfillRequest:
    """The request itself. Raises ``BackfillWrong``."""
    if not 0 <= request.older_than_days <= 36_500:
        raise BackfillWrong("older_than_days", "the age is 0 to 36,500 days")
    if not 1 <= request.limit <= MOST_INTERACTIONS:
        raise BackfillWrong("limit", f"the limit is 1 to {MOST_INTERACTIONS:,} interactions")
    if request.first_day and request.last_day and request.last_day < request.first_day:
        raise BackfillWrong("to", f"{request.last_day} is before {request.first_day}")
    return request
