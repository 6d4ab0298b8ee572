"""The backfills' part of the composition root: requests, forecasts and progress; the work is ``wiring.summaries``'."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
from psycopg_pool import PoolTimeout

from pkg_pipeline.adapters.postgres.summaries.backfills import PostgresBackfillStore
from pkg_pipeline.settings import SettingsError
from pkg_pipeline.stages.ports import LlmMisconfigured
from pkg_pipeline.stages.reads.stores import StoreUnavailable
from pkg_pipeline.stages.summaries import backfill
from pkg_pipeline.stages.summaries import stage as summaries
from pkg_pipeline.stages.summaries.backfill import Asked, BackfillDeps
from pkg_pipeline.stages.summaries.backfill_stores import Backfill, BackfillRequest, Forecast
from pkg_pipeline.stages.summaries.stores import Scope, Waiting

if TYPE_CHECKING:
    from pkg_pipeline.stages.summaries.stage import DayReport
    from pkg_pipeline.wiring.memory import Memory

LISTED = 20


class ReachableBackfills:
    """Requests for a server that goes on without its database: that it is away is ``StoreUnavailable`` as for reads."""

    def __init__(self, work: BackfillWork) -> None:
        self._work = work

    def request(self, **given: Any) -> BackfillRequest:
        """With the age and limit in force where none is given. Raises ``BackfillWrong``."""
        return self._work.request(**given)

    def foretell(self, request: BackfillRequest) -> Forecast:
        """What it would take; nothing is written."""
        with _reaching():
            return self._work.foretell(request)

    def ask(self, request: BackfillRequest, *, requested_by: str) -> Asked:
        """Write the request down; the same request again is the open backfill."""
        with _reaching():
            return self._work.ask(request, requested_by=requested_by)


@contextmanager
def _reaching() -> Iterator[None]:
    try:
        yield
    except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout) as error:
        raise StoreUnavailable("the database does not answer; nothing was written down") from error
    except SettingsError as error:
        raise LlmMisconfigured(str(error)) from error


class BackfillWork:
    """What ``Memory`` does with backfills."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._store = PostgresBackfillStore(memory.connections)
        self.on_left: Callable[[UUID, int], object] = lambda *_: None
        """Hears how many interactions of a backfill are left, whenever days of it were worked off here."""

    def request(
        self,
        *,
        older_than_days: float | None = None,
        limit: int | None = None,
        first_day: date | None = None,
        last_day: date | None = None,
        stale: bool = False,
        failed: bool = False,
    ) -> BackfillRequest:
        """A request with the settings' age and limit where none is given. Raises ``BackfillWrong``."""
        settings = self._memory.settings
        return backfill.check(
            BackfillRequest(
                older_than_days=settings.backfill_older_than_days if older_than_days is None else older_than_days,
                limit=settings.backfill_limit if limit is None else limit,
                first_day=first_day,
                last_day=last_day,
                stale=stale,
                failed=failed,
            )
        )

    def foretell(self, request: BackfillRequest) -> Forecast:
        """What it would take; nothing is written."""
        return backfill.foretell(request, deps=self._deps())

    def ask(self, request: BackfillRequest, *, requested_by: str) -> Asked:
        """Write the request down; the same request again is the open backfill."""
        return backfill.ask(request, requested_by=requested_by, deps=self._deps())

    def scope_of(self, backfill_id: UUID) -> Scope:
        """What a run on its account takes. Raises ``BackfillUnknown``."""
        return backfill.scope_of(backfill_id, deps=self._deps())

    def open(self) -> Sequence[tuple[UUID, datetime | None]]:
        """Open backfills, oldest first, each with the moment before which it rests, if that is to come."""
        return self._store.open_ids()

    def settle(self, backfill_id: UUID) -> int:
        """Tick off what needs nothing more; one with nothing left ends. How many are left. Raises BackfillUnknown."""
        return backfill.settle(backfill_id, deps=self._deps())

    def ready_days(self, backfill_id: UUID) -> list[str]:
        """Keys of the days that can be worked on now. Raises ``BackfillUnknown``."""
        return [day.isoformat() for day in backfill.ready_days(backfill_id, deps=self._deps())]

    def told(self, backfill_id: UUID) -> Backfill:
        """Forecast, actual, what is left. Raises ``BackfillUnknown``."""
        return backfill.told(backfill_id, deps=self._deps())

    def list(self, *, limit: int = LISTED) -> Sequence[Backfill]:
        """Open and ended ones, newest request first."""
        return self._store.listed(limit=limit)

    def cancel(self, backfill_id: UUID) -> bool:
        """End an open one as it is; what was made stays. False where none of that id is open."""
        return self._store.cancel(backfill_id)

    def stale_count(self) -> int:
        """Served summaries that another prompt, model or schema made (B5)."""
        return self._store.stale_count(eligibility=self._memory.summaries.eligibility())

    def watched(self, backfill_id: UUID, on_day: Callable[[DayReport], None]) -> Callable[[DayReport], None]:
        """``on_day`` for a run on a backfill's account: what is done is ticked off day by day, a stop written down."""
        deps = self._deps()
        self._store.begin(backfill_id)

        def note(report: DayReport) -> None:
            self.on_left(backfill_id, backfill.settle(backfill_id, deps=deps, days=(report.day, report.day)))
            if report.rest_seconds > 0:
                self._store.rest(backfill_id, seconds=report.rest_seconds, reason=report.stop_reason)
            on_day(report)

        return note

    def _deps(self) -> BackfillDeps:
        memory = self._memory
        return BackfillDeps(
            store=self._store,
            eligibility=memory.summaries.eligibility(),
            price=self._price,
            usd_per_day=memory.settings.backfill_usd_per_day,
            window_messages=memory.settings.window_messages,
        )

    def _price(self, waiting: Waiting) -> tuple[int, float]:
        found = summaries.estimate(self._memory.llm, waiting)
        return found.tokens, found.usd
