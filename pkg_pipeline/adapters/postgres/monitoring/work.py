"""What only the orchestration asks of the tables: how much waits, what Dagster has not shown, where partitions begin.

One index each; no mark is taken here.
"""

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
    """One piece of work that no run of Dagster has shown yet; ``counts`` are the asset's numbers."""

    id: int
    counts: dict[str, int]


class PostgresWorkStore:
    """Counts for sensors, checks and ``run``."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def silent_interactions(self, *, before: datetime) -> int:
        """Interactions still marked active whose last message is older than ``before``."""
        return SQL.value(self._connections, "silent_interactions", before=before)

    def pending(self, asset: str) -> int:
        """Rows that finished attempts left undone, over all partitions of ``asset``."""
        return SQL.value(self._connections, "pending", asset=asset)

    def has_summaries(self) -> bool:
        """Whether anything is summarised: what is made out of summaries has nothing to do before."""
        return SQL.value(self._connections, "live_summaries") > 0

    def outdated_marts(self, mart: str, source: str) -> dict[str, int]:
        """Keys of ``source`` that were attempted since the mart was built, ascending, with the attempts so far."""
        found = PARTITIONS.rows(self._connections, "outdated_marts", mart=mart, source=source)
        return {one.partition_key: one.attempts for one in found}

    def marts_built(self, mart: str, keys: Mapping[str, int]) -> None:
        """The mart of ``keys`` was built, each as of so many attempts of its source."""
        given = {"mart": mart, "keys": list(keys), "attempts": list(keys.values())}
        PARTITIONS.run(self._connections, "marts_built", **given)

    def last_marts(self) -> tuple[str, date] | None:
        """By which dbt project all marts were built last, and up to which day; None before the first build."""
        kept = SQL.value(self._connections, "kept_setting", key=LAST_MARTS)
        if kept is None:
            return None
        version, day = kept.split()
        return version, date.fromisoformat(day)

    def keep_last_marts(self, version: str, day: date) -> None:
        SQL.run(self._connections, "change_setting", key=LAST_MARTS, value=f"{version} {day}")

    def leave_unreported(self, asset: str, counts: Mapping[str, int]) -> None:
        """Work on ``asset`` was done outside of Dagster's runs."""
        SQL.run(self._connections, "leave_unreported", asset=asset, counts=Jsonb(dict(counts)))

    def unreported(self, asset: str) -> list[Unreported]:
        return SQL.rows(self._connections, "unreported", Unreported, asset=asset)

    def drop_reported(self, ids: Sequence[int]) -> None:
        """A run has shown them."""
        SQL.run(self._connections, "drop_reported", ids=list(ids))

    def first_month(self) -> date | None:
        with self._connections.connection() as connection:
            return first_month(connection)

    def keep_first_month(self) -> None:
        """Write down where partitions begin: what was worked off under a month stays below it when its messages go."""
        with self._connections.connection() as connection:
            if (month := first_month(connection)) is not None:
                SQL.run(connection, "move_first_month", month=month.isoformat())


def first_month(connection: Connection) -> date | None:
    """The first day of the first month that anything was ever filed under; None in an empty memory."""
    months = [day.replace(day=1) for day in SQL.one(connection, "first_day") or () if day is not None]
    return min(months, default=None)
