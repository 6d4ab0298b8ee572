"""The store of backfills: requests and the interactions they chose."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import transaction
from pkg_pipeline.adapters.postgres.statements import Statements, columns_of, part
from pkg_pipeline.adapters.postgres.summaries.store import ALWAYS, eligible, joins
from pkg_pipeline.stages.summaries.backfill_stores import (
    Actual,
    Backfill,
    BackfillRequest,
    BackfillState,
    Chosen,
    Forecast,
    Progress,
)
from pkg_pipeline.stages.summaries.stores import Eligibility, Joining

SQL = Statements("backfills")


class PostgresBackfillStore:
    """``eligibility`` defines current, failed and complete interactions."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def choose(self, request: BackfillRequest, *, eligibility: Eligibility, joining: Joining) -> list[Chosen]:
        """Oldest first, at most the limit; nothing is written."""
        days = (request.first_day or date.min, request.last_day or date.max)
        given = {**eligible(eligibility, days), "limit": request.limit, **joins(joining)}
        return SQL.rows(self._connections, "choose", Chosen, **given)

    def same(self, request: BackfillRequest) -> UUID | None:
        """The open backfill with this request."""
        return SQL.value(self._connections, "same", request=Jsonb(request.to_json()))

    def create(
        self,
        request: BackfillRequest,
        forecast: Forecast,
        chosen: Sequence[Chosen],
        *,
        ended_before: datetime,
        requested_by: str,
    ) -> tuple[UUID, bool]:
        """The new backfill, or the open one with the same request (then False), in one transaction. All of ``chosen``
        ended by ``ended_before``; later ones were continued since.
        """
        parameters = {
            "request": Jsonb(request.to_json()),
            "forecast": Jsonb(forecast.to_json()),
            "ended_before": ended_before,
            "requested_by": requested_by,
        }
        with transaction(self._connections) as connection:
            SQL.run(connection, "lock")
            if (same := SQL.value(connection, "same", **parameters)) is not None:
                return same, False
            made = SQL.value(connection, "create", **parameters)
            SQL.run(connection, "create_interactions", backfill=made, **columns_of(chosen, "id", "day"))
            return made, True

    def request_of(self, backfill_id: UUID) -> tuple[BackfillRequest, BackfillState] | None:
        found = SQL.one(self._connections, "request_of", backfill=backfill_id)
        return None if found is None else (BackfillRequest.from_json(found.request), found.state)

    def settle(self, backfill_id: UUID, *, eligibility: Eligibility, days: tuple[date, date] | None = None) -> int:
        """Mark finished interactions; ends the backfill when all are. Returns how many are left."""
        parameters = {**eligible(eligibility, days or ALWAYS), "backfill": backfill_id}
        with transaction(self._connections) as connection:
            if days is None:
                SQL.run(connection, "follow_days", **parameters)
            SQL.run(connection, "tick_off", **parameters)
            SQL.run(connection, "end", **parameters)
            return SQL.value(connection, "left", **parameters)

    def begin(self, backfill_id: UUID) -> None:
        """Clear the reason to wait."""
        SQL.run(self._connections, "begin", backfill=backfill_id)

    def rest(self, backfill_id: UUID, *, seconds: float, reason: str) -> None:
        """Store why it stopped and for how long it waits."""
        SQL.run(self._connections, "rest", backfill=backfill_id, seconds=seconds, reason=reason)

    def cancel(self, backfill_id: UUID) -> bool:
        """False if it is not open."""
        return SQL.run(self._connections, "cancel", backfill=backfill_id) == 1

    def ready_days(self, backfill_id: UUID, *, eligibility: Eligibility) -> list[date]:
        """Days with interactions that can be worked on now, oldest first."""
        given = {**eligible(eligibility, ALWAYS), "backfill": backfill_id}
        return SQL.values(self._connections, "ready_days", **given)

    def open_ids(self) -> list[tuple[UUID, datetime | None]]:
        """Open backfills, oldest request first, each with the time until which it waits, if any."""
        return [tuple(row) for row in SQL.rows(self._connections, "open")]

    def listed(self, *, limit: int, only: UUID | None = None) -> list[Backfill]:
        """Newest request first."""
        return SQL.rows(self._connections, "listed", _backfill, limit=limit, only=only)

    def stale_count(self, *, eligibility: Eligibility) -> int:
        """Served summaries of another prompt, model or schema."""
        return SQL.value(self._connections, "stale_count", **eligible(eligibility, ALWAYS))


def _backfill(*, request: dict[str, Any], forecast: dict[str, Any], **columns: Any) -> Backfill:
    progress, actual = part(Progress, columns), part(Actual, columns)
    asked, foretold = BackfillRequest.from_json(request), Forecast.from_json(forecast)
    return Backfill(request=asked, forecast=foretold, progress=progress, actual=actual, **columns)
