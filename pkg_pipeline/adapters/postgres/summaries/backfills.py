"""Backfills in PostgreSQL: requests, the interactions they chose, and what is told of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, cast
from uuid import UUID

from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import transaction
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.summaries.store import eligible
from pkg_pipeline.stages.summaries.backfill_stores import (
    Actual,
    Backfill,
    BackfillRequest,
    BackfillState,
    Chosen,
    Forecast,
    Progress,
)
from pkg_pipeline.stages.summaries.stores import Eligibility

ALWAYS = (date.min, date.max)


class PostgresBackfillStore:
    """Requests and the interactions that they chose. ``eligibility`` tells what is current, failed and complete."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def choose(self, request: BackfillRequest, *, eligibility: Eligibility, window_messages: int) -> list[Chosen]:
        """Oldest first, at most the limit; nothing is written."""
        days = (request.first_day or date.min, request.last_day or date.max)
        parameters = {**eligible(eligibility, days), "limit": request.limit, "window": window_messages}
        with self._connections.connection() as connection:
            return [Chosen(*row) for row in connection.execute(query("backfills", "choose"), parameters)]

    def same(self, request: BackfillRequest) -> UUID | None:
        """The open backfill with this request."""
        found = self._rows("same", {"request": Jsonb(request.to_json())})
        return found[0][0] if found else None

    def create(
        self,
        request: BackfillRequest,
        forecast: Forecast,
        chosen: Sequence[Chosen],
        *,
        ended_before: datetime,
        requested_by: str,
    ) -> tuple[UUID, bool]:
        """The new backfill, or the open one with the very same request (then False), in one transaction.

        All of ``chosen`` ended by ``ended_before``: one that ends later has gone on since.
        """
        parameters = {
            "request": Jsonb(request.to_json()),
            "forecast": Jsonb(forecast.to_json()),
            "ended_before": ended_before,
            "requested_by": requested_by,
        }
        with transaction(self._connections) as connection:
            connection.execute(query("backfills", "lock"))
            if (same := connection.execute(query("backfills", "same"), parameters).fetchone()) is not None:
                return same[0], False
            made = connection.execute(query("backfills", "create"), parameters).fetchone()
            assert made is not None, "an insert without a condition gives its row"
            connection.execute(
                query("backfills", "create_interactions"),
                {"backfill": made[0], "ids": [one.id for one in chosen], "days": [one.day for one in chosen]},
            )
            return made[0], True

    def request_of(self, backfill_id: UUID) -> tuple[BackfillRequest, BackfillState] | None:
        found = self._rows("request_of", {"backfill": backfill_id})
        return (BackfillRequest.from_json(found[0][0]), found[0][1]) if found else None

    def settle(self, backfill_id: UUID, *, eligibility: Eligibility, days: tuple[date, date] | None = None) -> int:
        """Ticks off what needs nothing more; ends the backfill when that is all. Returns how many are left."""
        parameters = {**eligible(eligibility, days or ALWAYS), "backfill": backfill_id}
        with transaction(self._connections) as connection:
            if days is None:
                connection.execute(query("backfills", "follow_days"), parameters)
            connection.execute(query("backfills", "tick_off"), parameters)
            connection.execute(query("backfills", "end"), parameters)
            left = connection.execute(query("backfills", "left"), parameters).fetchone()
        return int(left[0]) if left else 0

    def begin(self, backfill_id: UUID) -> None:
        """It is being worked on: nothing waited for any more."""
        self._write("begin", {"backfill": backfill_id})

    def rest(self, backfill_id: UUID, *, seconds: float, reason: str) -> None:
        """Why it stopped, and how long from now it is not asked for again."""
        self._write("rest", {"backfill": backfill_id, "seconds": seconds, "reason": reason})

    def cancel(self, backfill_id: UUID) -> bool:
        """Ends an open one as it is; False where it is not open."""
        return self._write("cancel", {"backfill": backfill_id}) == 1

    def ready_days(self, backfill_id: UUID, *, eligibility: Eligibility) -> list[date]:
        """Days with interactions of it that can be worked on now, oldest first."""
        parameters = {**eligible(eligibility, ALWAYS), "backfill": backfill_id}
        return [day for (day,) in self._rows("ready_days", parameters)]

    def open_ids(self) -> list[tuple[UUID, datetime | None]]:
        """Open backfills, oldest request first, each with the moment before which it rests, if that is to come."""
        return [(found, resume_at) for found, resume_at in self._rows("open", {})]

    def listed(self, *, limit: int, only: UUID | None = None) -> list[Backfill]:
        """Newest request first."""
        return [_backfill(row) for row in self._rows("listed", {"limit": limit, "only": only})]

    def stale_count(self, *, eligibility: Eligibility) -> int:
        """Served summaries that another prompt, model or schema made."""
        return int(self._rows("stale_count", eligible(eligibility, ALWAYS))[0][0])

    def _rows(self, name: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
        with self._connections.connection() as connection:
            return connection.execute(query("backfills", name), parameters).fetchall()

    def _write(self, name: str, parameters: dict[str, Any]) -> int:
        with self._connections.connection() as connection:
            return connection.execute(query("backfills", name), parameters).rowcount


def _backfill(row: tuple[Any, ...]) -> Backfill:
    summarized, failed, dropped, left, calls, tokens, usd = row[9:]
    return Backfill(
        id=row[0],
        state=cast(BackfillState, row[1]),
        request=BackfillRequest.from_json(row[2]),
        forecast=Forecast.from_json(row[3]),
        requested_by=row[4],
        requested_at=row[5],
        finished_at=row[6],
        resume_at=row[7],
        waits_for=row[8],
        progress=Progress(summarized, failed, dropped, left),
        actual=Actual(calls, int(tokens), float(usd)),
    )
