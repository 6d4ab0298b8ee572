"""Leases of one kind (W4): claims take them, here they are renewed and given back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol
from uuid import UUID

from psycopg import Cursor
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.queries import query


class Claimed(Protocol):
    """What a claim took: its subject and the fencing token."""

    @property
    def lease_id(self) -> UUID: ...
    @property
    def token(self) -> int: ...


class Leasing:
    """A store whose claims are under leases of one kind."""

    _lease_kind: ClassVar[str]
    _connections: ConnectionPool

    def renew(self, claimed: Sequence[Claimed], *, lease_seconds: float) -> None:
        with self._connections.connection() as connection:
            held = self._held([(one.lease_id, one.token) for one in claimed])
            connection.execute(query("leases", "renew"), {**held, "lease": lease_seconds})

    def release(self, claimed: Sequence[Claimed]) -> None:
        if claimed:
            with self._connections.connection() as connection:
                self.give_back(connection, *((one.lease_id, one.token) for one in claimed))

    def give_back(self, connection: Connection, *held: tuple[UUID, int]) -> Cursor[Any]:
        """Of these subjects with their tokens a row each that was still held."""
        return connection.execute(query("leases", "give_back"), self._held(held))

    def _held(self, held: Sequence[tuple[UUID, int]]) -> dict[str, Any]:
        return {"kind": self._lease_kind, "ids": [key for key, _ in held], "tokens": [token for _, token in held]}
