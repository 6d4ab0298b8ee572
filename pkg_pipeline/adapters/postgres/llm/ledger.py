"""The ledger of LLM calls, also the replay cache (B6, B8)."""

from __future__ import annotations

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.statements import Statements, columns_of, fields_of
from pkg_pipeline.memory.records import Usage
from pkg_pipeline.stages.llm.stores import LedgerRow

SQL = Statements("ledger")


class PostgresLedgerStore:
    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def replay(self, request_hash: str) -> tuple[str, Usage, str] | None:
        found = SQL.one(self._connections, "replay", hash=request_hash)
        return None if found is None else (found.reply, Usage(found.input_tokens, found.output_tokens), "replayed")

    def calibration(self, model: str) -> float | None:
        return SQL.value(self._connections, "calibration", model=model)

    def refuse(self, request_hash: str, *, reason: str) -> None:
        SQL.run(self._connections, "refuse", hash=request_hash, reason=reason)

    def record(self, row: LedgerRow) -> None:
        record(self._connections, row)


def record(on: Connection | ConnectionPool, row: LedgerRow) -> None:
    about = columns_of((row.subject, *row.also) if row.subject is not None else (), "kind", "id")
    given = {**fields_of(row), **fields_of(row.billing), **fields_of(row.usage)}
    SQL.run(on, "record", **given, kind=about["kind"], subjects=about["id"])
