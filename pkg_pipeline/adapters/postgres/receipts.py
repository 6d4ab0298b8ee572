"""Keeps receipts of served contexts: at once, or behind the answer from a bounded queue.

A read never waits for its receipt and never fails with it: what the queue cannot take, or the database cannot keep, is
counted in ``lost``.
"""

from __future__ import annotations

import logging
import queue
import threading
from contextlib import suppress
from typing import Any, Final

import psycopg
from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool, PoolTimeout

from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.stages.read_stores import Receipt

log = logging.getLogger(__name__)

QUEUE_RECEIPTS: Final = 1_000
BATCH_RECEIPTS: Final = 100
CLOSE_SECONDS: Final = 10.0


class PostgresReceiptSink:
    """Implements ``ReceiptSink`` at once; for a command line that ends after one answer."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections
        self.lost = 0

    def put(self, receipt: Receipt) -> None:
        self.put_many([receipt])

    def put_many(self, receipts: list[Receipt]) -> None:
        """All in one transaction."""
        try:
            with self._connections.connection() as connection, connection.transaction(), connection.cursor() as cursor:
                cursor.executemany(query("receipts", "insert_receipt"), [_row(receipt) for receipt in receipts])
        except (psycopg.Error, PoolTimeout) as error:
            self.lost += len(receipts)
            log.warning("%d context receipts could not be kept: %s", len(receipts), type(error).__name__)


class BackgroundReceiptSink:
    """Implements ``ReceiptSink`` behind the answer. The first receipt starts its thread; ``close`` writes the rest."""

    def __init__(self, sink: PostgresReceiptSink, *, size: int = QUEUE_RECEIPTS) -> None:
        self._sink = sink
        self._queue: queue.Queue[Receipt | None] = queue.Queue(maxsize=size)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._overflown = 0

    @property
    def lost(self) -> int:
        """Receipts that were not kept since the start."""
        return self._overflown + self._sink.lost

    def put(self, receipt: Receipt) -> None:
        """Returns at once; a full queue drops the receipt and counts it."""
        self._start()
        try:
            if self._closed:
                raise queue.Full
            self._queue.put_nowait(receipt)
        except queue.Full:
            self._overflown += 1

    def close(self) -> None:
        """Write what is queued and end the thread; later receipts are lost."""
        with self._lock:
            thread, self._closed = self._thread, True
        if thread is not None:
            with suppress(queue.Full):
                self._queue.put(None, timeout=CLOSE_SECONDS)
                thread.join(CLOSE_SECONDS)

    def _start(self) -> None:
        if self._thread is None:
            with self._lock:
                if self._thread is None and not self._closed:
                    self._thread = threading.Thread(target=self._work, name="context-receipts", daemon=True)
                    self._thread.start()

    def _work(self) -> None:
        while (first := self._queue.get()) is not None:
            batch, is_last = [first], False
            while len(batch) < BATCH_RECEIPTS and not self._queue.empty():
                following = self._queue.get_nowait()
                if following is None:
                    is_last = True
                    break
                batch.append(following)
            self._sink.put_many(batch)
            if is_last:
                return


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
