"""A queue between an answer and the record of it: the read never waits for its record and never fails with it.

What the queue cannot take is dropped and counted in ``lost``. What a record is and how it is kept is the sink's.
"""

from __future__ import annotations

import queue
import threading
from contextlib import suppress
from typing import Final, Generic, Protocol, TypeVar

Record = TypeVar("Record")

QUEUE_RECORDS: Final = 1_000
BATCH_RECORDS: Final = 100
CLOSE_SECONDS: Final = 10.0


class BatchSink(Protocol[Record]):
    @property
    def lost(self) -> int:
        """Records that could not be kept."""
        ...

    def put_many(self, receipts: list[Record]) -> None:
        """Keep them, or count them as lost; raises nothing."""
        ...


class BackgroundSink(Generic[Record]):
    """Hands records to a sink behind the answer. The first one starts its thread; ``close`` writes the rest."""

    def __init__(self, sink: BatchSink[Record], *, size: int = QUEUE_RECORDS, name: str = "receipts") -> None:
        self._sink = sink
        self._name = name
        self._queue: queue.Queue[Record | None] = queue.Queue(maxsize=size)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._overflown = 0

    @property
    def lost(self) -> int:
        """Records that were not kept since the start."""
        return self._overflown + self._sink.lost

    def put(self, receipt: Record) -> None:
        """Returns at once; a full queue drops the record and counts it."""
        self._start()
        try:
            if self._closed:
                raise queue.Full
            self._queue.put_nowait(receipt)
        except queue.Full:
            self._overflown += 1

    def close(self) -> None:
        """Write what is queued and end the thread; later records are lost."""
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
                    self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                    self._thread.start()

    def _work(self) -> None:
        while (first := self._queue.get()) is not None:
            batch, is_last = [first], False
            while len(batch) < BATCH_RECORDS and not self._queue.empty():
                following = self._queue.get_nowait()
                if following is None:
                    is_last = True
                    break
                batch.append(following)
            self._sink.put_many(batch)
            if is_last:
                return
