"""Saves receipts of served contexts, at once or from a queue. A read never fails with its receipt; ``lost`` counts
failures.
"""

from __future__ import annotations

import logging
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool, PoolTimeout

from pkg_pipeline.adapters.postgres.background_sink import QUEUE_RECORDS, BackgroundSink
from pkg_pipeline.adapters.postgres.ingest.echoes import keep
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.reading import Reads
from pkg_pipeline.stages.reads.receipts import KeptReceipt, ListedReceipt
from pkg_pipeline.stages.reads.stores import Receipt

log = logging.getLogger(__name__)


class PostgresReceiptReads:
    """Raises ``StoreUnavailable``."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._reads = Reads(connections, "receipts")

    def receipt(self, receipt_id: UUID) -> KeptReceipt | None:
        return self._reads.first(KeptReceipt, "receipt", id=receipt_id)

    def newest(self, entity_id: UUID | None, limit: int) -> list[ListedReceipt]:
        """Of one entity, or of all."""
        return self._reads.rows(ListedReceipt, "receipts", entity=entity_id, limit=limit)

    def ids_between(self, first: UUID, last: UUID) -> list[UUID]:
        """At most two."""
        return self._reads.values("receipt_ids_between", first=first, last=last)


class PostgresReceiptSink:
    """``ReceiptSink`` that writes at once, for the command line."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections
        self.lost = 0

    def put(self, receipt: Receipt) -> None:
        self.put_many([receipt])

    def put_many(self, receipts: list[Receipt]) -> None:
        try:
            with self._connections.connection() as connection, connection.transaction(), connection.cursor() as cursor:
                cursor.executemany(query("receipts", "insert_receipt"), [_row(receipt) for receipt in receipts])
                for receipt in receipts:
                    keep(connection, receipt.text)
        except (psycopg.Error, PoolTimeout) as error:
            self.lost += len(receipts)
            log.warning("%d context receipts could not be kept: %s", len(receipts), type(error).__name__)


class BackgroundReceiptSink(BackgroundSink[Receipt]):
    """``ReceiptSink`` that writes in a thread; ``close`` writes the rest."""

    def __init__(self, sink: PostgresReceiptSink, *, size: int = QUEUE_RECORDS) -> None:
        super().__init__(sink, size=size, name="context-receipts")


def _row(receipt: Receipt) -> dict[str, Any]:
    return {
        "id": receipt.id,
        "entity_id": receipt.entity_id,
        "request": Jsonb(dict(receipt.request)),
        "tiers": Jsonb(list(receipt.tiers)),
        "left_out": Jsonb(list(receipt.left_out)),
        "tokens": receipt.tokens,
        "hypothetical_tokens": receipt.hypothetical_tokens,
    }
