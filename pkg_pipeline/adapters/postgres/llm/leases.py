"""Leases of one kind (W4): renewed and released here, taken by claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol
from uuid import UUID

from psycopg import Cursor
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.statements import Statements

SQL = Statements("leases")


class Claimed(Protocol):
    """A leased subject with its fencing token."""

    @property
    def lease_id(self) -> UUID: ...
    @property
    def token(self) -> int: ...


class Leasing:
    """Base of stores whose claims are leases of one kind."""

    _lease_kind: ClassVar[str]
    _connections: ConnectionPool

    def take(
        self, on: Connection | ConnectionPool, ids: Sequence[UUID], *, holder: str, lease_seconds: float
    ) -> dict[UUID, int]:
        """Tokens of the subjects that nobody holds."""
        given = {"kind": self._lease_kind, "ids": list(ids), "holder": holder, "lease": lease_seconds}
        return dict(SQL.rows(on, "take", **given))

    def holds(self, connection: Connection, claimed: Claimed) -> bool:
        """Whether the claim still holds its lease; locked until the end of the transaction."""
        given = {"kind": self._lease_kind, "id": claimed.lease_id, "token": claimed.token}
        return SQL.run(connection, "holds", **given) == 1

    def renew(self, claimed: Sequence[Claimed], *, lease_seconds: float) -> None:
        held = self._held([(one.lease_id, one.token) for one in claimed])
        SQL.run(self._connections, "renew", **held, lease=lease_seconds)

    def release(self, claimed: Sequence[Claimed]) -> None:
        if claimed:
            self.give_back(self._connections, *((one.lease_id, one.token) for one in claimed))

    def give_back(self, on: Connection | ConnectionPool, *held: tuple[UUID, int]) -> bool:
        """Whether any of these leases was still held."""
        return SQL.run(on, "give_back", **self._held(held)) > 0

    def giving_back(self, connection: Connection, held: tuple[UUID, int]) -> Cursor[Any]:
        """The same within a pipeline: the answer is fetched later."""
        return SQL.execute(connection, "give_back", self._held([held]))

    def _held(self, held: Sequence[tuple[UUID, int]]) -> dict[str, Any]:
        return {"kind": self._lease_kind, "ids": [key for key, _ in held], "tokens": [token for _, token in held]}
