"""Queries of sensors and checks: waiting work, work not shown in Dagster, first partition. Each uses one index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import NamedTuple

from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.statements import Statements

SQL, PARTITIONS = Statements("work"), Statements("partitions")

LAST_MARTS = "last_marts"


class Unreported(NamedTuple):
    """Work that no Dagster run has reported yet; ``counts`` are the asset's figures."""

    id: int
    counts: dict[str, int]


class PostgresWorkStore:
    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def silent_interactions(self, *, before: datetime) -> int:
        """Interactions still active whose last message is older than ``before``."""
        return SQL.value(self._connections, "silent_interactions", before=before)

    def pending(self, asset: str) -> int:
        """Rows that finished attempts left undone, over all partitions of ``asset``."""
        return SQL.value(self._connections, "pending", asset=asset)

    def is_resting(self, asset: str) -> bool:
        """Whether a cap or the service lets no attempt at ``asset`` begin now."""
        return SQL.value(self._connections, "is_resting", asset=asset)

    def has_summaries(self) -> bool:
        return SQL.value(self._connections, "live_summaries") > 0

    def outdated_marts(self, mart: str, source: str) -> dict[str, int]:
        """Keys of ``source`` attempted since the mart was built, ascending, with their attempt count."""
        found = PARTITIONS.rows(self._connections, "outdated_marts", mart=mart, source=source)
        return {one.partition_key: one.attempts for one in found}

    def marts_built(self, mart: str, keys: Mapping[str, int]) -> None:
        """Record that the mart of ``keys`` was built, each with the attempt count of its source."""
        given = {"mart": mart, "keys": list(keys), "attempts": list(keys.values())}
        PARTITIONS.run(self._connections, "marts_built", **given)

    def last_marts(self) -> tuple[str, date] | None:
        """The dbt project of the last build of all marts and the day it reached; None before the first."""
        kept = SQL.value(self._connections, "kept_setting", key=LAST_MARTS)
        if kept is None:
            return None
        version, day = kept.split()
        return version, date.fromisoformat(day)

    def keep_last_marts(self, version: str, day: date) -> None:
        SQL.run(self._connections, "change_setting", key=LAST_MARTS, value=f"{version} {day}")

    def leave_unreported(self, asset: str, counts: Mapping[str, int]) -> None:
        """Record work on ``asset`` done outside of Dagster's runs."""
        SQL.run(self._connections, "leave_unreported", asset=asset, counts=Jsonb(dict(counts)))

    def unreported(self, asset: str) -> list[Unreported]:
        return SQL.rows(self._connections, "unreported", Unreported, asset=asset)

    def drop_reported(self, ids: Sequence[int]) -> None:
        SQL.run(self._connections, "drop_reported", ids=list(ids))

    def first_month(self) -> date | None:
        with self._connections.connection() as connection:
            return first_month(connection)

    def keep_first_month(self) -> None:
        """Store the first month of partitions, which stays when messages are deleted."""
        with self._connections.connection() as connection:
            month, known = _first_months(connection)
            if month is not None and month != known:
                SQL.run(connection, "move_first_month", month=month.isoformat())


def first_month(connection: Connection) -> date | None:
    """First day of the first month with any work; None in an empty memory."""
    return _first_months(connection)[0]


def _first_months(connection: Connection) -> tuple[date | None, date | None]:
    """As it is and as it is stored."""
    day, known = SQL.one(connection, "first_day") or (None, None)
    months = [one.replace(day=1) for one in (day, known) if one is not None]
    return min(months, default=None), known
